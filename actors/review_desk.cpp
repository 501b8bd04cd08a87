#include "actors/review_desk.hpp"

#include "actors/hook_command.hpp"
#include "actors/real_places.hpp"
#include "protocol/shell_quote.hpp"
#include "protocol/visible_text.hpp"
#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

namespace gatehouse::actors {

review_desk::review_desk(caf::actor_config& config, review_desk_terms terms)
    : review_desk_actor::base{config}, terms_{std::move(terms)} {}

void review_desk::on_exit() {
  for (auto& [id, open] : open_) {
    carry_out(open, open->way.step(route::expired{}));
    open->hooks.reset();
    open->guardian.reset();
  }
  open_.clear();
  terms_ = {};
}

review_desk::behavior_type review_desk::make_behavior() {
  return {
      [this](review_atom, const review_request_ptr& question) { return take(question); },
      [this](withdraw_atom, const std::string& id) { feed(id, route::withdrawn{}); },
      [this](report_atom, const std::string& id) {
        const auto found = open_.find(id);
        if (found == open_.end() || !found->second->arrived) return;
        auto event = *std::exchange(found->second->arrived, std::nullopt);
        found->second->hooks.reset();
        found->second->guardian.reset();
        feed(id, std::move(event));
      },
      [this](expire_atom, const std::string& id) { feed(id, route::expired{}); },
  };
}

hook_tool review_desk::tool_of(const review_request& question) const {
  if (question.network) return hook_tool::network_access;
  if (question.what.patch) return hook_tool::apply_patch;
  return hook_tool_of(question.tool);
}

caf::result<review_answer_ptr> review_desk::take(const review_request_ptr& question) {
  auto promise = make_response_promise<review_answer_ptr>();
  auto answer = promise;
  if (open_.contains(question->review_id)) {
    promise.deliver(std::make_shared<const review_answer>(
        review_answer{question->review_id, question->digest, review_decision::denied,
                      reviewer_kind::none, "a question with this id is open already"}));
    return answer;
  }
  auto asked = *question;
  asked.time_limit = terms_.user_limit;
  const auto tool = tool_of(asked);
  review_terms terms;
  terms.hooks = !terms_.hooks.matching(hook_event::permission_request, tool).empty();
  terms.guardian =
      terms_.guardian && guardian_in_charge(terms_.approval ? terms_.approval() : approval_policy{},
                                            terms_.auto_review, asked.strict);
  terms.user = terms_.user && (!terms_.user_present || terms_.user_present());
  terms.no_user_reason = terms_.no_user_reason;
  terms.overridden = terms_.memory->overrides.take(asked.digest);
  std::vector<std::string> keys;
  // What was answered about a host is remembered by who asks about hosts (§111); permissions and
  // input to a terminal are never remembered (§52).
  const bool keyed = tool == hook_tool::shell_command || tool == hook_tool::exec_command ||
                     tool == hook_tool::apply_patch;
  if (keyed && terms_.session_scope && asked.attempt == 1 && !asked.strict && !asked.network)
    keys = asked.what.patch
               ? patch_keys_of(asked, touched_paths(asked.what.patch->changes), terms_.policy())
               : approval_keys_of(asked, tool == hook_tool::exec_command,
                                  asked.what.environment_id == "local" ? folder_key(asked.what.cwd)
                                                                       : "",
                                  terms_.policy());
  // What runs outside the sandbox must not change under an answer that holds for the session.
  if (!keys.empty() && asked.without_sandbox && !asked.what.patch && terms_.changeable)
    if (const auto file = terms_.changeable(asked.what); !file.empty()) {
      keys.clear();
      asked.will_be_allowed += " Only this once: commands inside the sandbox can change " +
                               visible_text(file) + ", which it names.";
    }
  if (!asked.network)
    asked.session_offered = !keys.empty() || tool == hook_tool::request_permissions;
  terms.settled = terms_.memory->approvals.covers(keys);

  auto open = std::make_shared<open_question>(review_route{std::move(asked), std::move(terms)},
                                              *terms_.loop);
  open->promise = std::move(promise);
  open->keys = std::move(keys);
  open_[question->review_id] = open;
  carry_out(open, open->way.begin());
  if (open->way.finished()) open_.erase(question->review_id);
  return answer;
}

void review_desk::feed(const std::string& id, route::event event) {
  const auto found = open_.find(id);
  if (found == open_.end()) return;
  const auto open = found->second; // outlives its entry
  carry_out(open, open->way.step(std::move(event)));
  if (open->way.finished()) open_.erase(id);
}

void review_desk::carry_out(const question_ptr& open, route::effects effects) {
  for (auto& effect : effects)
    std::visit([&](auto& e) { carry_out(open, e); }, effect);
}

void review_desk::carry_out(const question_ptr& open, route::ask_hooks&) {
  const auto& asked = open->way.question();
  tell(thread_events::review_asked{asked, reviewer_kind::hook});
  const auto tool = tool_of(asked);
  hook_question question;
  if (terms_.hook_context) question.payload = terms_.hook_context();
  question.payload.event = hook_event::permission_request;
  question.payload.cwd = asked.what.cwd;
  question.payload.tool_name = tool_name(tool);
  if (tool == hook_tool::request_permissions)
    question.payload.tool_input = hook_permissions_input{
        asked.what.justification,
        asked.what.additional_permissions.value_or(additional_permissions{})};
  else
    question.payload.tool_input = hook_command_input{
        hook_command_text(asked.what),
        asked.network ? "network-access " + to_string(*asked.network) : asked.what.justification};
  question.payload.asked = hook_wishes_of(asked.what);
  question.payload.reason = asked.reason;
  question.payload.without_sandbox = asked.without_sandbox;
  question.handlers = terms_.hooks.matching(hook_event::permission_request, tool);
  question.retry = asked.attempt > 1;
  question.place = terms_.hook_place;
  open->hooks = std::make_unique<hook_round>(
      *terms_.loop, std::move(question),
      [self = caf::actor_cast<review_desk_actor>(this), id = asked.review_id,
       weak = std::weak_ptr{open}, warn = terms_.warn](hook_decision decision) {
        if (warn)
          for (const auto& text : decision.warnings)
            warn(text);
        if (const auto still = weak.lock()) {
          still->arrived = route::hooks_answered{decision.verdict, std::move(decision.reason)};
          caf::anon_send(self, report_v, id);
        }
      });
}

void review_desk::carry_out(const question_ptr& open, route::ask_guardian&) {
  const auto& asked = open->way.question();
  if (terms_.memory->breaker.open()) {
    feed(asked.review_id, route::guardian_answered{{}, terms_.memory->breaker.reason()});
    return;
  }
  const auto prompt = guardian_prompt(
      asked, terms_.transcript ? terms_.transcript() : std::vector<transcript_entry>{},
      terms_.boundary ? terms_.boundary() : std::string{});
  if (!prompt) {
    feed(asked.review_id, route::guardian_answered{
                              {guardian_result::kind::unavailable, prompt.error().message}, {}});
    return;
  }
  tell(thread_events::review_asked{asked, reviewer_kind::guardian});
  open->guardian =
      terms_.guardian(guardian_question{asked.review_id, *prompt},
                      [this, self = caf::actor_cast<review_desk_actor>(this), id = asked.review_id,
                       weak = std::weak_ptr{open}](const guardian_reply& reply) {
                        if (const auto still = weak.lock()) {
                          still->arrived = weigh(reply);
                          caf::anon_send(self, report_v, id);
                        }
                      });
}

route::event review_desk::weigh(const guardian_reply& reply) {
  auto& breaker = terms_.memory->breaker;
  auto result = judge_reply(reply);
  if (result.what == guardian_result::kind::allowed) breaker.allowed();
  if (result.what == guardian_result::kind::refused) breaker.refused();
  // An allow that was under way when another refusal opened the breaker does not count any more.
  return route::guardian_answered{std::move(result), breaker.reason()};
}

void review_desk::carry_out(const question_ptr& open, route::ask_user&) {
  const auto id = open->way.question().review_id;
  open->at_user = true;
  if (terms_.user_limit.count() > 0)
    open->limit.start(terms_.user_limit, [self = caf::actor_cast<review_desk_actor>(this), id] {
      caf::anon_send(self, expire_v, id);
    });
  request(terms_.user, caf::infinite, review_v,
          std::make_shared<const review_request>(open->way.question()))
      .then([this, id](const review_answer_ptr& given) { feed(id, route::user_answered{*given}); },
            [this, id](caf::error&) { feed(id, route::user_gone{}); });
}

void review_desk::carry_out(const question_ptr& open, route::withdraw&) {
  open->hooks.reset();
  open->guardian.reset();
  if (open->at_user) send(terms_.user, withdraw_v, open->way.question().review_id);
}

void review_desk::carry_out(const question_ptr&, route::warn_user& effect) {
  warn(effect.text);
}

void review_desk::carry_out(const question_ptr& open, route::reply& effect) {
  open->limit.cancel();
  const auto& what = open->way.question().what;
  auto& approvals = terms_.memory->approvals;
  if (what.patch && !open->keys.empty()) { // each file can be revoked by itself
    const auto paths = touched_paths(what.patch->changes);
    for (std::size_t i = 0; i < paths.size(); ++i)
      approvals.remember(effect.answer.decision, {&open->keys[i], 1},
                         "patch " + shell_quote(paths[i]));
  } else {
    approvals.remember(effect.answer.decision, open->keys, describe(what));
  }
  tell(thread_events::review_resolved{open->way.question().call_id, open->way.question().attempt,
                                      effect.answer});
  open->promise.deliver(std::make_shared<const review_answer>(std::move(effect.answer)));
}

void review_desk::tell(thread_event_body what) {
  if (terms_.observer)
    send(terms_.observer, event_v, std::make_shared<const thread_event_body>(std::move(what)));
}

void review_desk::warn(const std::string& text) const {
  if (terms_.warn) terms_.warn(text);
}

} // namespace gatehouse::actors
