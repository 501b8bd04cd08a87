#include "actors/call_host.hpp"

#include "actors/patch_runtime.hpp"
#include "actors/review_desk.hpp"
#include "actors/reviewers.hpp"
#include "policy/shell/patch_script.hpp"
#include "reactor/actor_scheduler.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

#include <utility>

namespace gatehouse::actors {
namespace {

using namespace std::chrono_literals;

/// Sends one call on its way and keeps its report for the thread that waits.
class waiting_caller : public caf::event_based_actor {
public:
  waiting_caller(caf::actor_config& config, tool_call_actor call, call_start_ptr start,
                 std::shared_ptr<std::optional<call_report>> slot)
      : caf::event_based_actor{config}, call_{std::move(call)}, start_{std::move(start)},
        slot_{std::move(slot)} {}

  caf::behavior make_behavior() override {
    request(call_, caf::infinite, run_v, start_)
        .then(
            [this](const call_report_ptr& report) {
              *slot_ = *report;
              quit();
            },
            [this](caf::error& failed) {
              call_report lost;
              lost.call_id = start_->plan.call_id;
              lost.failure =
                  error{errc::internal, "the call failed: " + system().render(failed), {}};
              lost.message = lost.failure->message;
              *slot_ = std::move(lost);
              quit();
            });
    return {[](cancel_atom) {}};
  }
  void on_exit() override { call_ = nullptr; }

private:
  tool_call_actor call_;
  call_start_ptr start_;
  std::shared_ptr<std::optional<call_report>> slot_;
};

} // namespace

struct call_host::state {
  review_desk_terms desk_terms();

  reactor::event_loop loop;
  reactor::worker_pool workers{loop, 2};
  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  host_terms terms;
  orchestrator_partners partners;
  reviewer_actor person; ///< unset: nobody can be asked
};

review_desk_terms call_host::state::desk_terms() {
  if (terms.ask) person = system->spawn<asking_reviewer>(terms.ask, &workers);
  review_desk_terms desk;
  desk.loop = &loop;
  desk.hooks = terms.hooks.rules;
  desk.hook_context = terms.hooks.context;
  desk.hook_env = terms.hooks.env;
  if (terms.guardian) desk.guardian = run_guardian_program(loop, *terms.guardian);
  desk.auto_review = terms.auto_review;
  desk.approval = terms.approval;
  desk.boundary = terms.boundary;
  desk.user = person;
  desk.no_user_reason = terms.nobody_reason;
  desk.memory = std::make_shared<review_memory>();
  desk.warn = terms.hooks.warn;
  return desk;
}

call_host::call_host(host_terms terms) : state_{std::make_unique<state>()} {
  auto& s = *state_;
  s.terms = std::move(terms);
  s.terms.shell.loop = &s.loop;
  reactor::run_actors_on(s.loop, s.config);
  s.system.emplace(s.config);
  s.partners.runtime = s.system->spawn<shell_runtime>(s.terms.shell);
  s.partners.patches =
      s.system->spawn<patch_runtime>(patch_runtime_terms{s.terms.shell, s.terms.patch_program});
  s.terms.hooks.loop = &s.loop;
  s.partners.reviewer = s.system->spawn<review_desk>(s.desk_terms());
  if (s.terms.add_rule)
    s.partners.amendments = s.system->spawn<rule_keeper>(s.terms.add_rule, &s.workers);
}

call_host::~call_host() {
  auto& s = *state_;
  constexpr auto why = caf::exit_reason::user_shutdown;
  caf::anon_send_exit(s.partners.reviewer, why);
  if (s.person) caf::anon_send_exit(s.person, why);
  s.person = nullptr;
  caf::anon_send_exit(s.partners.runtime, why);
  caf::anon_send_exit(s.partners.patches, why);
  if (s.partners.amendments) caf::anon_send_exit(s.partners.amendments, why);
  s.partners = {};
  (void)reactor::run_until_actors_done(s.loop, *s.system, 10s);
  s.system.reset();
}

reactor::event_loop& call_host::loop() noexcept {
  return state_->loop;
}

call_report call_host::run(call_start start, const std::function<bool()>& stop) {
  auto& s = *state_;
  const auto slot = std::make_shared<std::optional<call_report>>();
  const auto make = [&s]() -> tool_call_actor {
    return s.system->spawn<tool_call>(s.terms.judgement, s.partners, item_actor{});
  };
  // A patch is heard of by the hooks of patches, and, where it came as a command, of commands.
  const auto make_patch = [&s, make]() -> tool_call_actor {
    return s.system->spawn<hooked_call>(s.terms.hooks, hook_tool::apply_patch, make);
  };
  tool_call_actor call;
  if (s.terms.hooks.rules.empty())
    call = make();
  else if (!start.plan.what.argv.empty() && policy::is_patch_tool(start.plan.what.argv.front()))
    call = make_patch();
  else
    call = s.system->spawn<hooked_call>(s.terms.hooks, hook_tool::shell_command, make_patch);
  s.system->spawn<waiting_caller>(call, std::make_shared<const call_start>(std::move(start)), slot);
  bool stopped = false;
  s.loop.run_until([&] {
    if (stop && !stopped && stop()) {
      stopped = true;
      caf::anon_send(call, cancel_v);
    }
    return slot->has_value();
  });
  return **slot;
}

} // namespace gatehouse::actors
