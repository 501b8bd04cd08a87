#include "protocol/call_report_json.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

using namespace gatehouse;
namespace json = boost::json;

namespace {

json::object document(const call_report& report) {
  return json::parse(encode_call_report(report)).as_object();
}

call_report report_with(attempt_ending ending) {
  call_report report;
  report.ending = call_ending::completed;
  report.evaluation.requirement.kind = requirement_kind::skip;
  attempt_record attempt;
  attempt.sandbox = sandbox_backend::linux_bubblewrap;
  attempt.ending = ending;
  attempt.duration = std::chrono::milliseconds{12};
  report.attempts = {attempt};
  return report;
}

} // namespace

TEST_SUITE("protocol.call_report_json") {
  TEST_CASE("§204 the document of a plain run") {
    auto report = report_with(attempt_ending::exited);
    report.attempts[0].exit_code = 3;
    report.output = {"out", "err", "outerr", 5};
    const auto doc = document(report);
    CHECK(doc.at("attempts") == json::parse(R"([{"sandbox":"linux","network":"isolated",
                                                  "exit_code":3,"duration_ms":12}])"));
    CHECK(doc.at("reviews").as_array().empty());
    CHECK(doc.at("stdout") == "out");
    CHECK(doc.at("stderr") == "err");
    CHECK(doc.at("aggregated") == "outerr");
    CHECK(doc.at("truncated_bytes") == 5);
    CHECK(doc.at("exit_status") == 3);
    CHECK(doc.at("decision").at("requirement").at("kind") == "skip");
    CHECK_FALSE(doc.contains("message"));
    CHECK_FALSE(doc.contains("failure"));
  }

  TEST_CASE("§97 each ending of an attempt has its own field") {
    auto signalled = report_with(attempt_ending::signalled);
    signalled.attempts[0].signal = 9;
    CHECK(document(signalled).at("attempts").at(0).at("signal") == 9);
    CHECK(document(signalled).at("exit_status") == 137);

    const auto late = document(report_with(attempt_ending::timed_out));
    CHECK(late.at("attempts").at(0).at("timed_out") == true);
    CHECK_FALSE(late.at("attempts").at(0).as_object().contains("exit_code"));
    CHECK(late.at("exit_status") == 124);
    CHECK_FALSE(late.at("attempts").at(0).as_object().contains("stopped"));

    auto killed = report_with(attempt_ending::timed_out);
    killed.attempts[0].signal = 9;
    killed.attempts[0].stopped = true;
    CHECK(document(killed).at("attempts").at(0).at("stopped") == true);
    CHECK(document(killed).at("exit_status") == 124);
    CHECK(shell_status(killed.attempts[0]) == 124);

    auto refused = report_with(attempt_ending::denied);
    refused.attempts[0].exit_code = 1;
    refused.attempts[0].denied =
        denial{denial_kind::network, {}, "example.org", "network restricted", "Ask."};
    CHECK(document(refused).at("attempts").at(0).at("denied") ==
          json::parse(R"({"kind":"network","host":"example.org","entry":"network restricted",
                          "remedy":"Ask."})"));
  }

  TEST_CASE("§120 an exit code that is no exit status does not become a success") {
    for (const int code : {256, -1073741819, -1}) {
      auto odd = report_with(attempt_ending::exited);
      odd.attempts[0].exit_code = code;
      CHECK(document(odd).at("exit_status") == 255);
      CHECK(document(odd).at("attempts").at(0).at("exit_code") == code);
    }
    auto lost = report_with(attempt_ending::lost);
    lost.attempts[0].exit_code.reset();
    CHECK(exit_status(lost) == 121);
  }

  TEST_CASE("§204 what was not judged has no decision, and what goes on no exit status") {
    auto report = report_with(attempt_ending::running);
    report.judged = false;
    report.session_id = 1000;
    CHECK_FALSE(document(report).contains("decision"));
    CHECK_FALSE(document(report).contains("exit_status"));
    CHECK(exit_status(report) == 0);
  }

  TEST_CASE("§50 §204 reviews name their attempt, reviewer and decision") {
    call_report report;
    report.ending = call_ending::refused;
    report.message = "no";
    report.reviews = {{"review-1", 1, reviewer_kind::user, review_decision::denied, "later"}};
    const auto doc = document(report);
    CHECK(doc.at("reviews") == json::parse(R"([{"id":"review-1","attempt":1,"reviewer":"user",
                                                "decision":"denied","reason":"later"}])"));
    CHECK(doc.at("attempts").as_array().empty());
    CHECK(doc.at("message") == "no");
    CHECK(doc.at("exit_status") == 125);
  }

  TEST_CASE("§96 output that is no text stays a valid document") {
    auto report = report_with(attempt_ending::exited);
    report.attempts[0].exit_code = 0;
    report.output.stdout_text = std::string{"\xff\0\x1b", 3};
    CHECK(document(report).at("stdout").as_string() == std::string{"\xef\xbf\xbd\0\x1b", 5});
  }
}
