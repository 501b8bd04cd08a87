#include "actors/waiting_helper.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

constexpr std::chrono::seconds hang_guard{60};

/// Our children that wait for their command.
std::vector<pid_t> waiting() {
  std::vector<pid_t> found;
  const auto own = std::to_string(::getpid());
  std::ifstream list{"/proc/self/task/" + own + "/children"};
  for (pid_t pid = 0; list >> pid;) {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/cmdline"};
    const std::string words{std::istreambuf_iterator<char>{file}, {}};
    if (words.find("--request-fd") != std::string::npos) found.push_back(pid);
  }
  return found;
}

struct world {
  tests::temp_folder folder;
  reactor::event_loop loop;
  std::shared_ptr<waiting_helper> ahead = std::make_shared<waiting_helper>(loop);
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", "MARK=one"};

  struct ending {
    std::string output;
    command_end how;
  };

  ending run(std::vector<std::string> command) {
    command_request request;
    request.environment = environment;
    request.launch.helper = tests::built("gatehouse-sandbox");
    request.launch.policy_cwd = request.launch.command_cwd = folder.path();
    request.launch.workspace_roots = {folder.path()};
    request.launch.profile = workspace_write_profile();
    request.launch.command = std::move(command);
    ending seen;
    bool over = false;
    command_listener listener;
    std::unique_ptr<command_process> process;
    listener.on_output = [&](reactor::output_stream stream, std::string_view bytes) {
      seen.output += bytes;
      if (process) process->grant(stream);
    };
    listener.on_exit = [&](const command_end& how) { seen.how = how; };
    listener.on_end = [&] { over = true; };
    auto began = ahead->start(request, std::move(listener));
    REQUIRE(began);
    process = *std::move(began);
    REQUIRE(loop.run_until([&] { return over; }, hang_guard));
    return seen;
  }
  void until_one_waits() {
    REQUIRE(loop.run_until([&] { return ahead->waits(); }, hang_guard));
    REQUIRE(waiting().size() == 1);
  }
};

} // namespace

TEST_SUITE("actors.waiting_helper") {
  TEST_CASE("§75 a helper that was started ahead runs one command, in the boundary of that one") {
    world w;
    CHECK(waiting().empty()); // nothing is started before there is a command
    REQUIRE(w.run({"/bin/true"}).how.exit_code == 0);
    for (int i = 0; i < 3; ++i) {
      w.until_one_waits();
      const auto before = waiting();
      const auto seen =
          w.run({"/bin/sh", "-c", "echo $MARK; echo x > own; echo x > /etc/not; exit 3"});
      CHECK(seen.how.exit_code == 3);
      CHECK(seen.output.find("one\n") != std::string::npos);
      CHECK(std::filesystem::exists(w.folder.path() + "/own"));
      CHECK_FALSE(std::filesystem::exists("/etc/not"));
      CHECK(::kill(before.front(), 0) != 0); // it ended with its command
    }
    w.until_one_waits();
    w.ahead.reset();
    CHECK(w.loop.run_until([] { return waiting().empty(); }, hang_guard));
  }

  TEST_CASE("§75 one that has died, or waits with another environment, gets no command") {
    world w;
    REQUIRE(w.run({"/bin/true"}).how.exit_code == 0);
    w.until_one_waits();
    w.environment = {"PATH=/usr/bin:/bin", "MARK=two"};
    CHECK(w.run({"/bin/sh", "-c", "echo $MARK"}).output == "two\n");
    w.until_one_waits();
    const auto dead = waiting().front();
    ::kill(dead, SIGKILL);
    // Reaped: while it dies its socket may still take the command, whose end is then told as a
    // signal.
    REQUIRE(w.loop.run_until([&] { return ::kill(dead, 0) != 0; }, hang_guard));
    CHECK(w.run({"/bin/sh", "-c", "echo $MARK"}).output == "two\n");
  }

  TEST_CASE("§75 a command that is too large for one message has a helper of its own") {
    world w;
    REQUIRE(w.run({"/bin/true"}).how.exit_code == 0);
    w.until_one_waits();
    CHECK(w.run({"/bin/echo", std::string(100'000, 'x')}).output.size() == 100'001);
  }
}
