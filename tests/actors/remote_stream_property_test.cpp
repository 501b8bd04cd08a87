#include "tests/actors/remote_stream_fixture.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <random>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

/// A process there, its server that keeps to the protocol, and us at the other end of a line that
/// loses what it likes.
struct truthful_server {
  std::mt19937 random;
  remote_stream stream;
  listener hears;
  std::vector<event> sent;              ///< number n at n - 1
  std::uint64_t first_kept = 1;         ///< of the numbers
  std::size_t all = 0;                  ///< bytes of output
  std::uint64_t lost = 0;               ///< of these, as told to us
  std::optional<std::uint64_t> asked{}; ///< by the read that is under way

  truthful_server(unsigned seed, std::size_t most_early) : random{seed}, stream{most_early} {}

  bool one_in(unsigned n) { return random() % n == 0; }

  /// One of four does not come.
  void say(event one) {
    if (const auto* out = std::get_if<event::output>(&one.what)) all += out->bytes.size();
    sent.push_back(std::move(one));
    if (!one_in(4)) hears.take(stream.take(sent.back()));
  }

  void forget_some() {
    if (first_kept <= sent.size()) first_kept += 1 + random() % (sent.size() + 1 - first_kept);
  }

  void ask() { asked = stream.ask(); }

  void answer() {
    exec_client::read_result kept;
    kept.next_seq = sent.size() + 1;
    for (const auto& one : sent) {
      kept.exited = kept.exited || std::holds_alternative<event::exited>(one.what);
      kept.closed = kept.closed || std::holds_alternative<event::closed>(one.what);
    }
    if (kept.exited) kept.exit_code = 3;
    for (auto seq = *asked + 1; seq <= sent.size(); ++seq) {
      const auto* out = std::get_if<event::output>(&sent[seq - 1].what);
      if (!out) continue;
      if (seq < first_kept) {
        kept.lost_bytes += out->bytes.size();
        continue;
      }
      kept.chunks.push_back(sent[seq - 1]);
      if (!one_in(3)) continue;
      kept.next_seq = seq + 1;
      break;
    }
    asked.reset();
    hears.take(stream.take(std::move(kept)));
    lost += stream.take_lost();
  }
};

} // namespace

TEST_SUITE("actors.remote_stream_property") {
  TEST_CASE("§120 each byte is told or counted as lost, whatever is cut, kept and early") {
    for (unsigned seed = 0; seed < 300; ++seed) {
      truthful_server there{seed, 65'536};
      for (int step = 0; step < 60; ++step) {
        if (!there.one_in(3)) there.say(said(there.sent.size() + 1));
        if (there.one_in(4)) there.forget_some();
        if (!there.asked && there.one_in(2)) there.ask();
        if (there.asked && there.one_in(3)) there.answer();
      }
      while (there.stream.last() < there.sent.size()) {
        there.ask();
        there.answer();
      }
      CAPTURE(seed);
      CHECK(there.hears.heard.size() + there.lost == there.all);
    }
  }

  TEST_CASE("§120 a server that keeps to the protocol breaks it never, wherever its exit stands") {
    for (unsigned seed = 0; seed < 2000; ++seed) {
      truthful_server there{seed, 1 + seed % 8};
      const std::uint64_t size = 3 + there.random() % 30;
      const std::uint64_t exit_at = 1 + there.random() % (size - 1);
      for (int step = 0; step < 200; ++step) {
        const auto seq = there.sent.size() + 1;
        if (seq <= size && !there.one_in(3))
          there.say(seq == exit_at ? exited(seq) : seq == size ? closed(seq) : said(seq));
        if (there.one_in(6)) there.forget_some();
        if (!there.asked && there.one_in(2)) there.ask();
        if (there.asked && there.one_in(3)) there.answer();
        if (there.one_in(20)) there.asked.reset(); // the line was cut
      }
      CAPTURE(seed);
      for (int reads = 0; !there.stream.closed() && reads < 100; ++reads) {
        if (!there.asked) there.ask();
        there.answer();
      }
      CHECK_FALSE(there.stream.left_out());
      CHECK_FALSE(there.stream.contradicts());
      CHECK(there.stream.closed());
      const auto ends = std::string{"exit "}.size() + std::string{"end "}.size();
      CHECK(there.hears.heard.size() + there.lost == there.all + ends);
    }
  }
}
