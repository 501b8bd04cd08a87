#include "sandbox/inner_conversation.hpp"

#include "protocol/sandbox_event.hpp"
#include "sandbox/file_descriptor.hpp"
#include "sandbox/inner_stage.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::sandbox;

namespace {

constexpr int killed_status = SIGKILL; // as waitpid gives it
constexpr int gave_up_status = 1 << 8;

struct heard {
  int status = 0;
  std::string reported; ///< all lines
};

/// What is concluded when the child ended like this, having complained and said that before its
/// end.
heard conclude(const std::vector<init::message>& said, int status, const std::string& complaint) {
  int control[2], complaints[2], report[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) == 0);
  REQUIRE(pipe2(complaints, O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(pipe2(report, O_CLOEXEC | O_NONBLOCK) == 0);
  const file_descriptor ours{control[0]}, words{complaints[0]}, told{report[0]};
  file_descriptor theirs{control[1]}, to_us{complaints[1]}, out{report[1]};
  const init::message go{init::proceed, 0, 0};
  REQUIRE(send(ours.get(), &go, sizeof go, 0) == sizeof go);
  init::message taken{};
  REQUIRE(recv(theirs.get(), &taken, sizeof taken, 0) == sizeof taken);
  for (const auto& one : said)
    REQUIRE(send(theirs.get(), &one, sizeof one, 0) == sizeof one);
  theirs.reset();
  REQUIRE(write(to_us.get(), complaint.data(), complaint.size()) ==
          static_cast<ssize_t>(complaint.size()));
  to_us.reset();
  heard result;
  event_report reporting{out.get()};
  inner_conversation talk{ours.get(), -1, nullptr, reporting, true};
  talk.read_to_its_end();
  result.status = talk.conclude(status, words.get(), "tool", {});
  char text[8192];
  const ssize_t size = read(told.get(), text, sizeof text);
  result.reported.assign(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  return result;
}

bool has(const heard& h, const char* words) {
  return h.reported.find(words) != std::string::npos;
}

} // namespace

TEST_SUITE("sandbox.inner_conversation") {
  TEST_CASE("§75 a killed bubblewrap that had warned of something was called one that could not "
            "build the boundary, though the command might have begun") {
    const auto h = conclude({}, killed_status, "bwrap: a warning\n");
    CHECK(h.status == 128 + SIGKILL);
    CHECK(has(h, "before it had told that the command began"));
    CHECK_FALSE(has(h, "could not be built"));
  }

  TEST_CASE(
      "§75 a killed boundary is told as what it is, whatever was heard before, and how often") {
    const init::message started{init::started, 2, 0}, stopped{init::stopped, SIGTSTP, 0},
        continued{init::continued, 0, 0};
    const std::vector<std::vector<init::message>> orders{
        {started},
        {started, started},
        {stopped, started}, // late
        {started, stopped, continued, stopped},
    };
    for (const auto& said : orders)
      for (const std::string complaint : {"", "bwrap: a warning\n"})
        for (const int status : {killed_status, gave_up_status}) {
          const auto h = conclude(said, status, complaint);
          CHECK(h.status == 128 + SIGKILL);
          CHECK(has(h, "may have run in part"));
          CHECK_FALSE(has(h, "could not be built"));
        }
  }

  TEST_CASE("§75 the end that was told counts, though bubblewrap was killed behind it") {
    const init::message started{init::started, 2, 0}, exited{init::exited, 3, 0};
    for (const auto& said : {std::vector{started, exited}, std::vector{exited, started}}) {
      const auto h = conclude(said, killed_status, "bwrap: a warning\n");
      CHECK(h.status == 3);
      CHECK_FALSE(has(h, "may have run in part"));
    }
  }

  TEST_CASE("§75 a bubblewrap that gave up by itself says why nothing ran") {
    const auto h = conclude({}, gave_up_status, "bwrap: Can't mount proc on /newroot/proc\n");
    CHECK(h.status == exit_no_boundary);
    CHECK(has(h, "a fresh /proc cannot be mounted here"));
  }
}
