#include "protocol/guardian_answer.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

using namespace gatehouse;

TEST_SUITE("protocol.guardian_answer") {
  TEST_CASE("§48a a whole answer is read") {
    const auto a = decode_guardian_answer(
        R"( {"outcome":"allow","risk_level":"medium","user_authorization":"high","rationale":"asked"}
        )");
    REQUIRE(a);
    CHECK(*a == guardian_assessment{true, risk_level::medium, user_authorization::high, "asked"});
    const auto d = decode_guardian_answer(R"({"outcome":"deny"})");
    REQUIRE(d);
    CHECK(*d == guardian_assessment{false, risk_level::high, user_authorization::unknown, ""});
  }

  TEST_CASE("§48a anything else is no answer, however clearly it seems to allow") {
    for (const char* text :
         {"", "allow", R"("allow")", "{}", "[]", "null",
          R"({"outcome":"Allow","risk_level":"low"})", R"({"outcome":true,"risk_level":"low"})",
          R"({"outcome":"allow"})", R"({"outcome":"allow","risk_level":"none"})",
          R"({"outcome":"allow","risk_level":null})",
          R"({"outcome":"allow","risk_level":"low","user_authorization":"yes"})",
          R"({"outcome":"allow","risk_level":"low","rationale":1})",
          R"({"outcome":"allow","risk_level":"low","confidence":1})",
          R"({"outcome":"deny","outcome":"allow","risk_level":"low"})", R"({"risk_level":"low"})",
          R"(Sure: {"outcome":"allow","risk_level":"low"})",
          R"({"outcome":"allow","risk_level":"low"} and {"outcome":"deny"})",
          "```json\n{\"outcome\":\"allow\",\"risk_level\":\"low\"}\n```"}) {
      const auto a = decode_guardian_answer(text);
      CHECK_MESSAGE(!a.has_value(), text);
    }
    CHECK_FALSE(decode_guardian_answer(R"({"outcome":"deny","rationale":")" +
                                       std::string(70'000, 'x') + "\"}"));
  }

  TEST_CASE("the schema is JSON and names exactly the words that are read") {
    const auto schema = boost::json::parse(
        boost::json::string_view{guardian_answer_schema().data(), guardian_answer_schema().size()});
    CHECK(schema.at("additionalProperties") == false);
    CHECK(schema.at("properties").at("risk_level").at("enum").as_array().size() == 4);
  }
}
