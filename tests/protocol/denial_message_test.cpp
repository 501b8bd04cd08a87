#include "protocol/denial_message.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

namespace {

const std::string rewording =
    "\nThe same act in other words, through another shell, program or tool, is the same act and "
    "will be refused as well.";

denial write_denial() {
  return {denial_kind::file_write, "/etc/x", {}, "`:root` read", "Write below /repo."};
}

review_request question(bool without_sandbox = false) {
  review_request q;
  q.what.argv = {"rm", "-rf", "a b"};
  q.reason = "rm -f deletes without a question";
  q.without_sandbox = without_sandbox;
  return q;
}

review_answer answer(review_decision decision, reviewer_kind who, std::string reason = {}) {
  return {{}, {}, decision, who, std::move(reason)};
}

} // namespace

TEST_SUITE("protocol.denial_message") {
  TEST_CASE("§48b a refusal by policy cites the reason, says that nothing ran and what to do") {
    exec_requirement requirement;
    requirement.reason = "`git push` rejected: use the release job";
    CHECK(policy_refusal_message(requirement) ==
          "Refused by policy: `git push` rejected: use the release job.\n"
          "Nothing was run.\n"
          "Reach the goal in a way that the rules allow, or tell the user what is needed and why." +
              rewording);
    requirement.reason = "the approval policy is never.";
    requirement.refused_by = refused_by::handler;
    CHECK(policy_refusal_message(requirement) ==
          "Refused before it reached any rule: the approval policy is never.\n"
          "Nothing was run.\n"
          "Correct the call as this says, or ask the user to widen what this session may do." +
              rewording);
  }

  TEST_CASE("§48b a reviewer's no says who said it, about what, and why") {
    CHECK(review_refusal_message(question(),
                                 answer(review_decision::denied, reviewer_kind::user, "not now")) ==
          "Not approved, nothing was run: rm -rf 'a b'\n"
          "It was asked because rm -f deletes without a question.\n"
          "The user said no: not now.\n"
          "Choose a way that needs no approval, or explain to the user why this is needed and let "
          "them decide." +
              rewording);
    const auto nobody =
        review_refusal_message(question(true), answer(review_decision::denied, reviewer_kind::none,
                                                      "no one can be asked"));
    CHECK(nobody.find("It needs an approval, but no one can be asked.") != std::string::npos);
    CHECK(nobody.find("Work inside the sandbox") != std::string::npos);
    CHECK(review_refusal_message(question(),
                                 answer(review_decision::timed_out, reviewer_kind::guardian))
              .find("No answer came in time.") != std::string::npos);
  }

  TEST_CASE("§48b §D10 a denial is told as the boundary's, with path, entry and remedy") {
    CHECK(denial_message(write_denial()) ==
          "The sandbox refused writing /etc/x (decided by `:root` read).\n"
          "This is the boundary of the session, not a failure of the command.\n"
          "Write below /repo." +
              rewording);
    // A refused host and a failing command need not have to do with each other.
    CHECK(denial_message(denial{denial_kind::network, {}, "example.org", {}, {}})
              .find("not a failure of the command") == std::string::npos);
    CHECK(describe(denial{denial_kind::network, {}, "example.org", {}, {}}) ==
          "connecting to example.org");
    CHECK(describe(denial{denial_kind::network, {}, {}, {}, {}}) == "using the network");
    CHECK(describe(denial{denial_kind::file_read, {}, {}, {}, {}}) == "reading a file");
  }

  TEST_CASE("§107 a refused retry says that what was done before stands") {
    const auto text = retry_refusal_message(write_denial(), question(true),
                                            answer(review_decision::denied, reviewer_kind::user));
    CHECK(text ==
          "The sandbox refused writing /etc/x, and a retry without the sandbox was not "
          "approved.\n"
          "The user said no.\n"
          "What the command did before the denial stands. Work inside the boundary, or tell "
          "the user what is needed and why." +
              rewording);
  }

  TEST_CASE("§51 a stop tells the model to wait, and §48a who stopped it") {
    review_answer answer;
    answer.decision = review_decision::abort;
    answer.reviewer = reviewer_kind::user;
    CHECK(stopped_message(answer) ==
          "The user stopped the turn. Do nothing more until they answer.");
    answer.reviewer = reviewer_kind::guardian;
    answer.reason = "3 refusals in a row";
    CHECK(stopped_message(answer) == "The automatic review stopped the turn: 3 refusals in a row.\n"
                                     "Do nothing more until the user answers." +
                                         rewording);
  }

  TEST_CASE("§97 of a command out of reach nobody is told that it has ended") {
    attempt_record attempt;
    attempt.ending = attempt_ending::timed_out;
    attempt.limit = std::chrono::milliseconds{500};
    CHECK(time_out_message(attempt).find("was ended") != std::string::npos);
    CHECK(cancelled_message(attempt) == cancelled_message());
    attempt.failure = error{errc::io, "build did not answer", "The command may still run there"};
    CHECK(time_out_message(attempt) ==
          "The time limit of 500 ms was over (exit status 124).\nbuild did not answer.\n"
          "The command may still run there.");
    CHECK(cancelled_message(attempt) ==
          cancelled_message() + "\nbuild did not answer.\nThe command may still run there.");
  }
}
