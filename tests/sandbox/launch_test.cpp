#include "sandbox/launch.hpp"

#include "sandbox/outer_options.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::sandbox;

TEST_SUITE("sandbox.launch") {
  TEST_CASE("§76 what the daemon writes is what the helper reads") {
    launch_request request{"/opt/gatehouse-sandbox",
                           "/w",
                           "/w/sub",
                           workspace_write_profile(),
                           {"/w", "/x"},
                           "/t",
                           {".n"},
                           {"/w/state"},
                           true,
                           8,
                           true,
                           {18998, 8080},
                           9,
                           {"ls", "--", "-l"}};
    request.legacy_landlock = true;
    const auto argv = launch_argv(request);
    std::vector<const char*> arguments;
    for (std::size_t i = 1; i < argv.size(); ++i)
      arguments.push_back(argv[i].c_str());
    const auto read = parse_outer_options(arguments, "/elsewhere");
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(read->policy_cwd == "/w");
    CHECK(read->command_cwd == "/w/sub");
    CHECK(read->workspace_roots == request.workspace_roots);
    CHECK(read->tmpdir == "/t");
    CHECK(read->protected_names == request.protected_names);
    CHECK(read->protected_paths == request.protected_paths);
    CHECK(read->report_fd == 9);
    CHECK(read->proxy_network);
    CHECK(read->proxy_fd == 8);
    CHECK(read->local_binding);
    CHECK(read->forwarded_ports == request.forwarded_ports);
    CHECK(read->legacy_landlock);
    CHECK(read->command == request.command);
  }

  TEST_CASE("§D13 what is hidden is denied whatever the profile grants, and only a confined "
            "command has a profile for it") {
    launch_request request;
    request.hidden_paths = {"/state/tokens"};
    const auto profile_of = [&](permission_profile profile) {
      request.profile = std::move(profile);
      const auto argv = launch_argv(request);
      return *(std::ranges::find(argv, "--permission-profile") + 1);
    };
    CHECK(profile_of(read_only_profile()).find("/state/tokens") != std::string::npos);
    permission_profile disabled;
    disabled.kind = profile_kind::disabled;
    CHECK(profile_of(disabled).find("/state/tokens") == std::string::npos);
  }
}
