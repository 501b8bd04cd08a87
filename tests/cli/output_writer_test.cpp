#include "cli/output_writer.hpp"
#include "reactor/unique_fd.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <string>

#include <poll.h>
#include <unistd.h>

using namespace gatehouse;

namespace {

/// Standard output leads into a pipe as long as this lives.
class caught_output {
public:
  caught_output() : before_{::dup(STDOUT_FILENO)} {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    out_.reset(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
  }
  ~caught_output() { ::dup2(before_.get(), STDOUT_FILENO); }

  [[nodiscard]] std::string read(int wait_ms) const {
    pollfd there{out_.get(), POLLIN, 0};
    if (::poll(&there, 1, wait_ms) != 1) return {};
    char text[256];
    const auto n = ::read(out_.get(), text, sizeof text);
    return {text, static_cast<std::size_t>(n > 0 ? n : 0)};
  }

private:
  reactor::unique_fd before_, out_;
};

} // namespace

TEST_SUITE("cli.output_writer") {
  TEST_CASE("§50 §113 a command that goes on cannot draw over the question that stands") {
    const std::atomic<bool> withdrawn = false;
    reactor::event_loop loop;
    std::string above, over, after;
    {
      const caught_output caught;
      cli::output_writer writer{loop};
      const auto out = reactor::output_stream::standard_output;
      writer.write(out, "above it");
      writer.pause(withdrawn);
      above = caught.read(0);
      writer.pause(withdrawn); // a second question
      writer.write(out, "over it");
      writer.resume();
      over = caught.read(100);
      writer.resume();
      after = caught.read(10'000);
      CHECK(loop.run_until([&] { return writer.idle(); }, std::chrono::seconds{10}));
      writer.close();
    }
    CHECK(above == "above it");
    CHECK(over.empty());
    CHECK(after == "over it");
  }
}
