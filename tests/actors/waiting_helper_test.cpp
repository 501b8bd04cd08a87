#include "actors/waiting_helper.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sys/syscall.h>
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

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  const auto own = std::to_string(parent);
  std::ifstream list{"/proc/" + own + "/task/" + own + "/children"};
  for (pid_t pid = 0; list >> pid;)
    found.push_back(pid);
  return found;
}

/// Whatever woke it before the signal came, it does nothing more.
void stop(pid_t pid) {
  ::kill(pid, SIGSTOP);
  std::string state;
  while (state != "T") {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
    std::string skipped;
    const bool read = !(file >> skipped >> skipped >> state).fail();
    REQUIRE(read);
  }
}

#if defined(__x86_64__) // elsewhere there is no poll
bool sleeps_in(pid_t pid, long call) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/syscall"};
  long number = -1;
  return file >> number && number == call;
}
/// It has told all that it had to tell, and waits for what becomes of it.
bool sleeps_in_poll(pid_t pid) {
  return sleeps_in(pid, SYS_poll);
}
bool waits_for_its_command(pid_t pid) {
  return sleeps_in(pid, SYS_recvfrom);
}
#endif

struct world {
  tests::temp_folder folder;
  reactor::event_loop loop;
  std::shared_ptr<waiting_helper> ahead = std::make_shared<waiting_helper>(loop);
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", "MARK=one"};

  struct ending {
    std::string output;
    command_end how;
  };

  /// `meanwhile` runs when the command has been given to a helper, again and again until it is
  /// true.
  ending run(
      std::vector<std::string> command, std::function<bool()> meanwhile = [] { return true; }) {
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
    const auto limit = std::chrono::steady_clock::now() + hang_guard;
    while (!over && !meanwhile() && std::chrono::steady_clock::now() < limit)
      loop.poll();
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

  TEST_CASE("§75 a helper that was killed as it got its command ended the call without a word") {
    world w;
    REQUIRE(w.run({"/bin/true"}).how.exit_code == 0);
    w.until_one_waits();
    const auto helper = waiting().front();
    stop(helper); // it reads nothing
    const auto seen =
        w.run({"/usr/bin/touch", "ran"}, [&] { return ::kill(helper, SIGKILL) == 0; });
    CHECK(seen.how.ending == attempt_ending::not_started);
    REQUIRE(seen.how.failure);
    CHECK(seen.how.failure->message ==
          "the sandbox helper was ended from outside by signal 9 before "
          "it had read the command");
    CHECK(seen.how.failure->remedy == "run it again");
    CHECK_FALSE(std::filesystem::exists(w.folder / "ran"));
  }

#if defined(__x86_64__)
  TEST_CASE("§75 a bubblewrap that was killed as it got its command is told so, and nothing ran") {
    world w;
    REQUIRE(w.run({"/bin/true"}).how.exit_code == 0);
    w.until_one_waits();
    const auto helper = waiting().front();
    while (!waits_for_its_command(helper))
      REQUIRE(::kill(helper, 0) == 0);
    REQUIRE(children_of(helper).size() == 1);
    const auto bubblewrap = children_of(helper).front();
    stop(bubblewrap);
    const auto seen = w.run({"/usr/bin/touch", "ran"}, [&] {
      return sleeps_in_poll(helper) && ::kill(bubblewrap, SIGKILL) == 0;
    });
    CHECK(seen.how.ending == attempt_ending::not_started);
    REQUIRE(seen.how.failure);
    CHECK(seen.how.failure->message ==
          "the boundary was ended from outside by signal 9 before the command began");
    CHECK(seen.how.failure->remedy == "run it again");
    CHECK_FALSE(std::filesystem::exists(w.folder / "ran"));
  }
#endif

  TEST_CASE("§75 a command that is too large for one message has a helper of its own") {
    world w;
    REQUIRE(w.run({"/bin/true"}).how.exit_code == 0);
    w.until_one_waits();
    CHECK(w.run({"/bin/echo", std::string(100'000, 'x')}).output.size() == 100'001);
  }
}
