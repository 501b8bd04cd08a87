#include "sandbox/launch.hpp"

#include "sandbox/outer_options.hpp"

#include <doctest/doctest.h>

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
    request.hidden_paths = {"/w/state/tokens"};
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
    CHECK(read->hidden_paths == request.hidden_paths);
    CHECK(read->report_fd == 9);
    CHECK(read->proxy_network);
    CHECK(read->proxy_fd == 8);
    CHECK(read->local_binding);
    CHECK(read->forwarded_ports == request.forwarded_ports);
    CHECK(read->legacy_landlock);
    CHECK(read->command == request.command);
  }

  TEST_CASE("§127 a signal that would stop or end only the processes around the command is not "
            "passed on") {
    for (const int number :
         {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGCONT, SIGWINCH, SIGKILL})
      CHECK(can_be_passed_on(number));
    for (const int number : {0, SIGSTOP, SIGTSTP, SIGTTIN, SIGSEGV, SIGALRM, SIGPIPE, 34, 64, 65})
      CHECK_FALSE(can_be_passed_on(number));
  }
}
