// §92a: the evaluator and the real kernel give the same answer. Needs bubblewrap; without it the
// tests fail with its message, since a boundary that cannot be tried is not proven.
#include "policy/access.hpp"
#include "policy/path_text.hpp"
#include "sandbox/bwrap_argv.hpp"
#include "sandbox/find_bwrap.hpp"
#include "sandbox/host_paths.hpp"
#include "sandbox/inner_stage.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/view_shares.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::sandbox;
using tests::temp_folder;

namespace {

/// Tries every path of the list in the view: prints `path<TAB>r<TAB>w` with 1 for what worked. A
/// folder is read by listing and written by making a name in it.
constexpr const char* try_script = R"(
while IFS= read -r p; do
  r=0; w=0
  if [ -d "$p" ]; then
    ls "$p" >/dev/null 2>&1 && r=1
    mkdir "$p/.try$$" 2>/dev/null && w=1 && rmdir "$p/.try$$"
  else
    cat "$p" >/dev/null 2>&1 && r=1
    { : >>"$p"; } 2>/dev/null && [ -e "$p" ] && w=1
  fi
  printf '%s\t%s\t%s\n' "$p" $r $w
done)";

struct outcome {
  bool read = false;
  bool write = false;
  bool operator==(const outcome&) const = default;
};

/// Bubblewrap alone, or bubblewrap and the inner stage (sandbox/view_shares.hpp).
enum class builder { bubblewrap, both };

int build_and_run(const mount_plan& plan, builder by) {
  const auto bwrap = find_bwrap("", {});
  if (!bwrap) return 127;
  const auto self = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  bwrap_options options;
  options.chdir = "/";
  inner_request request;
  request.command = {"/bin/bash", "-c", try_script};
  request.environment = {"PATH=/usr/bin:/bin"};
  request.write_paths = plan.write_paths;
  auto mounts = plan.mounts;
  if (by == builder::both) {
    auto shares = share_view(plan.mounts, {});
    mounts = shares.by_bwrap;
    request.steps = shares.by_inner;
    request.folder = "/";
    options.payload_completes = true;
  }
  for (std::size_t i = 0; i < denied_file_count(mounts); ++i)
    options.empty_fds.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto stage = inner_stage::start(self / "gatehouse-sandbox-init", bwrap->path, options.empty_fds);
  if (!stage) return 126;
  supervisor watcher{{network_mode::isolated,
                      false,
                      {},
                      plan.write_paths,
                      {},
                      false,
                      false,
                      [](const sandbox_event&) {}}};
  event_report report{-1};
  return stage->run(request, bwrap_argv(mounts, options), &watcher, report).value_or(125);
}

std::map<std::string, outcome> try_in_view(const mount_plan& plan, const temp_folder& scratch,
                                           const std::vector<std::string>& paths, builder by) {
  std::string list;
  for (const auto& path : paths)
    list += path + "\n";
  const auto in = scratch.write("in", list);
  const auto out = scratch.write("out", "");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(::open(in.c_str(), O_RDONLY), 0);
    ::dup2(::open(out.c_str(), O_WRONLY), 1);
    ::close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    ::_exit(build_and_run(plan, by));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE_MESSAGE(status == 0, "the view could not be built; see the message above");
  std::map<std::string, outcome> found;
  std::istringstream lines{scratch.read("out")};
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find('\t');
    found[line.substr(0, tab)] = {line[tab + 1] == '1', line[tab + 3] == '1'};
  }
  return found;
}

/// Everything below `folder` that exists, in a fixed order.
std::vector<std::string> all_paths(const std::string& folder) {
  std::vector<std::string> paths{folder};
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
    paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The evaluator's and the kernel's answers to every path below `folder`.
void check_agreement(const permission_profile& profile, const policy::access_context& context,
                     const temp_folder& scratch, const std::string& folder) {
  const auto facts = gather_host_facts(profile, context);
  const auto plan = make_mount_plan(profile, context, facts);
  REQUIRE_MESSAGE(plan.has_value(), (plan ? "" : plan.error().message));
  const auto paths = all_paths(folder);
  const auto found = try_in_view(*plan, scratch, paths, builder::both);
  REQUIRE(found.size() == paths.size());
  CHECK(found == try_in_view(*plan, scratch, paths, builder::bubblewrap));
  const auto full_context = with_facts(context, facts);
  for (const auto& path : paths) {
    // What a link leads to decides, where the link itself can be seen.
    const auto fact = look_at(path);
    const auto answer = evaluate_access(profile, full_context, fact.canonical);
    if (std::any_of(fact.links.begin(), fact.links.end(), [&](const auto& link) {
          return evaluate_access(profile, full_context, link.first).granted ==
                 gatehouse::access::deny;
        }))
      continue;
    const auto& kernel = found.at(path);
    CAPTURE(path);
    CAPTURE(answer.decided_by);
    // An empty root shows the names on the way to what is granted.
    if (answer.decided_by != "no entry" || !std::filesystem::is_directory(path))
      CHECK(kernel.read == (answer.granted != gatehouse::access::deny));
    CHECK(kernel.write == (answer.granted == gatehouse::access::write));
  }
}

policy::access_context context_of(const temp_folder& scratch) {
  policy::access_context c;
  c.cwd = scratch / "t/w";
  c.project_roots = {c.cwd};
  c.slash_tmp_is_directory = false;
  c.protected_names = policy::default_protected_names();
  return c;
}

void plant_tree(const temp_folder& s) {
  for (const auto* f :
       {"t/w/a/b/f", "t/w/a/g", "t/w/.git/hooks/h", "t/w/.git/config", "t/w/x.env", "t/w/a/y.env",
        "t/w/sub/.git/config", "t/w/a-b/f", "t/o/p/q", "t/o/r", "t/w/.vscode/s.json", "t/w/real/f"})
    s.write(f, "text\n");
  s.link("real", "t/w/.agents");
  s.link(s / "t/o", "t/w/out");
}

profile_entry path(std::string p, gatehouse::access a) {
  return {literal_path{std::move(p)}, a, false};
}
profile_entry special(special_kind k, gatehouse::access a) {
  return {special_path{k, {}, {}}, a, false};
}

} // namespace

TEST_SUITE("sandbox.kernel_matrix") {
  TEST_CASE("§92a §130 the kernel agrees about read-only and workspace-write") {
    temp_folder s;
    plant_tree(s);
    check_agreement(read_only_profile(), context_of(s), s, s / "t");
    check_agreement(workspace_write_profile(), context_of(s), s, s / "t");
  }

  TEST_CASE("§92a §62 the kernel agrees about denials, reopened parts and deny globs") {
    temp_folder s;
    plant_tree(s);
    auto profile = workspace_write_profile();
    auto& entries = profile.file_system.entries;
    entries.push_back(path(s / "t/w/a", gatehouse::access::deny));
    entries.push_back(path(s / "t/w/a/b", gatehouse::access::read));
    entries.push_back(path(s / "t/o/p", gatehouse::access::deny));
    entries.push_back(path(s / "t/w/.git/hooks", gatehouse::access::write));
    entries.push_back({glob_path{"**/*.env"}, gatehouse::access::deny, false});
    check_agreement(profile, context_of(s), s, s / "t");
  }

  TEST_CASE("§92a §79 the kernel agrees about a restricted view") {
    temp_folder s;
    plant_tree(s);
    permission_profile profile;
    profile.file_system.entries = {special(special_kind::minimal, gatehouse::access::read),
                                   special(special_kind::project_roots, gatehouse::access::write),
                                   path(s / "t/w/a", gatehouse::access::deny),
                                   path(s / "t/w/a/b/f", gatehouse::access::write),
                                   path(s / "t/o/r", gatehouse::access::read)};
    check_agreement(profile, context_of(s), s, s / "t");
  }

  TEST_CASE("§92a the kernel agrees about generated profiles") {
    std::mt19937 random{20240607};
    for (int round = 0; round < 24; ++round) {
      temp_folder s;
      plant_tree(s);
      const auto paths = all_paths(s / "t");
      permission_profile profile;
      auto& entries = profile.file_system.entries;
      entries.push_back(special(round % 3 == 0 ? special_kind::minimal : special_kind::root,
                                gatehouse::access::read));
      for (int i = 0; i < 6; ++i)
        entries.push_back(
            path(paths[random() % paths.size()], static_cast<gatehouse::access>(random() % 3)));
      if (round % 3 == 1)
        entries.push_back(
            {glob_path{round % 2 ? "**/*.env" : s / "t/w/a/**"}, gatehouse::access::deny, false});
      std::string shown;
      for (const auto& e : entries)
        shown += describe(e.path) + " " + std::string{to_string(e.access)} + "; ";
      CAPTURE(shown);
      check_agreement(profile, context_of(s), s, s / "t");
    }
  }

  TEST_CASE("§92a what is denied and is no file, a FIFO or a socket, cannot be opened either") {
    temp_folder s;
    plant_tree(s);
    REQUIRE(::mkfifo((s / "t/w/fifo").c_str(), 0666) == 0);
    REQUIRE(::mknod((s / "t/w/sock").c_str(), S_IFSOCK | 0666, 0) == 0);
    auto profile = workspace_write_profile();
    for (const auto* name : {"t/w/fifo", "t/w/sock"})
      profile.file_system.entries.push_back(path(s / name, gatehouse::access::deny));
    check_agreement(profile, context_of(s), s, s / "t");
  }

  TEST_CASE("§D12 a view leaves nothing behind on the host") {
    temp_folder s;
    plant_tree(s);
    std::filesystem::remove_all(s / "t/w/.vscode");
    const auto before = all_paths(s / "t");
    auto profile = workspace_write_profile();
    profile.file_system.entries.push_back(path(s / "t/w/missing/deep", gatehouse::access::deny));
    const auto context = context_of(s);
    const auto plan = make_mount_plan(profile, context, gather_host_facts(profile, context));
    REQUIRE(plan.has_value());
    for (const auto by : {builder::bubblewrap, builder::both}) {
      try_in_view(*plan, s, before, by);
      CHECK(all_paths(s / "t") == before);
    }
  }
}
