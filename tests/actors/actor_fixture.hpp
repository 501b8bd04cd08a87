#pragma once

#include "actors/tool_call.hpp"
#include "policy/rules/rule_file.hpp"
#include "tests/actors/flow_driver.hpp"

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gatehouse::test {

/// What the actors around a call did, and what the partners shall answer. Shared with them.
struct stage {
  std::function<std::optional<actors::attempt_result>(const attempt&)> run;
  std::function<std::optional<review_answer>(const review_request&)> review;
  std::optional<actors::network_context> network_sees;
  bool network_fails = false;

  std::vector<attempt_ptr> attempts;
  std::vector<review_request> questions;
  std::vector<std::string> withdrawn;
  std::vector<std::string> cancelled;
  std::vector<actors::approved_rule> rules_added;
  std::vector<std::string> registered;
  std::vector<std::string> closed;
  std::vector<thread_event_body> events;
};

class scripted_runtime : public actors::runtime_actor::base {
public:
  scripted_runtime(caf::actor_config& config, stage* s)
      : actors::runtime_actor::base{config}, stage_{s} {}
  behavior_type make_behavior() override {
    return {[this](actors::run_atom,
                   const attempt_ptr& what) -> caf::result<actors::attempt_result_ptr> {
              stage_->attempts.push_back(what);
              promise_ = make_response_promise<actors::attempt_result_ptr>();
              auto answer = promise_;
              if (auto result = stage_->run(*what))
                promise_.deliver(
                    std::make_shared<const actors::attempt_result>(std::move(*result)));
              return answer;
            },
            [this](actors::cancel_atom, const std::string& call) {
              stage_->cancelled.push_back(call);
              if (!promise_.pending()) return;
              actors::attempt_result over;
              over.record.number = (*stage_->attempts.back())->number;
              over.record.ending = attempt_ending::cancelled;
              promise_.deliver(std::make_shared<const actors::attempt_result>(std::move(over)));
            }};
  }
  void on_exit() override { promise_ = {}; }

private:
  stage* stage_;
  caf::typed_response_promise<actors::attempt_result_ptr> promise_;
};

class scripted_reviewer : public actors::reviewer_actor::base {
public:
  scripted_reviewer(caf::actor_config& config, stage* s)
      : actors::reviewer_actor::base{config}, stage_{s} {}
  behavior_type make_behavior() override {
    return {
        [this](actors::review_atom, const actors::review_request_ptr& question)
            -> caf::result<actors::review_answer_ptr> {
          stage_->questions.push_back(*question);
          promise_ = make_response_promise<actors::review_answer_ptr>();
          auto answer = promise_;
          if (auto given = stage_->review(*question))
            promise_.deliver(std::make_shared<const review_answer>(std::move(*given)));
          return answer;
        },
        [this](actors::withdraw_atom, const std::string& id) { stage_->withdrawn.push_back(id); }};
  }
  void on_exit() override {
    if (promise_.pending()) promise_.deliver(caf::make_error(caf::sec::runtime_error));
    promise_ = {};
  }

private:
  stage* stage_;
  caf::typed_response_promise<actors::review_answer_ptr> promise_;
};

class scripted_network : public actors::network_actor::base {
public:
  scripted_network(caf::actor_config& config, stage* s)
      : actors::network_actor::base{config}, stage_{s} {}
  behavior_type make_behavior() override {
    return {[this](actors::open_atom,
                   const actors::network_open_ptr& open) -> caf::result<std::string> {
              if (stage_->network_fails) return caf::make_error(caf::sec::runtime_error);
              stage_->registered.push_back(open->call_id + "/" + std::to_string(open->attempt));
              return stage_->registered.back();
            },
            [](actors::cancel_atom, const std::string&) {},
            [this](actors::close_atom, const std::string& registration) -> actors::network_end_ptr {
              stage_->closed.push_back(registration);
              return std::make_shared<const actors::network_end>(
                  end_with(stage_->network_sees).seen);
            }};
  }

private:
  stage* stage_;
};

class recording_observer : public actors::observer_actor::base {
public:
  recording_observer(caf::actor_config& config, stage* s)
      : actors::observer_actor::base{config}, stage_{s} {}
  behavior_type make_behavior() override {
    return {[this](actors::event_atom, const actors::event_body_ptr& event) {
      stage_->events.push_back(*event);
    }};
  }

private:
  stage* stage_;
};

class recording_amendments : public actors::amendment_actor::base {
public:
  recording_amendments(caf::actor_config& config, stage* s)
      : actors::amendment_actor::base{config}, stage_{s} {}
  behavior_type make_behavior() override {
    return {[this](actors::add_rule_atom, const actors::rule_ptr& rule) {
      stage_->rules_added.push_back(*rule);
    }};
  }

private:
  stage* stage_;
};

/// An actor system that moves only when the test says so, with scripted partners.
class actor_fixture {
public:
  explicit actor_fixture(std::string_view rules = {}) : sys_{prepare(config_)} {
    stage_.run = [](const attempt& what) { return exited(what->number).result; };
    stage_.review = [](const review_request& question) {
      return answer_to(question, review_decision::approved).answer;
    };
    std::vector<policy::rule_file> files;
    files.push_back(policy::read_rule_file(rules, "test.rules", {}));
    REQUIRE(files.front().problems.empty());
    terms_.rules = std::make_shared<const policy::rule_set>(std::move(files));
    terms_.search = {"/", "/", "/usr/bin:/bin", {"/repo"}};
    partners_.reviewer = own(sys_.spawn<scripted_reviewer>(&stage_));
    partners_.runtime = own(sys_.spawn<scripted_runtime>(&stage_));
    partners_.network = own(sys_.spawn<scripted_network>(&stage_));
    partners_.amendments = own(sys_.spawn<recording_amendments>(&stage_));
    partners_.observer = own(sys_.spawn<recording_observer>(&stage_));
    deliver();
  }
  ~actor_fixture() {
    partners_ = {};
    call_ = nullptr;
    for (auto& child : children_)
      caf::anon_send_exit(child, caf::exit_reason::kill);
    children_.clear();
    deliver();
    sys_.await_actors_before_shutdown(false); // a leak fails the check below, it does not hang
    CHECK(sys_.registry().running() == 1);    // the scoped actor of this fixture
  }

  template <class Handle>
  Handle own(Handle handle) {
    children_.push_back(caf::actor_cast<caf::actor>(handle));
    return handle;
  }

  void begin(actors::call_plan plan, std::optional<exec_requirement> refusal = {}) {
    call_ = sys_.spawn<actors::tool_call>(terms_, partners_);
    reply_.emplace(self_->request(call_, caf::infinite, actors::run_v,
                                  std::make_shared<const actors::call_start>(
                                      actors::call_start{std::move(plan), std::move(refusal)})));
  }

  /// Delivers messages, in order or in a random one, until nothing moves.
  void deliver() {
    while (scheduler().try_run_once()) {
    }
  }
  void deliver_shuffled(std::mt19937& random) {
    auto& jobs = scheduler().jobs;
    while (!jobs.empty()) {
      std::rotate(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(random() % jobs.size()),
                  jobs.end());
      scheduler().run_once();
    }
  }

  std::optional<call_report> report() {
    std::optional<call_report> got;
    if (self_->has_next_message())
      reply_->receive([&](const call_report_ptr& r) { got = *r; },
                      [&](caf::error& e) { FAIL(sys_.render(e)); });
    return got;
  }

  call_report run(actors::call_plan plan, std::optional<exec_requirement> refusal = {}) {
    begin(std::move(plan), std::move(refusal));
    deliver();
    auto got = report();
    REQUIRE(got);
    return std::move(*got);
  }

  void cancel() { caf::anon_send(call_, actors::cancel_v); }
  void kill_call() { caf::anon_send_exit(call_, caf::exit_reason::user_shutdown); }

  stage stage_;
  actors::judgement_terms terms_;
  actors::orchestrator_partners partners_;

private:
  static caf::actor_system_config& prepare(caf::actor_system_config& config) {
    config.set("scheduler.policy", caf::atom("testing"));
    return config;
  }
  caf::scheduler::test_coordinator& scheduler() {
    return dynamic_cast<caf::scheduler::test_coordinator&>(sys_.scheduler());
  }
  using reply_handle = decltype(std::declval<caf::scoped_actor&>()->request(
      std::declval<const actors::tool_call_actor&>(), caf::infinite, actors::run_v,
      std::declval<actors::call_start_ptr>()));

  caf::actor_system_config config_;
  caf::actor_system sys_;
  caf::scoped_actor self_{sys_, true};
  actors::tool_call_actor call_;
  std::vector<caf::actor> children_;
  std::optional<reply_handle> reply_;
};

} // namespace gatehouse::test
