#include "sandbox/bwrap_argv.hpp"

#include "tests/sandbox/pretended_host.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::sandbox;
using namespace gatehouse::tests;

TEST_SUITE("sandbox.bwrap_argv") {
  TEST_CASE("§75 §80 the whole argv of workspace-write, isolated") {
    pretended_host host{workspace({path("/w/.env", access::deny), path("/w/p", access::deny)})};
    host.facts.paths["/w/.env"] = pretended_host::file("/w/.env");
    host.facts.paths["/w/p"] = pretended_host::folder("/w/p");
    bwrap_options options;
    options.chdir = "/w";
    options.empty_fds = {7};
    CHECK(bwrap_argv(host.plan().mounts, options) ==
          std::vector<std::string>{"--die-with-parent",
                                   "--unshare-user",
                                   "--unshare-pid",
                                   "--unshare-ipc",
                                   "--unshare-uts",
                                   "--unshare-cgroup-try",
                                   "--new-session",
                                   "--unshare-net",
                                   "--ro-bind",
                                   "/",
                                   "/",
                                   "--dev",
                                   "/dev",
                                   "--proc",
                                   "/proc",
                                   "--bind",
                                   "/t",
                                   "/t",
                                   "--bind",
                                   "/tmp",
                                   "/tmp",
                                   "--bind",
                                   "/w",
                                   "/w",
                                   "--perms",
                                   "0000",
                                   "--ro-bind-data",
                                   "7",
                                   "/w/.env",
                                   "--perms",
                                   "0000",
                                   "--tmpfs",
                                   "/w/p",
                                   "--remount-ro",
                                   "/w/p",
                                   "--chdir",
                                   "/w",
                                   "--cap-drop",
                                   "ALL",
                                   "--remount-ro",
                                   "/proc"});
  }

  TEST_CASE("§77 a payload that completes the view keeps only what that needs") {
    const pretended_host host{read_only_profile().file_system.entries};
    bwrap_options options;
    options.payload_completes = true;
    const auto mounts = host.plan().mounts;
    const auto argv = bwrap_argv(std::span{mounts}.first(1), options);
    const std::vector<std::string> kept{"--ro-bind",     "/",          "/",
                                        "--cap-drop",    "ALL",        "--cap-add",
                                        "CAP_SYS_ADMIN", "--cap-add",  "CAP_DAC_OVERRIDE",
                                        "--cap-add",     "CAP_SETPCAP"};
    REQUIRE(argv.size() > kept.size());
    CHECK(std::vector<std::string>(argv.end() - static_cast<std::ptrdiff_t>(kept.size()),
                                   argv.end()) == kept);
  }

  TEST_CASE("§80 only full network shares the host's, a terminal keeps its session") {
    const pretended_host host{read_only_profile().file_system.entries};
    const auto has = [](const std::vector<std::string>& argv, const char* word) {
      return std::find(argv.begin(), argv.end(), word) != argv.end();
    };
    bwrap_options options;
    options.network = network_mode::full;
    options.new_session = false;
    CHECK_FALSE(has(bwrap_argv(host.plan().mounts, options), "--unshare-net"));
    CHECK_FALSE(has(bwrap_argv(host.plan().mounts, options), "--new-session"));
    options.network = network_mode::proxy_only;
    CHECK(has(bwrap_argv(host.plan().mounts, options), "--unshare-net"));
  }

  TEST_CASE("W4 without a fresh /proc an empty one stands there, never the host's") {
    const pretended_host host{read_only_profile().file_system.entries};
    bwrap_options options;
    options.fresh_proc = false;
    const auto argv = bwrap_argv(host.plan().mounts, options);
    const std::vector<std::string> masked{"--perms", "0555",         "--tmpfs",
                                          "/proc",   "--remount-ro", "/proc"};
    CHECK(std::search(argv.begin(), argv.end(), masked.begin(), masked.end()) != argv.end());
    CHECK(std::find(argv.begin(), argv.end(), "--proc") == argv.end());
  }
}
