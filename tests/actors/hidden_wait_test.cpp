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

  TEST_CASE("§95 a question that was given up paid for what was waited for an approved one") {
    process p;
    p.after(0s, 1, host_wait::begins);
    p.after(10s, 2, host_wait::begins);
    p.after(20s, 1, host_wait::answered);
    CHECK(p.after(3s, 2, host_wait::unanswered).counts == 3s);
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

  TEST_CASE("§95 a program lived as long as it liked by one question that it kept standing") {
    process p;
    const auto first = p.after(0s, 1, host_wait::begins);
    CHECK(first.at_most == hidden_wait::usual_most);
    CHECK(p.after(10min, 2, host_wait::begins).at_most == 50min);
    const auto over = p.wait.look(p.now += 50min);
    CHECK_FALSE(over.held);
    CHECK(over.counts == 0s); // what comes from here on counts, as it comes
    CHECK_FALSE(p.after(1s, 3, host_wait::begins).held);
    CHECK(p.after(10min, 2, host_wait::unanswered).counts == 50min); // what it had hidden
    CHECK(p.wait.look(p.now).held); // until as much is hidden again
    // Somebody has come back, and is asked as usual.
    CHECK(p.after(1min, 3, host_wait::answered).at_most == hidden_wait::usual_most);
  }

  TEST_CASE("§95 … or by the same few hosts in turn, each given up before its patience was over") {
    process p;
    hidden_wait::duration hidden{};
    for (int i = 0; i < 10000; ++i) {
      if (p.after(0s, i % 4, host_wait::begins).held) hidden += 1s;
      p.after(1s, i % 4, host_wait::pauses);
    }
    CHECK(hidden == hidden_wait::usual_most);
  }

  TEST_CASE(
      "§95 a hook's yes to one host settled what was waited for another that nobody answered") {
    process p;
    p.after(0s, 1, host_wait::begins);
    p.after(10s, 2, host_wait::begins);
    CHECK(p.after(1s, 2, host_wait::decided).counts == 0s);
    CHECK(p.after(4s, 1, host_wait::unanswered).counts ==
          14s); // all but the second that it decided
    // Its own question's wait does not count.
    p.after(0s, 3, host_wait::begins);
    p.after(5s, 3, host_wait::decided);
    p.after(0s, 4, host_wait::begins);
    CHECK(p.after(2s, 4, host_wait::unanswered).counts == 2s);
  }

  TEST_CASE("§95 a program lived as long as it liked by ever new hosts that a hook allowed") {
    process p;
    hidden_wait::duration hidden{};
    for (int i = 0; i < 5000; ++i) {
      if (p.after(0s, i, host_wait::begins).held) hidden += 1s;
      p.after(1s, i, host_wait::decided);
    }
    CHECK(hidden == hidden_wait::usual_most);
    CHECK(p.counted == 0s);
    p.after(0s, 1, host_wait::begins);
    CHECK_FALSE(p.after(1s, 1, host_wait::answered).held);
    CHECK(p.after(1s, 1, host_wait::begins).at_most == hidden_wait::usual_most);
  }

  TEST_CASE("§95 what was waited when the limit ran already was taken off it again") {
    process p;
    p.after(0s, 1, host_wait::begins);
    CHECK_FALSE(p.wait.look(p.now += 1h).held);
    CHECK_FALSE(p.after(0s, 2, host_wait::begins).held);
    CHECK(p.after(10min, 2, host_wait::unanswered).counts == 0s); // nothing of it was hidden
    CHECK(p.after(0s, 1, host_wait::unanswered).counts == 1h);
  }

  TEST_CASE("§95 an early or late look changes nothing") {
    process p;
    CHECK_FALSE(p.wait.look(p.now).held);
    p.after(0s, 1, host_wait::begins);
    CHECK(p.wait.look(p.now += 1min).at_most == 59min);
    CHECK(p.wait.look(p.now).at_most == 59min);
    p.after(1min, 1, host_wait::answered);
    CHECK_FALSE(p.wait.look(p.now += 5h).held);
  }
}
