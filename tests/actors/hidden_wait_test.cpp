#include "actors/hidden_wait.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace std::chrono_literals;

namespace {

host_key host(int number) {
  return {"local", std::to_string(number) + ".test", {}, 443};
}

struct process {
  hidden_wait wait;
  hidden_wait::time_point now{1h};
  hidden_wait::duration counted{};

  hidden_wait::change after(hidden_wait::duration later, int number, host_wait what) {
    now += later;
    const auto change = wait.take(host(number), what, now);
    counted += change.counts;
    return change;
  }
};

} // namespace

TEST_SUITE("actors.hidden_wait") {
  TEST_CASE("§95 what a person needs to answer does not count, however long") {
    process p;
    CHECK(p.after(0s, 1, host_wait::begins).held);
    CHECK(p.after(1s, 1, host_wait::begins).held); // said twice
    CHECK_FALSE(p.after(9min, 1, host_wait::answered).held);
    CHECK(p.counted == 0s);
    // Also when the client gave up, and came again before the answer.
    CHECK(p.after(1s, 2, host_wait::begins).held);
    CHECK_FALSE(p.after(5s, 2, host_wait::pauses).held);
    CHECK(p.after(1s, 2, host_wait::begins).held);
    CHECK_FALSE(p.after(5s, 2, host_wait::answered).held);
    CHECK(p.counted == 0s);
    // Nobody has waited for what comes late, or again.
    CHECK_FALSE(p.after(5s, 2, host_wait::unanswered).held);
    CHECK_FALSE(p.after(5s, 3, host_wait::unanswered).held);
    CHECK(p.counted == 0s);
  }

  TEST_CASE("§95 a program stretched its time limit by asking for ever new hosts that nobody "
            "answered") {
    process p;
    for (int i = 0; i < 1000; ++i) {
      p.after(0s, i, host_wait::begins);
      p.after(3s, i, host_wait::pauses);
      CHECK(p.after(2s, i, host_wait::unanswered).counts == 3s);
    }
    CHECK(p.counted == 3000s); // all that was hidden
  }

  TEST_CASE("§95 likewise when the next question is asked before the one before has gone") {
    process p;
    const auto began = p.now;
    p.after(0s, 0, host_wait::begins);
    for (int i = 1; i < 1000; ++i) {
      CHECK(p.after(1s, i, host_wait::begins).held);
      CHECK(p.after(1s, i - 1, host_wait::unanswered).held);
      // Nothing is hidden but what the standing question may still bring.
      CHECK(p.now - began - p.counted <= 1s);
    }
  }

  TEST_CASE("§95 a question that stands is not paid for by another that was given up") {
    process p;
    p.after(0s, 1, host_wait::begins);
    p.after(10s, 2, host_wait::begins);
    p.after(2s, 2, host_wait::pauses);
    const auto change = p.after(2s, 2, host_wait::unanswered);
    CHECK(change.held);
    CHECK(change.counts == 2s);
    CHECK_FALSE(p.after(60s, 1, host_wait::answered).held);
    CHECK(p.counted == 2s);
  }

  TEST_CASE("§95 no moment counts twice") {
    process p;
    for (int i = 0; i < 16; ++i)
      p.after(0s, i, host_wait::begins);
    p.after(5s, 0, host_wait::unanswered);
    for (int i = 1; i < 16; ++i)
      CHECK(p.after(0s, i, host_wait::unanswered).counts == 0s);
    CHECK(p.counted == 5s);
  }
}
