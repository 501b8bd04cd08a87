#include "sandbox/launch.hpp"

#include "sandbox/outer_options.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

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

  TEST_CASE("§76 what comes late comes whole, or nothing runs") {
    const auto sent = [](const std::string& bytes, bool send_it = true) {
      int ends[2];
      REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
      if (send_it)
        REQUIRE(::send(ends[0], bytes.data(), bytes.size(), 0) ==
                static_cast<ssize_t>(bytes.size()));
      ::close(ends[0]);
      auto read = receive_late_request(ends[1]);
      ::close(ends[1]);
      return read;
    };
    const std::vector<std::string> argv{"gatehouse-sandbox", "--tmpdir", "", "--", "echo", "a b"};
    const auto read = sent(late_request(argv));
    REQUIRE(read);
    CHECK(*read == std::vector<std::string>(argv.begin() + 1, argv.end()));
    const auto gone = sent({}, false);
    REQUIRE(gone);
    CHECK(gone->empty());
    auto torn = late_request(argv);
    torn.pop_back();
    CHECK_FALSE(sent(torn));
    CHECK_FALSE(sent(std::string(most_request_bytes + 1, '\0')));
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
