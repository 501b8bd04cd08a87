#include "reactor/descriptor_limit.hpp"

#include "reactor/process.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

using namespace gatehouse::reactor;
using namespace std::chrono_literals;

TEST_SUITE("reactor.descriptor_limit") {
  TEST_CASE("§143 the daemon may have all descriptors, and its children still what they had") {
    // In a child: the limits are those of the whole process.
    const pid_t pid = ::fork();
    if (pid == 0) {
      rlimit limit{};
      ::getrlimit(RLIMIT_NOFILE, &limit);
      limit.rlim_cur = 100;
      limit.rlim_max = 300;
      ::setrlimit(RLIMIT_NOFILE, &limit);
      raise_descriptor_limit();
      if (descriptor_limit() != 300) ::_exit(1);
      event_loop loop;
      spawn_request request;
      request.argv = {"/bin/sh", "-c", "ulimit -Sn; ulimit -Hn"};
      std::string said;
      bool over = false;
      process* running = nullptr;
      auto child = process::spawn(loop, request,
                                  {.on_output =
                                       [&](output_stream stream, std::string_view bytes) {
                                         said += bytes;
                                         running->grant(stream);
                                       },
                                   .on_exit = {},
                                   .on_end = [&](const process_end&) { over = true; },
                                   .on_input_drained = {}});
      if (!child) ::_exit(2);
      running = child->get();
      (void)loop.run_until([&] { return over; }, 10s);
      ::_exit(said == "100\n300\n" ? 0 : 3);
    }
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}
