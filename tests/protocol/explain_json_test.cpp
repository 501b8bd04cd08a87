#include "protocol/explain_json.hpp"

#include "protocol/approval_policy_json.hpp"
#include "protocol/utf8.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;
using namespace std::string_literals;

namespace {

std::string failure_of(std::string_view line) {
  const auto request = decode_explain_request(line);
  if (request) return "no error";
  CHECK(request.error().code == errc::invalid_request);
  return request.error().message;
}

} // namespace

TEST_SUITE("protocol.explain_json") {
  TEST_CASE("§133a a request carries a command or an argv and what to judge it by") {
    const auto request = decode_explain_request(R"({"argv":["git","push"],
      "approval_policy":{"granular":{"rules":true}},"profile":"read-only","rules":"x","requirements":"y",
      "cwd":"/w","sandbox_permissions":"require_escalated","prefix_rule":["git"],"login":true,"id":7})");
    REQUIRE(request);
    CHECK(std::get<1>(request->command) == std::vector<std::string>{"git", "push"});
    CHECK(request->approval->mode == approval_mode::granular);
    CHECK(request->approval->granular.rules);
    CHECK(std::get<std::string>(request->profile) == "read-only");
    CHECK(request->rules == "x");
    CHECK(request->requirements == "y");
    CHECK(request->cwd == "/w");
    CHECK(request->sandbox_permissions == sandbox_permissions::require_escalated);
    CHECK(request->prefix_rule == std::vector<std::string>{"git"});
    CHECK(request->login);
    const auto object = decode_explain_request(R"({"command":"ls","profile":{"type":"disabled"}})");
    REQUIRE(object);
    CHECK(std::get<std::string>(object->command) == "ls");
    CHECK(std::get<permission_profile>(object->profile) == danger_full_access_profile());
  }

  TEST_CASE("what is not understood is refused with its place, never guessed") {
    CHECK(failure_of("") == "request at `/`: byte 0: not valid JSON (incomplete JSON)");
    CHECK(failure_of("[1]").find("expected an object") != std::string::npos);
    CHECK(failure_of("{\"command\":\"ls\"} x").find("byte 17") != std::string::npos);
    CHECK(failure_of("{\"command\":\"\xff\"}").find("byte 12 is not valid UTF-8") !=
          std::string::npos);
    CHECK(failure_of("{}").find("`/command`") != std::string::npos);
    CHECK(failure_of(R"({"command":"a","argv":["b"]})").find("exactly one") != std::string::npos);
    CHECK(failure_of(R"({"argv":[]})").find("program is missing") != std::string::npos);
    CHECK(failure_of(R"({"argv":["a",1]})").find("/argv/1") != std::string::npos);
    CHECK(failure_of(R"({"command":"a\u0000b"})").find("NUL") != std::string::npos);
    CHECK(failure_of(R"({"argv":["a\u0000"]})").find("NUL") != std::string::npos);
    CHECK(failure_of(R"({"command":"a","aproval_policy":"never"})").find("unknown field") !=
          std::string::npos);
    CHECK(failure_of(R"({"command":"a","approval_policy":"maybe"})").find("`maybe`") !=
          std::string::npos);
    CHECK(failure_of(R"({"command":"a","profile":{"type":"x"}})").find("/profile") !=
          std::string::npos);
    CHECK(failure_of(R"({"command":"a","login":"yes"})").find("/login") != std::string::npos);
    CHECK(failure_of(R"({"command":"a","cwd":"src"})").find("absolute") != std::string::npos);
    CHECK(failure_of(R"({"command":"a","sandbox_permissions":"none"})").find("use_default") !=
          std::string::npos);
    CHECK(failure_of(std::string(100'000, '[')).find("not valid JSON") != std::string::npos);
  }

  TEST_CASE("§133a the answer has the published shape") {
    exec_evaluation evaluation;
    evaluation.segments.push_back({{"rm", "-rf", "\xff\n"},
                                   segment_origin::nested,
                                   segment_judge::rule,
                                   decision::prompt,
                                   rule_citation{{{"rm"}, {"-r", "-rf"}}, "f.rules", 3, "careful"},
                                   "because"});
    evaluation.complex = true;
    evaluation.requirement.kind = requirement_kind::needs_approval;
    evaluation.requirement.reason = "why";
    evaluation.requirement.proposed_amendment = {"rm"};
    evaluation.requirement.amendment_exact = true;
    CHECK(encode_explain_answer(
              evaluation, {sandbox_backend::linux_bubblewrap, true, network_mode::isolated}) ==
          "{\"segments\":[{\"argv\":[\"rm\",\"-rf\",\"\xEF\xBF\xBD\\n\"],\"origin\":\"nested\","
          "\"judge\":\"rule\",\"decision\":\"prompt\",\"rule\":{\"pattern\":[\"rm\",[\"-r\","
          "\"-rf\"]],\"file\":\"f.rules\",\"line\":3,\"justification\":\"careful\"},"
          "\"why\":\"because\"}],\"complex\":true,\"requirement\":{\"kind\":\"needs_approval\","
          "\"bypass_sandbox\":false,\"reason\":\"why\",\"proposed_amendment\":[\"rm\"],"
          "\"amendment_exact\":true,\"amendment_sandbox\":\"keep\"},"
          "\"sandbox\":{\"backend\":\"linux\",\"first_attempt\":\"sandboxed\","
          "\"network\":\"isolated\"}}");
    // Only a denial later raises the question, about leaving the sandbox.
    evaluation.requirement.kind = requirement_kind::skip;
    evaluation.unread = "a syntax error";
    const auto skips = encode_explain_answer(
        evaluation, {sandbox_backend::linux_bubblewrap, true, network_mode::isolated});
    CHECK(skips.find("\"amendment_sandbox\":\"bypass\"") != std::string::npos);
    CHECK(skips.find("\"complex\":true,\"unread\":\"a syntax error\",\"requirement\"") !=
          std::string::npos);
    evaluation = {};
    evaluation.requirement.refused_by = refused_by::handler;
    CHECK(encode_explain_answer(evaluation, {})
              .find("\"requirement\":{\"kind\":\"forbidden\",\"bypass_sandbox\":false,"
                    "\"refused_by\":\"handler\"}") != std::string::npos);
    CHECK(encode_explain_error({errc::invalid_request, "a\"b", {}}) ==
          R"({"error":{"kind":"invalid_request","message":"a\"b"}})");
  }

  TEST_CASE("§133b a recorded decision is what explain answers, with its request") {
    const auto answer = encode_explain_answer({}, {});
    const auto recorded =
        decode_recorded_decision(R"({"request":{"command":"ls"},"decision":)" + answer + "}");
    REQUIRE(recorded);
    CHECK(recorded->kind == requirement_kind::forbidden);
    CHECK_FALSE(decode_recorded_decision(R"({"request":{"command":"ls"},"decision":{}})"));
    CHECK_FALSE(decode_recorded_decision(R"({"decision":)" + answer + "}"));
    CHECK(decode_recorded_decision(R"({"request":{"comand":"ls"},"decision":1})")
              .error()
              .message.find("/request/") != std::string::npos);
  }

  TEST_CASE("§30 an approval policy is a name or JSON, on the command line too") {
    CHECK(decode_approval_policy("never")->mode == approval_mode::never);
    CHECK(decode_approval_policy("\"on-failure\"")->mode == approval_mode::on_request);
    const auto granular =
        decode_approval_policy(R"({"granular": {"sandbox_approval": false, "rules": true}})");
    REQUIRE(granular);
    CHECK(granular->granular == granular_switches{false, true});
    CHECK(decode_approval_policy(encode_approval_policy(*granular)).value() == *granular);
    for (const auto* bad :
         {"", "granular", "\"x\"", "{", "{}", R"({"granular":1})", R"({"granular":{"rule":true}})",
          R"({"granular":{"rules":1}})", R"({"granular":{},"x":1})"})
      CHECK_FALSE(decode_approval_policy(bad));
  }

  TEST_CASE("a list of words is an array of strings and nothing else") {
    CHECK(*decode_words(R"(["git","push"])") == std::vector<std::string>{"git", "push"});
    CHECK(decode_words("[]")->empty());
    for (const auto* bad : {"", "git", "\"git\"", "[1]", "[[\"a\"]]", "[\"a\\u0000\"]", "[] []"})
      CHECK_FALSE(decode_words(bad));
  }

  TEST_CASE("malformed UTF-8 is found at its first byte") {
    CHECK_FALSE(find_invalid_utf8("aé€😀"));
    for (const auto& [text, at] : {std::pair{"a\x80"s, 1},
                                   {"\xC0\x80"s, 0},
                                   {"\xE0\x80\x80"s, 0},
                                   {"\xED\xA0\x80"s, 0},
                                   {"\xF4\x90\x80\x80"s, 0},
                                   {"ab\xE2\x82"s, 2},
                                   {"\xF8"s, 0}}) {
      REQUIRE(find_invalid_utf8(text));
      CHECK(*find_invalid_utf8(text) == static_cast<std::size_t>(at));
    }
    CHECK(to_valid_utf8("a\xff"
                        "b\xE2\x82") == "a\xEF\xBF\xBD"
                                        "b\xEF\xBF\xBD\xEF\xBF\xBD");
  }
}
