#include "tests/actors/flow_driver.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

namespace {

using mode = approval_mode;
using kind = requirement_kind;

/// Three files in the workspace.
call_plan patch_plan(mode asks = mode::on_request) {
  auto plan = plan_for(asks, workspace_write_profile());
  plan.what.argv = {"apply_patch", "the patch"};
  plan.what.patch = patch_call{"the patch",
                               "/repo",
                               {{change_kind::update, "/repo/a", "", "a"},
                                {change_kind::move, "/repo/c", "/repo/b", "c"},
                                {change_kind::remove, "/repo/d", "", "d"}}};
  plan.runtime.asks_after_denial_on_request = true;
  return plan;
}

flow::attempt_finished with_progress(flow::attempt_finished event, patch_progress done) {
  event.result.patch_done = done;
  return event;
}

const call_report* report_of(const flow::effects& effects) {
  const auto* done = find<flow::finish>(effects);
  return done ? &done->report : nullptr;
}

} // namespace

TEST_SUITE("actors.patch_flow") {
  TEST_CASE("§45 §46 the same machine drives a patch, and its attempt carries it") {
    call_flow machine{patch_plan()};
    const auto started = machine.step(requires_(kind::skip));
    const auto* first = find<flow::start_attempt>(started);
    REQUIRE(first);
    CHECK((*first->what)->patch == patch_plan().what.patch);
    CHECK((*first->what)->sandbox_requested);
    const auto effects = machine.step(with_progress(exited(1), {3, false}));
    const auto* report = report_of(effects);
    REQUIRE(report);
    CHECK(exit_status(*report) == 0);
    CHECK(report->patch->committed == report->patch->asked);
    CHECK(report->message.empty());
  }

  TEST_CASE("§107 what was committed before a denial is reported and not done again") {
    call_flow machine{patch_plan()};
    (void)machine.step(requires_(kind::skip));
    auto effects = machine.step(with_progress(ended(1, attempt_ending::denied), {1, true}));
    const auto* asked = find<flow::ask_review>(effects);
    REQUIRE(asked);
    CHECK(asked->request.without_sandbox);
    CHECK(asked->request.will_be_allowed.find("What is left of the patch") != std::string::npos);
    const auto question = asked->request;

    SUBCASE("a yes goes on behind it") {
      effects = machine.step(answer_to(question, review_decision::approved));
      const auto* second = find<flow::start_attempt>(effects);
      REQUIRE(second);
      CHECK((*second->what)->patch_done == patch_progress{1, true});
      CHECK_FALSE((*second->what)->sandbox_requested);
      effects = machine.step(with_progress(exited(2), {3, false}));
      const auto* report = report_of(effects);
      REQUIRE(report);
      CHECK(report->patch->committed == report->patch->asked);
    }
    SUBCASE("a no keeps it, and says so") {
      effects = machine.step(answer_to(question, review_decision::denied));
      const auto* report = report_of(effects);
      REQUIRE(report);
      CHECK(report->ending == call_ending::refused);
      CHECK(report->patch->committed ==
            std::vector<file_change>{{change_kind::update, "/repo/a", "", "a"},
                                     {change_kind::update, "/repo/c", "", "c"}});
      CHECK(report->message.find("is on disk and stays: update /repo/a, update /repo/c") !=
            std::string::npos);
    }
    SUBCASE("a second attempt that commits nothing more loses nothing") {
      effects = machine.step(answer_to(question, review_decision::approved));
      effects = machine.step(ended(2, attempt_ending::timed_out));
      const auto* report = report_of(effects);
      REQUIRE(report);
      CHECK(report->patch->committed.size() == 2);
    }
  }

  TEST_CASE("§58 §100 no retry for a patch under denied reads or never") {
    auto plan = patch_plan();
    plan.profile = with_denied_read(plan.profile);
    for (auto& p : {plan, patch_plan(mode::never)}) {
      call_flow machine{p};
      (void)machine.step(requires_(kind::skip));
      const auto effects =
          machine.step(with_progress(ended(1, attempt_ending::denied), {1, false}));
      const auto* report = report_of(effects);
      REQUIRE(report);
      CHECK(report->patch->committed.size() == 1);
      CHECK(report->message.find("/repo/a") != std::string::npos);
    }
  }

  TEST_CASE("§50 another patch text, folder or file is another question") {
    const auto digest = [](const call_plan& plan) {
      call_flow machine{plan};
      return find<flow::ask_review>(machine.step(requires_(kind::needs_approval)))->request.digest;
    };
    const auto base = digest(patch_plan());
    auto plan = patch_plan();
    plan.what.patch->text += " ";
    CHECK(digest(plan) != base);
    plan = patch_plan();
    plan.what.patch->cwd = "/repo/sub";
    CHECK(digest(plan) != base);
    plan = patch_plan();
    plan.what.patch->changes[0].path = "/etc/a";
    CHECK(digest(plan) != base);
    CHECK(digest(patch_plan()) == base);
  }

  TEST_CASE("§D16 a patch that cannot be applied ends with 1 and the reason") {
    call_flow machine{patch_plan()};
    (void)machine.step(requires_(kind::skip));
    auto event = exited(1, 1);
    event.result.record.failure = error{errc::io, "patch line 3: no", "look"};
    const auto effects = machine.step(with_progress(std::move(event), {}));
    const auto* report = report_of(effects);
    REQUIRE(report);
    CHECK(exit_status(*report) == 1);
    CHECK(report->message == "The patch was not applied: patch line 3: no.\nNext: look.");
  }
}
