// §92a: the evaluator, the plan of the legacy backend and the real kernel give the same answer,
// through the real programs. A kernel without Landlock ABI 6 refuses, which is tested as well.
#include "policy/access.hpp"
#include "protocol/profile_json.hpp"
#include "sandbox/host_paths.hpp"
#include "sandbox/landlock.hpp"

#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::sandbox;
using tests::temp_folder;

namespace {

/// Prints `w<TAB>path` for every path that could be changed, `r<TAB>path` for what could be read. A
/// path that does not exist is made and removed; every way of writing must have the same answer.
constexpr const char* try_script = R"(
import os, sys
def works(call):
    try:
        call()
        return True
    except OSError:
        return False
def reopen(path, flags):
    os.close(os.open(path, flags, 0o666))
for path in sys.stdin.read().split("\n")[:-1]:
    ways = []
    if os.path.isdir(path):
        read = works(lambda: os.listdir(path))
        name = path + "/.try"
        ways.append(works(lambda: (os.mkdir(name), os.rmdir(name))))
        ways.append(works(lambda: os.chmod(path, os.stat(path).st_mode & 0o7777)))
    elif os.path.lexists(path):
        read = works(lambda: reopen(path, os.O_RDONLY))
        for flags in (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT, os.O_RDONLY | os.O_TRUNC):
            ways.append(works(lambda: reopen(path, flags)))
        ways.append(works(lambda: os.utime(path)))
    else:
        read = None
        ways.append(works(lambda: (reopen(path, os.O_WRONLY | os.O_CREAT), os.unlink(path))))
        ways.append(works(lambda: (os.mkdir(path), os.rmdir(path))))
        ways.append(works(lambda: (os.symlink("x", path), os.unlink(path))))
    if len(set(ways)) != 1:
        print("half", path, ways, sep="\t")
    if read:
        print("r", path, sep="\t")
    if ways[0]:
        print("w", path, sep="\t")
)";

permission_profile make_profile(std::mt19937& random, const std::vector<std::string>& paths) {
  permission_profile profile;
  auto& entries = profile.file_system.entries;
  entries.push_back({special_path{special_kind::root, {}, {}}, gatehouse::access::read, false});
  if (random() % 4 != 0)
    entries.push_back(
        {special_path{special_kind::project_roots, {}, {}}, gatehouse::access::write, false});
  for (auto count = random() % 5; count > 0; --count)
    entries.push_back({literal_path{paths[random() % paths.size()]},
                       random() % 2 ? gatehouse::access::write : gatehouse::access::read, false});
  return profile;
}

} // namespace

TEST_SUITE("sandbox.landlock_kernel") {
  TEST_CASE("§83 §92a the kernel agrees about generated profiles, whatever the way of writing") {
    std::mt19937 random{20240411};
    const bool usable = landlock::abi_version() >= landlock::least_abi_alone;
    int cells = 0;
    for (int round = 0; round < 25; ++round) {
      const temp_folder s;
      for (const auto* f :
           {"w/a/b/f", "w/a/g", "w/.git/hooks/h", "w/.git/config", "w/x", "w/sub/.git/config",
            "w/a-b/f", "o/p/q", "o/r", "w/.vscode/s.json", "w/real/f"})
        s.write(f, "text\n");
      s.link("real", "w/.agents");
      std::vector<std::string> paths;
      for (const auto& entry : std::filesystem::recursive_directory_iterator{s.path()})
        if (!entry.is_symlink()) paths.push_back(entry.path().string());
      std::sort(paths.begin(), paths.end());
      const auto profile = make_profile(random, paths);
      for (const auto* name :
           {"w/new", "w/a/new", "w/.codex", "w/.bashrc", "w/sub/.git/new", "w/.git/new", "o/new"})
        paths.push_back(s / name);

      policy::access_context context;
      context.cwd = s / "w";
      context.project_roots = {context.cwd};
      context.protected_names = policy::default_protected_names();
      const auto seen = with_facts(context, gather_host_facts(profile, context));
      std::string list, shown;
      for (const auto& path : paths)
        list += path + "\n";
      for (const auto& e : profile.file_system.entries)
        shown += describe(e.path) + " " + std::string{to_string(e.access)} + "; ";
      CAPTURE(shown);
      tests::program_options how;
      how.input = list;
      const auto run = tests::run_program(
          {tests::built("gatehouse-sandbox"), "--sandbox-policy-cwd", context.cwd,
           "--permission-profile", encode_profile(profile), "--tmpdir", "", "--use-legacy-landlock",
           "--", "python3", "-c", try_script},
          how);
      if (!usable) {
        CHECK(run.status == 121);
        return;
      }
      REQUIRE_MESSAGE(run.status == 0, run.err);
      CHECK(run.out.find("half") == std::string::npos);
      for (const auto& path : paths) {
        const auto answer = evaluate_access(profile, seen, path);
        CAPTURE(path);
        CAPTURE(answer.decided_by);
        CAPTURE(run.out);
        const bool written = run.out.find("w\t" + path + "\n") != std::string::npos;
        CHECK(written == (answer.granted == gatehouse::access::write));
        if (std::filesystem::exists(path))
          CHECK(run.out.find("r\t" + path + "\n") != std::string::npos);
        ++cells;
      }
    }
    CHECK(cells > 500);
  }
}
