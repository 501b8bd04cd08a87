#include "cli/question_view.hpp"
#include "cli/run_summary.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::cli;

namespace {

review_request sample() {
  review_request q;
  q.what.argv = {"/bin/bash", "-c", "rm -rf build"};
  q.what.cwd = "/repo";
  q.what.justification = "clean build";
  q.reason = "rm -f deletes without a question";
  q.will_be_allowed = "It runs once inside the sandbox.";
  return q;
}

} // namespace

TEST_SUITE("cli.question_text") {
  TEST_CASE(
      "§204 a question shows the exact command, folder, reason, what a yes allows, and keys") {
    CHECK(question_text(sample()) == "\ngatehouse: approval needed\n"
                                     "  command: /bin/bash -c 'rm -rf build'\n"
                                     "  folder:  /repo\n"
                                     "  why:     rm -f deletes without a question\n"
                                     "  it says: clean build\n"
                                     "  allows:  It runs once inside the sandbox.\n"
                                     "  [y] yes, once\n"
                                     "  [n] no\n"
                                     "  [q] no, and stop here\n");
  }

  TEST_CASE("§7 a question says which machine it is about, unless it is this one") {
    auto q = sample();
    CHECK(question_text(q).find("machine:") == std::string::npos);
    q.what.environment_id = "build";
    CHECK(question_text(q).find("  folder:  /repo\n  machine: build\n") != std::string::npos);
  }

  TEST_CASE("§204 the agent's words were shown twice in one question") {
    auto q = sample();
    q.reason = "the agent asks, and says: clean build";
    const auto text = question_text(q);
    CHECK(text.find("why:     the agent asks, and says: clean build\n") != std::string::npos);
    CHECK(text.find("it says:") == std::string::npos);
  }

  TEST_CASE("§40 §52 the rule and the session are offered only where they are on offer") {
    auto q = sample();
    CHECK(question_text(q).find("[r]") == std::string::npos);
    CHECK(question_text(q).find("[s]") == std::string::npos);
    q.proposed_amendment = {"rm", "-rf", "build"};
    q.session_offered = true;
    CHECK(question_text(q).find("inside the sandbox, exactly: rm -rf build\n") !=
          std::string::npos);
    CHECK(question_text(q).find("[s] yes, for this session\n") != std::string::npos);
    q.without_sandbox = true;
    CHECK(question_text(q).find("by default without the sandbox, exactly: rm") !=
          std::string::npos);
    q.proposed_amendment = {"bash", "x.sh"};
    CHECK(question_text(q).find("but inside the sandbox, all that begins with: bash x.sh\n") !=
          std::string::npos);
  }

  TEST_CASE("§204 no text of the agent can forge a line of ours or hide another") {
    auto q = sample();
    q.what.argv = {"sh", "-c", "true\n  allows:  nothing\x1b[1A\x1b[2K"};
    q.what.justification = "x\n  [y] no\r\xe2\x80\xae";
    const auto text = question_text(q);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\r') == std::string::npos);
    CHECK(text.find("\xe2\x80\xae") == std::string::npos);
    CHECK(text.find("\n  allows:  nothing") == std::string::npos);
    CHECK(text.find("\n  [y] no") == std::string::npos);
  }

  TEST_CASE(
      "§204 the summary says decision, boundary and end, and passes on no control character") {
    call_report report;
    report.ending = call_ending::completed;
    attempt_record first;
    first.sandbox = sandbox_backend::linux_bubblewrap;
    first.ending = attempt_ending::denied;
    attempt_record second = first;
    second.number = 2;
    second.sandbox = sandbox_backend::none;
    second.network = network_mode::full;
    second.ending = attempt_ending::exited;
    second.exit_code = 0;
    report.attempts = {first, second};
    report.reviews = {{"r1", 1, reviewer_kind::user, review_decision::approved, {}}};
    report.message = "one\x1b\ntwo";
    CHECK(run_summary(report) ==
          "gatehouse: approved by user; in the linux sandbox, network isolated; denied by the "
          "boundary\n"
          "gatehouse: approved again; without a sandbox; exit 0\n"
          "gatehouse: one\\x1b\n"
          "  two\n"); // it might be a line of the command's, that passes for one of ours
  }

  TEST_CASE(
      "§113 §204 the summary does not say that nobody was asked when somebody was, about a host") {
    call_report report;
    report.ending = call_ending::completed;
    attempt_record first;
    first.sandbox = sandbox_backend::linux_bubblewrap;
    first.network = network_mode::proxy_only;
    first.ending = attempt_ending::exited;
    first.exit_code = 0;
    report.attempts = {first};
    report.reviews = {
        {"n1", 1, reviewer_kind::user, review_decision::approved, {}, "https://a.test:443"},
        {"n2", 1, reviewer_kind::user, review_decision::denied, {}, "http://b.test:80"}};
    CHECK(run_summary(report) ==
          "gatehouse: no approval needed; https://a.test:443 approved by user; http://b.test:80 "
          "refused by user; in the linux sandbox, network proxy_only; exit 0\n");
  }
}
