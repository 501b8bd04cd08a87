#include "protocol/chat_completion.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;

TEST_SUITE("protocol.chat_completion") {
  TEST_CASE("§48a the question is one message, bound to the schema of the answer") {
    const auto json = boost::json::parse(encode_chat_question("m-1", "is \"this\" well?\n"));
    CHECK(json.at("model") == "m-1");
    CHECK(json.at("stream") == false);
    CHECK(json.at("messages").as_array().size() == 1);
    CHECK(json.at("messages").at(0).at("content") == "is \"this\" well?\n");
    const auto& format = json.at("response_format");
    CHECK(format.at("type") == "json_schema");
    CHECK(format.at("json_schema").at("schema").at("additionalProperties") == false);
  }

  TEST_CASE("§48a the text of the first choice is the answer, whatever else the server says") {
    const auto text = decode_chat_reply(
        R"({"id":"x","usage":{"total_tokens":3},"choices":[{"index":0,"finish_reason":"stop",)"
        R"("message":{"role":"assistant","content":"hello","refusal":null}}]})");
    REQUIRE(text);
    CHECK(*text == "hello");
  }

  TEST_CASE("§48a a reply that is cut off, refused or something else is no answer") {
    for (const std::string reply :
         {"", "null", "{}", R"({"choices":[]})", R"({"choices":[{}]})",
          R"({"choices":[{"message":{}}]})", R"({"choices":[{"message":{"content":null}}]})",
          R"({"choices":[{"message":{"content":["a"]}}]})",
          R"({"choices":[{"finish_reason":"length","message":{"content":"a"}}]})",
          R"({"choices":[{"message":{"content":"a","refusal":"no"}}]})",
          R"({"choices":[{"message":{"content":"a"}}]} trailing)",
          R"({"error":{"message":"x"}})"}) {
      CAPTURE(reply);
      CHECK_FALSE(decode_chat_reply(reply));
    }
  }
}
