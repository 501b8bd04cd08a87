#include "sandbox/program_lookup.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace fs = std::filesystem;
using namespace gatehouse;
using namespace gatehouse::sandbox;

namespace {

struct host {
  tests::temp_folder folder;
  program_search search;

  host() {
    for (const char* name : {"ws/bin", "sys", "home"})
      fs::create_directories(folder / name);
    program("sys/git");
    search.cwd = folder / "ws";
    search.home = folder / "home";
    search.path = folder / "sys";
    search.writable_roots = {folder / "ws"};
  }
  std::string program(const std::string& name) {
    const auto path = folder.write(name, "#!/bin/sh\n");
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  policy::program_fact fact(const std::string& word) {
    return look_up_programs(std::vector{word}, search).at(word);
  }
};

} // namespace

TEST_SUITE("sandbox.program_lookup") {
  TEST_CASE_FIXTURE(host, "§D3 a bare word on the PATH outside every writable root is trusted") {
    const auto git = fact("git");
    CHECK(git.absolute == folder / "sys/git");
    CHECK(git.real_path == fs::canonical(folder / "sys/git").string());
    CHECK(git.on_trusted_path);
    CHECK_FALSE(git.in_writable_root);
  }

  TEST_CASE_FIXTURE(host,
                    "§D3 a PATH entry below a writable root does not make a program trusted") {
    program("ws/bin/git");
    search.path = folder / "ws/bin" + ":" + folder / "sys";
    CHECK(fact("git").absolute == folder / "ws/bin/git");
    CHECK(fact("git").in_writable_root);
  }

  TEST_CASE_FIXTURE(host, "§D3 a relative or empty PATH entry finds programs and trusts none") {
    program("ws/bin/tool");
    for (const auto* entry : {"bin", "./bin", ""}) {
      search.path = std::string{entry} + ":" + folder / "sys";
      if (std::string{entry}.empty()) program("ws/tool");
      CAPTURE(entry);
      CHECK_FALSE(fact("tool").absolute.empty());
      CHECK_FALSE(fact("tool").on_trusted_path);
    }
  }

  TEST_CASE_FIXTURE(host, "§D22 a link into a writable root is inside it, wherever it lies") {
    program("ws/bin/evil");
    fs::create_symlink(folder / "ws/bin/evil", folder / "sys/tool");
    CHECK(fact("tool").in_writable_root);
    fs::create_directory_symlink(folder / "ws/bin", folder / "sys2");
    search.path = folder / "sys2";
    CHECK(fact("evil").in_writable_root);
  }

  TEST_CASE_FIXTURE(host, "§D22 a way that only passes through a writable root counts as inside") {
    fs::create_symlink(folder / "sys/git", folder / "ws/hop");
    fs::create_symlink(folder / "ws/hop", folder / "sys/again");
    CHECK(fact("again").real_path == fs::canonical(folder / "sys/git").string());
    CHECK(fact("again").in_writable_root);
  }

  TEST_CASE_FIXTURE(host, "§D3 a path to the very file that the trusted PATH finds is trusted") {
    CHECK(fact(folder / "sys/git").on_trusted_path);
    program("other/git");
    CHECK_FALSE(fact(folder / "other/git").on_trusted_path);
  }

  TEST_CASE_FIXTURE(host, "§D3 a relative path is resolved against the command's folder") {
    program("ws/run");
    CHECK(fact("./run").absolute == folder / "ws/run");
    CHECK(fact("./run").in_writable_root);
    CHECK(fact("../sys/git").on_trusted_path);
  }

  TEST_CASE_FIXTURE(host, "§D3 `link/..` is followed as the kernel does, not by its spelling") {
    fs::create_directories(folder / "far/deep");
    program("far/git");
    fs::create_directory_symlink(folder / "far/deep", folder / "sys/link");
    const auto got = fact(folder / "sys/link/../git");
    CHECK(got.absolute == folder / "sys/git");
    CHECK(got.real_path == fs::canonical(folder / "far/git").string());
    CHECK_FALSE(got.on_trusted_path);
  }

  TEST_CASE_FIXTURE(host, "§D3 what does not exist or cannot be executed leads nowhere") {
    CHECK(fact("nosuch").absolute.empty());
    folder.write("sys/data", "x");
    CHECK(fact("data").absolute.empty());
    CHECK(fact("./nosuch").real_path.empty());
    CHECK(fact("~other/bin/x").absolute.empty());
    CHECK(fact("~/x").absolute == folder / "home/x");
    fs::create_symlink("loop", folder / "sys/loop");
    CHECK(fact("loop").absolute.empty());
  }

  TEST_CASE("§D3 writable roots are the profile's write entries, or the workspace where we do not "
            "enforce") {
    policy::access_context context;
    context.cwd = "/w";
    context.project_roots = {"/w"};
    context.tmpdir = "/t";
    CHECK(writable_roots_of(read_only_profile(), context).empty());
    const std::vector<std::string> workspace{"/w", "/t", "/tmp"};
    CHECK(writable_roots_of(workspace_write_profile(), context) == workspace);
    CHECK(writable_roots_of(danger_full_access_profile(), context) == workspace);
  }

  TEST_CASE_FIXTURE(host, "§23 §26 other names of a program on the PATH are not found") {
    program("sys/tool-1.2");
    fs::create_directories(folder / "alternatives");
    fs::create_directories(folder / "opt");
    fs::create_symlink("tool-1.2", folder / "sys/tool");
    fs::create_symlink(folder / "sys/tool", folder / "alternatives/t");
    fs::create_symlink(folder / "alternatives/t", folder / "sys/t");
    fs::create_hard_link(folder / "sys/tool-1.2", folder / "sys/hard");
    fs::create_symlink(folder / "sys/tool-1.2", folder / "opt/away");
    const auto named = [&](const char* name) { return folder / "sys" + ("/" + std::string{name}); };
    const auto sorted = [](std::vector<std::string> names) {
      std::ranges::sort(names);
      return names;
    };
    using names = std::vector<std::string>;
    CHECK(sorted(fact("tool-1.2").other_paths) == names{named("hard"), named("t"), named("tool")});
    CHECK(sorted(fact("t").other_paths) == names{named("hard"), named("tool")});
    CHECK(sorted(fact("../opt/away").other_paths) ==
          names{named("hard"), named("t"), named("tool")});
    CHECK(fact("git").other_paths.empty());
    CHECK(is_same_file(fact("hard"), fact("tool")));
    CHECK_FALSE(is_same_file(fact("git"), fact("tool")));
    CHECK_FALSE(is_same_file(fact("none"), fact("nowhere")));
    // A link that leads elsewhere from now on, and a new one.
    fs::remove(folder / "alternatives/t");
    fs::create_symlink(folder / "sys/git", folder / "alternatives/t");
    CHECK(sorted(fact("tool").other_paths) == names{named("hard")});
    CHECK(fact("git").other_paths == names{named("t")});
    fs::create_symlink("git", folder / "sys/got");
    CHECK(sorted(fact("git").other_paths) == names{named("got"), named("t")});
    // A shim in front hides no name.
    fs::create_directories(folder / "shims");
    program("shims/tool-1.2");
    search.path = folder / "shims" + ":" + search.path;
    CHECK(fact("tool-1.2").real_path == fs::canonical(folder / "shims/tool-1.2").string());
    CHECK(std::ranges::count(fact("tool-1.2").other_paths, named("tool")) == 1);
    search.names.reset();
    CHECK(fact("git").other_paths.empty());
  }
}
