#include "actors/call_flow.hpp"

#include "tests/actors/flow_driver.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

using mode = approval_mode;
using kind = requirement_kind;

/// Runs the flow up to its first attempt, answering yes to a question.
struct started {
  call_flow machine;
  std::optional<review_request> question;
  attempt_ptr first;

  started(call_plan plan, kind k, bool bypass = false) : machine{std::move(plan)} {
    auto effects = machine.step(requires_(k, bypass));
    if (const auto* asked = find<flow::ask_review>(effects)) {
      question = asked->request;
      effects = machine.step(answer_to(*question, review_decision::approved));
    }
    if (const auto* start = find<flow::start_attempt>(effects)) first = start->what;
  }
};

} // namespace

TEST_SUITE("actors.call_flow") {
  TEST_CASE("§47 skip runs once in the sandbox and finishes with the command's own end") {
    started s{plan_for(mode::on_request, workspace_write_profile()), kind::skip};
    REQUIRE(s.first);
    CHECK((*s.first)->sandbox_requested);
    CHECK((*s.first)->backend == sandbox_backend::linux_bubblewrap);
    CHECK((*s.first)->network == network_mode::isolated);
    CHECK((*s.first)->argv == std::vector<std::string>{"make", "test"});
    CHECK_FALSE((*s.first)->by);
    const auto effects = s.machine.step(exited(1, 3));
    const auto* done = find<flow::finish>(effects);
    REQUIRE(done);
    CHECK(done->report.ending == call_ending::completed);
    CHECK(exit_status(done->report) == 3);
    CHECK(s.machine.finished());
  }

  TEST_CASE("§39 §48b forbidden ends the call before anything else, with reason and safer path") {
    call_flow machine{plan_for(mode::on_request, workspace_write_profile())};
    const auto effects = machine.step(requires_(kind::forbidden));
    REQUIRE(effects.size() == 1);
    const auto* done = find<flow::finish>(effects);
    REQUIRE(done);
    CHECK(done->report.ending == call_ending::refused);
    CHECK(exit_status(done->report) == 125);
    CHECK(done->report.message.find("no such thing here") != std::string::npos);
    CHECK(done->report.message.find("other words") != std::string::npos);
    CHECK(done->report.attempts.empty());
  }

  TEST_CASE("§50 a review has its own id, and each attempt's review another one") {
    started s{plan_for(mode::untrusted, workspace_write_profile()), kind::needs_approval};
    REQUIRE(s.question);
    CHECK(s.question->review_id != "call-1");
    REQUIRE((*s.first)->by);
    CHECK((*s.first)->by->review_id() == s.question->review_id);
    const auto effects = s.machine.step(ended(1, attempt_ending::denied));
    const auto* second = find<flow::ask_review>(effects);
    REQUIRE(second);
    CHECK(second->request.review_id != s.question->review_id);
    CHECK(second->request.digest != s.question->digest);
    CHECK(second->request.attempt == 2);
    for (const auto& judged : {s.question->judged, second->request.judged}) { // §133a
      REQUIRE(judged);
      CHECK(judged->evaluation.requirement.kind == kind::needs_approval);
      CHECK(judged->sandbox.first_attempt_sandboxed);
    }
  }

  TEST_CASE("§51 every answer to the first question has its own end") {
    struct row {
      review_decision decision;
      bool runs;
      call_ending ending;
    };
    for (const auto& r :
         {row{review_decision::approved, true, {}},
          row{review_decision::approved_execpolicy_amendment, true, {}},
          row{review_decision::approved_for_session, true, {}},
          row{review_decision::network_policy_amendment, false, call_ending::refused},
          row{review_decision::denied, false, call_ending::refused},
          row{review_decision::timed_out, false, call_ending::refused},
          row{review_decision::abort, false, call_ending::aborted}}) {
      CAPTURE(to_string(r.decision));
      call_flow machine{plan_for(mode::on_request, workspace_write_profile())};
      auto effects = machine.step(requires_(kind::needs_approval));
      const auto question = find<flow::ask_review>(effects)->request;
      effects = machine.step(answer_to(question, r.decision));
      CHECK((find<flow::start_attempt>(effects) != nullptr) == r.runs);
      CHECK(find<flow::add_rule>(effects) == nullptr); // none was proposed
      if (!r.runs) {
        REQUIRE(find<flow::finish>(effects));
        CHECK(find<flow::finish>(effects)->report.ending == r.ending);
        CHECK(find<flow::finish>(effects)->report.attempts.empty());
      }
    }
  }

  TEST_CASE("§42 adding the proposed rule is asked for before the command starts") {
    call_flow machine{plan_for(mode::on_request, workspace_write_profile())};
    auto effects = machine.step(requires_(kind::needs_approval, false, {"make", "test"}));
    const auto question = find<flow::ask_review>(effects)->request;
    CHECK(question.proposed_amendment == std::vector<std::string>{"make", "test"});
    effects = machine.step(answer_to(question, review_decision::approved_execpolicy_amendment));
    REQUIRE(effects.size() == 2);
    CHECK(std::get<flow::add_rule>(effects[0]).rule.prefix ==
          std::vector<std::string>{"make", "test"});
    CHECK(std::holds_alternative<flow::start_attempt>(effects[1]));
  }

  TEST_CASE("§33 a question that may not be asked under never is a refusal") {
    call_flow machine{plan_for(mode::never, workspace_write_profile())};
    const auto effects = machine.step(requires_(kind::needs_approval));
    REQUIRE(find<flow::finish>(effects));
    CHECK(find<flow::finish>(effects)->report.ending == call_ending::refused);
  }

  TEST_CASE("§49 strict review asks even where policy would skip") {
    auto plan = plan_for(mode::never, workspace_write_profile());
    plan.strict_review = true;
    call_flow machine{std::move(plan)};
    CHECK(find<flow::ask_review>(machine.step(requires_(kind::skip))));
  }

  TEST_CASE("§57 §58 §59 §145 §D21 who may run the first attempt unsandboxed") {
    struct row {
      const char* name;
      permission_profile profile;
      sandbox_permissions asked;
      kind requirement;
      bool bypass;
      bool sandboxed;
    };
    const auto ws = workspace_write_profile();
    const auto hidden = with_denied_read(ws);
    permission_profile external;
    external.kind = profile_kind::external;
    using enum sandbox_permissions;
    const row rows[] = {
        {"plain skip", ws, use_default, kind::skip, false, true},
        {"explicit allow", ws, use_default, kind::skip, true, false},
        {"approved, nothing asked", ws, use_default, kind::needs_approval, false, true},
        {"approved escalation", ws, require_escalated, kind::needs_approval, false, false},
        {"escalation settled by a keep rule", ws, require_escalated, kind::skip, false, true},
        {"explicit allow, denied reads", hidden, use_default, kind::skip, true, true},
        {"escalation, denied reads", hidden, require_escalated, kind::needs_approval, false, true},
        {"overlay approved", ws, with_additional_permissions, kind::needs_approval, false, true},
        {"disabled", danger_full_access_profile(), use_default, kind::skip, false, false},
        {"disabled, escalation", danger_full_access_profile(), require_escalated, kind::skip, false,
         false},
        {"external", external, require_escalated, kind::skip, false, false},
    };
    for (const auto& r : rows) {
      CAPTURE(r.name);
      auto plan = plan_for(mode::on_request, r.profile);
      plan.what.sandbox_permissions = r.asked;
      if (r.asked == with_additional_permissions) plan.widened_profile = r.profile;
      started s{std::move(plan), r.requirement, r.bypass};
      REQUIRE(s.first);
      CHECK((*s.first)->sandbox_requested == r.sandboxed);
      CHECK(((*s.first)->backend == sandbox_backend::none) == !r.sandboxed);
      if (!r.sandboxed) CHECK((*s.first)->profile.kind != profile_kind::managed);
      if (s.question) CHECK(s.question->without_sandbox == !r.sandboxed);
    }
  }

  TEST_CASE("§46 §58 a runtime that wants no sandbox gets one all the same under denied reads") {
    auto plan = plan_for(mode::on_request, with_denied_read(workspace_write_profile()));
    plan.runtime.preference = sandbox::sandbox_preference::forbid;
    started s{std::move(plan), kind::skip};
    CHECK((*s.first)->sandbox_requested);
  }

  TEST_CASE("§12 §15 an overlay counts only when approved or pre-approved") {
    auto wide = workspace_write_profile();
    wide.network = network_policy::enabled;
    const auto launch = [&](kind k, bool preapproved, bool managed = false) {
      auto plan = plan_for(mode::on_request, workspace_write_profile());
      plan.managed_network = managed;
      plan.what.sandbox_permissions = sandbox_permissions::with_additional_permissions;
      plan.what.additional_permissions = additional_permissions{true, {}, {}};
      plan.widened_profile = wide;
      plan.permissions_preapproved = preapproved;
      return started{std::move(plan), k};
    };
    CHECK((*launch(kind::needs_approval, false).first)->profile == wide);
    CHECK((*launch(kind::needs_approval, false).first)->network == network_mode::full);
    CHECK((*launch(kind::skip, true).first)->profile == wide);
    CHECK((*launch(kind::skip, false).first)->profile == workspace_write_profile());
    CHECK(launch(kind::needs_approval, false).question->will_be_allowed.find("use the network") !=
          std::string::npos);
    // The managed one has rules of its own, and the question does not promise more.
    CHECK(launch(kind::needs_approval, false, true)
              .question->will_be_allowed.find("use the managed network (this opens no host") !=
          std::string::npos);
  }

  TEST_CASE("§68 a sandbox that this platform does not have is an error, not a bare run") {
    auto plan = plan_for(mode::on_request, workspace_write_profile());
    plan.backend = sandbox_backend::none;
    call_flow machine{std::move(plan)};
    const auto effects = machine.step(requires_(kind::skip));
    REQUIRE(find<flow::finish>(effects));
    CHECK(find<flow::start_attempt>(effects) == nullptr);
    CHECK(exit_status(find<flow::finish>(effects)->report) == 121);
  }

  TEST_CASE("§47 §97 only a denial can lead to a second attempt") {
    for (const auto ending :
         {attempt_ending::signalled, attempt_ending::timed_out, attempt_ending::exited,
          attempt_ending::cancelled, attempt_ending::not_started}) {
      CAPTURE(static_cast<int>(ending));
      started s{plan_for(mode::untrusted, workspace_write_profile()), kind::needs_approval};
      const auto effects = s.machine.step(ended(1, ending));
      CHECK(find<flow::ask_review>(effects) == nullptr);
      CHECK(find<flow::start_attempt>(effects) == nullptr);
      CHECK(find<flow::finish>(effects) != nullptr);
    }
  }

  TEST_CASE("§100 §101 §139 who is asked after a denial") {
    struct row {
      const char* name;
      mode approval;
      bool sandbox_switch;
      permission_profile profile;
      bool escalates;
      bool on_request_trait;
      bool asks;
    };
    const auto ws = workspace_write_profile();
    const row rows[] = {
        {"never", mode::never, true, ws, true, true, false},
        {"on-request, command", mode::on_request, true, ws, true, false, false},
        {"on-request, patch", mode::on_request, true, ws, true, true, true},
        {"untrusted", mode::untrusted, true, ws, true, false, true},
        {"granular on", mode::granular, true, ws, true, false, true},
        {"granular off", mode::granular, false, ws, true, false, false},
        {"runtime does not escalate", mode::untrusted, true, ws, false, false, false},
        {"denied reads", mode::untrusted, true, with_denied_read(ws), true, false, false},
    };
    for (const auto& r : rows) {
      CAPTURE(r.name);
      auto plan = plan_for(r.approval, r.profile);
      plan.approval.granular.sandbox_approval = r.sandbox_switch;
      plan.runtime.escalates_on_failure = r.escalates;
      plan.runtime.asks_after_denial_on_request = r.on_request_trait;
      started s{std::move(plan), kind::skip};
      const auto effects = s.machine.step(ended(1, attempt_ending::denied));
      CHECK((find<flow::ask_review>(effects) != nullptr) == r.asks);
      CHECK(find<flow::start_attempt>(effects) == nullptr); // §D5: never in silence
      if (!r.asks) {
        const auto& report = find<flow::finish>(effects)->report;
        CHECK(report.ending == call_ending::completed);
        CHECK(report.message.find("refused writing /etc/x") != std::string::npos);
        CHECK(exit_status(report) == 1);
      }
    }
  }

  TEST_CASE("§D5 §104 an earlier approval never covers the run without the sandbox") {
    started s{plan_for(mode::untrusted, workspace_write_profile()), kind::needs_approval};
    auto effects = s.machine.step(ended(1, attempt_ending::denied));
    const auto* asked = find<flow::ask_review>(effects);
    REQUIRE(asked);
    CHECK(asked->request.without_sandbox);
    CHECK(asked->request.will_be_allowed.find("WITHOUT the sandbox") != std::string::npos);
    const auto again = asked->request;

    SUBCASE("the first answer, replayed, changes nothing") {
      CHECK(s.machine.step(answer_to(*s.question, review_decision::approved)).empty());
    }
    SUBCASE("the first answer's digest under the second id is a refusal") {
      auto forged = answer_to(again, review_decision::approved);
      forged.answer.digest = s.question->digest;
      effects = s.machine.step(forged);
      CHECK(find<flow::start_attempt>(effects) == nullptr);
      CHECK(find<flow::finish>(effects)->report.ending == call_ending::refused);
    }
    SUBCASE("yes runs the second attempt, unsandboxed, and its end is final") {
      effects = s.machine.step(answer_to(again, review_decision::approved));
      const auto* start = find<flow::start_attempt>(effects);
      REQUIRE(start);
      CHECK((*start->what)->number == 2);
      CHECK_FALSE((*start->what)->sandbox_requested);
      CHECK((*start->what)->network == network_mode::full);
      effects = s.machine.step(ended(2, attempt_ending::denied)); // §106
      REQUIRE(effects.size() == 1);
      const auto& report = find<flow::finish>(effects)->report;
      CHECK(report.attempts.size() == 2);
      CHECK(report.reviews.size() == 2);
    }
    SUBCASE("no ends the call as refused and says what was denied") {
      effects = s.machine.step(answer_to(again, review_decision::denied));
      const auto& report = find<flow::finish>(effects)->report;
      CHECK(report.ending == call_ending::refused);
      CHECK(report.attempts.size() == 1);
      CHECK(report.message.find("/etc/x") != std::string::npos);
    }
  }

  TEST_CASE("§102 §105 a host question keeps the sandbox and opens only that host") {
    auto plan = plan_for(mode::on_request, with_denied_read(workspace_write_profile()));
    plan.managed_network = true;
    plan.profile.network = network_policy::enabled;
    call_flow machine{std::move(plan)};
    auto effects = machine.step(requires_(kind::skip));
    REQUIRE(find<flow::register_network>(effects));
    CHECK(find<flow::start_attempt>(effects) == nullptr);
    effects = machine.step(flow::network_registered{1, "reg-1", {}});
    REQUIRE(find<flow::start_attempt>(effects));
    CHECK((*find<flow::start_attempt>(effects)->what)->network == network_mode::proxy_only);
    CHECK((*find<flow::start_attempt>(effects)->what)->network_registration == "reg-1");
    effects = machine.step(ended(1, attempt_ending::denied));
    REQUIRE(find<flow::unregister_network>(effects));

    network_context seen{"https://example.org:443", true, true};
    SUBCASE("an open host is asked about") {
      effects = machine.step(flow::network_finished{"reg-1", end_with(seen).seen});
      const auto* asked = find<flow::ask_review>(effects);
      REQUIRE(asked);
      CHECK_FALSE(asked->request.without_sandbox);
      CHECK(asked->request.will_be_allowed.find("example.org") != std::string::npos);
      effects = machine.step(answer_to(asked->request, review_decision::approved));
      REQUIRE(find<flow::register_network>(effects)); // §47: each attempt registers
      effects = machine.step(flow::network_registered{2, "reg-2", {}});
      const auto& second = *find<flow::start_attempt>(effects)->what;
      CHECK(second->sandbox_requested);
      CHECK(second->approved_hosts == std::vector<std::string>{"https://example.org:443"});
      CHECK(has_denied_reads(second->profile));
    }
    SUBCASE("a host that the domain policy denies is not") {
      seen.may_ask = false;
      CHECK(find<flow::finish>(machine.step(flow::network_finished{"reg-1", end_with(seen).seen})));
    }
    SUBCASE("a host that cannot be attributed is not") {
      seen.attributable = false;
      CHECK(find<flow::finish>(machine.step(flow::network_finished{"reg-1", end_with(seen).seen})));
    }
  }

  TEST_CASE(
      "§143 BR-089 a command that got along without a host still says which one was refused") {
    auto plan = plan_for(mode::on_request, workspace_write_profile());
    plan.managed_network = true;
    plan.profile.network = network_policy::enabled;
    call_flow machine{std::move(plan)};
    machine.step(requires_(kind::skip));
    machine.step(flow::network_registered{1, "reg-1", {}});
    machine.step(exited(1, 0));
    flow::network_finished end;
    end.registration = "reg-1";
    blocked_connection what;
    what.target = {"local", "denied.test", network_protocol::https, 443};
    what.reason = network_refusal::denied_by_rule;
    what.rule = "domains `denied.test` = deny";
    end.seen.blocked = {what, what};
    const auto effects = machine.step(std::move(end));
    REQUIRE(find<flow::finish>(effects));
    const auto& report = find<flow::finish>(effects)->report;
    CHECK(report.ending == call_ending::completed);
    CHECK(report.message.find("https://denied.test:443: a rule denies this host (domains "
                              "`denied.test` = deny).") != std::string::npos);
    CHECK(report.message.find("denied.test:443") == report.message.rfind("denied.test:443"));
  }

  TEST_CASE("§143 hosts that were refused were left out where there was something else to say") {
    for (const auto how : {attempt_ending::timed_out, attempt_ending::cancelled}) {
      auto plan = plan_for(mode::on_request, workspace_write_profile());
      plan.managed_network = true;
      plan.profile.network = network_policy::enabled;
      call_flow machine{std::move(plan)};
      machine.step(requires_(kind::skip));
      machine.step(flow::network_registered{1, "reg-1", {}});
      machine.step(ended(1, how));
      flow::network_finished end;
      end.registration = "reg-1";
      blocked_connection what;
      what.target = {"local", "denied.test", network_protocol::https, 443};
      what.reason = network_refusal::denied_by_rule;
      end.seen.blocked = {what};
      const auto effects = machine.step(std::move(end));
      REQUIRE(find<flow::finish>(effects));
      const auto& message = find<flow::finish>(effects)->report.message;
      CHECK(message.find("https://denied.test:443: a rule denies this host.") != std::string::npos);
    }
  }

  TEST_CASE("§51 §116 whoever stops the turn at a question about a host stands in the report") {
    auto plan = plan_for(mode::on_request, workspace_write_profile());
    plan.managed_network = true;
    plan.profile.network = network_policy::enabled;
    call_flow machine{std::move(plan)};
    machine.step(requires_(kind::skip));
    machine.step(flow::network_registered{1, "reg-1", {}});
    machine.step(ended(1, attempt_ending::cancelled));
    auto end = end_with(network_context{"https://example.org:443", true, false});
    end.seen.ended_the_process = end.seen.stop = true;
    end.seen.reviews.push_back({"network-1", 1, reviewer_kind::user, review_decision::abort,
                                "enough", "https://example.org:443"});
    const auto effects = machine.step(std::move(end));
    REQUIRE(find<flow::finish>(effects));
    const auto& report = find<flow::finish>(effects)->report;
    CHECK(report.ending == call_ending::aborted);
    // The thread ends its turn by this.
    REQUIRE(report.reviews.size() == 1);
    CHECK(report.reviews[0].decision == review_decision::abort);
    CHECK(report.reviews[0].host == "https://example.org:443");
  }

  TEST_CASE("§D10 a managed network that cannot be set up runs nothing") {
    auto plan = plan_for(mode::on_request, workspace_write_profile());
    plan.managed_network = true;
    plan.profile.network = network_policy::enabled;
    call_flow machine{std::move(plan)};
    machine.step(requires_(kind::skip));
    const auto effects =
        machine.step(flow::network_registered{1, {}, error{errc::boundary_failed, "no proxy", {}}});
    REQUIRE(find<flow::finish>(effects));
    CHECK(find<flow::finish>(effects)->report.ending == call_ending::failed);
  }

  TEST_CASE("§128 a cancellation ends the call from every state") {
    const auto plan = plan_for(mode::untrusted, workspace_write_profile());
    SUBCASE("before the requirement") {
      call_flow machine{plan};
      CHECK(find<flow::finish>(machine.step(flow::cancelled{}))->report.ending ==
            call_ending::aborted);
      CHECK(machine.step(requires_(kind::skip)).empty());
    }
    SUBCASE("while a question is open: it is withdrawn, and a late yes runs nothing") {
      call_flow machine{plan};
      auto effects = machine.step(requires_(kind::needs_approval));
      const auto question = find<flow::ask_review>(effects)->request;
      effects = machine.step(flow::cancelled{});
      CHECK(find<flow::withdraw_review>(effects)->review_id == question.review_id);
      CHECK(find<flow::finish>(effects));
      CHECK(machine.step(answer_to(question, review_decision::approved)).empty());
    }
    SUBCASE("while it runs: the runtime is told, and the call ends with the attempt") {
      started s{plan, kind::skip};
      auto effects = s.machine.step(flow::cancelled{});
      CHECK(find<flow::cancel_attempt>(effects)->attempt == 1);
      CHECK(s.machine.step(flow::cancelled{}).empty());
      effects = s.machine.step(ended(1, attempt_ending::cancelled));
      CHECK(exit_status(find<flow::finish>(effects)->report) == 120);
    }
    SUBCASE("while it runs and is denied: no question any more") {
      started s{plan, kind::skip};
      s.machine.step(flow::cancelled{});
      CHECK(find<flow::finish>(s.machine.step(ended(1, attempt_ending::denied))));
    }
    SUBCASE("while the network registers: the late registration is closed") {
      auto managed = plan;
      managed.managed_network = true;
      managed.profile.network = network_policy::enabled;
      call_flow machine{managed};
      machine.step(requires_(kind::skip));
      CHECK(find<flow::finish>(machine.step(flow::cancelled{})));
      const auto effects = machine.step(flow::network_registered{1, "late", {}});
      REQUIRE(effects.size() == 1);
      CHECK(find<flow::unregister_network>(effects)->registration == "late");
    }
  }

  TEST_CASE("§99 a program that is not there ends the call with 127, a missing boundary with 121") {
    started missing{plan_for(mode::on_request, workspace_write_profile()), kind::skip};
    auto event = ended(1, attempt_ending::not_started);
    event.result.record.failure = error{errc::not_found, "nosuch: not found", {}};
    SUBCASE("program") {
      event.result.record.exit_code = 127;
      const auto effects = missing.machine.step(event);
      CHECK(exit_status(find<flow::finish>(effects)->report) == 127);
    }
    SUBCASE("boundary") {
      const auto effects = missing.machine.step(event);
      CHECK(exit_status(find<flow::finish>(effects)->report) == 121);
    }
  }

  TEST_CASE("§133a the boundary that explain shows is the one the first attempt gets") {
    for (const auto m : {mode::never, mode::on_request, mode::untrusted})
      for (const bool bypass : {false, true})
        for (const auto& profile :
             {workspace_write_profile(), with_denied_read(read_only_profile()),
              danger_full_access_profile()}) {
          const auto plan = plan_for(m, profile);
          const auto known = requires_(kind::skip, bypass);
          const auto shown = call_flow::first_boundary(plan, known.evaluation.requirement);
          started s{plan, kind::skip, bypass};
          CHECK(shown.first_attempt_sandboxed == (*s.first)->sandbox_requested);
          CHECK(shown.backend == (*s.first)->backend);
          CHECK(shown.network == (*s.first)->network);
        }
  }
}
