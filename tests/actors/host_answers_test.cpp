#include "actors/host_answers.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using actors::host_answers;

namespace {

const host_key first{"local", "one.test", network_protocol::https, 443};
const host_key second{"local", "two.test", network_protocol::https, 443};

} // namespace

TEST_SUITE("host_answers") {
  TEST_CASE("§111 an answer covers its host alone, and the last one counts") {
    host_answers answers;
    answers.remember(first, true);
    CHECK(answers.find(first) == true);
    CHECK_FALSE(answers.find(second).has_value());
    answers.remember(first, false);
    CHECK(answers.find(first) == false);
    CHECK(answers.list().size() == 1);
  }

  TEST_CASE("§111 an answer that was taken back is asked for again") {
    host_answers answers;
    answers.remember(first, true);
    answers.remember(second, false);
    const auto listed = answers.list();
    REQUIRE(listed.size() == 2);
    CHECK(listed[0].host == first);
    CHECK(answers.revoke(listed[0].id));
    CHECK_FALSE(answers.revoke(listed[0].id));
    CHECK_FALSE(answers.find(first).has_value());
    CHECK(answers.find(second) == false);
  }

  TEST_CASE("§111 an id that was taken back later took back another answer") {
    host_answers answers;
    answers.remember(first, true);
    const auto old = answers.list()[0].id;
    answers.remember(first, false);
    CHECK_FALSE(answers.revoke(old));
    CHECK(answers.find(first) == false);
  }

  TEST_CASE("§111 §113 what a rule file has could be taken back, and stood all the same") {
    host_answers answers;
    answers.remember(first, true);
    answers.remember(second, true);
    const auto id = answers.list()[0].id;
    answers.keep(first);
    CHECK(answers.find(first) == true); // until the rules have been read again
    REQUIRE(answers.list().size() == 1);
    CHECK(answers.list()[0].host == second);
    CHECK_FALSE(answers.revoke(id));
    answers.forget_kept();
    CHECK_FALSE(answers.find(first).has_value());
    CHECK(answers.find(second) == true);
  }
}
