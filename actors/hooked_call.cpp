#include "actors/hooked_call.hpp"

#include "actors/hook_command.hpp"
#include "policy/shell/patch_script.hpp"
#include "protocol/denial_message.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

namespace gatehouse::actors {
namespace {

exec_requirement refused_by_hook(std::string reason) {
  exec_requirement requirement;
  requirement.kind = requirement_kind::forbidden;
  requirement.reason = std::move(reason);
  requirement.refused_by = refused_by::hook;
  return requirement;
}

void add_line(std::string& text, const std::string& line) {
  if (!text.empty()) text += '\n';
  text += line;
}

} // namespace

call_start after_pre_tool_use(call_start call, const hook_decision& said, hook_tool tool) {
  if (said.verdict == hook_verdict::deny) {
    call.handler_refusal = refused_by_hook(said.reason);
  } else if (said.rewritten) {
    auto changed = tool == hook_tool::apply_patch
                       ? result<proposal>{with_hook_patch(call.plan.what, *said.rewritten)}
                       : with_hook_command(call.plan.what, *said.rewritten);
    if (changed)
      call.plan.what = *std::move(changed);
    else
      call.handler_refusal = refused_by_hook(changed.error().message);
  }
  return call;
}

call_report after_post_tool_use(call_report report, const hook_decision& said) {
  if (said.verdict == hook_verdict::deny) {
    report.output = {};
    report.message = said.reason;
  }
  for (const auto& context : said.contexts)
    add_line(report.message, context);
  return report;
}

hooked_call::hooked_call(caf::actor_config& config, hook_settings hooks, hook_tool tool,
                         std::function<tool_call_actor()> make)
    : hooked_call_actor::base{config}, hooks_{std::move(hooks)}, tool_{tool}, make_{std::move(
                                                                                  make)} {}

void hooked_call::on_exit() {
  round_.reset();
  if (caller_.pending()) {
    if (inner_) send(inner_, cancel_v);
    call_report stopped;
    stopped.call_id = call_.plan.call_id;
    stopped.ending = call_ending::aborted;
    stopped.message = cancelled_message();
    caller_.deliver(std::make_shared<const call_report>(std::move(stopped)));
  }
  inner_ = nullptr;
  make_ = nullptr;
  caller_ = {}; // it refers to this actor
}

hooked_call::behavior_type hooked_call::make_behavior() {
  return {
      [this](run_atom, const call_start_ptr& call) -> caf::result<call_report_ptr> {
        caller_ = make_response_promise<call_report_ptr>();
        auto answer = caller_;
        call_ = *call;
        if (cancelled_)
          give_up_hooks();
        else
          ask(hook_event::pre_tool_use, {});
        return answer;
      },
      [this](cancel_atom) {
        if (std::exchange(cancelled_, true) || !caller_.pending()) return;
        if (inner_ && !report_)
          send(inner_, cancel_v);
        else
          give_up_hooks();
      },
      [this](report_atom, const std::string&) { hooks_spoke(); },
  };
}

// Around a call that is no patch the hooks of patches have nothing to say.
std::vector<hook_handler> hooked_call::handlers(hook_event event) const {
  if (tool_ == hook_tool::apply_patch && !policy::read_patch_command(call_.plan.what.argv).patch)
    return {};
  return hooks_.rules.matching(event, tool_);
}

std::string hooked_call::command_text() const {
  if (tool_ == hook_tool::apply_patch)
    if (auto reading = policy::read_patch_command(call_.plan.what.argv); reading.patch)
      return std::move(reading.patch->text);
  return hook_command_text(call_.plan.what);
}

void hooked_call::ask(hook_event event, std::string response) {
  hook_question question;
  question.payload = hooks_.context;
  question.payload.event = event;
  question.payload.cwd = call_.plan.what.cwd;
  question.payload.tool_name = tool_name(tool_);
  question.payload.tool_input = hook_command_input{command_text(), {}};
  question.payload.asked = hook_wishes_of(call_.plan.what);
  question.payload.tool_use_id = call_.plan.call_id;
  question.payload.tool_response = std::move(response);
  question.handlers = handlers(event);
  question.place = hooks_.place;
  round_ = std::make_unique<hook_round>(
      *hooks_.loop, std::move(question),
      [this, self = caf::actor_cast<hooked_call_actor>(this)](hook_decision said) {
        said_ = std::move(said);
        caf::anon_send(self, report_v, std::string{});
      });
}

// Before: the call is an item all the same (§D11), one that never runs. After: what the hooks have
// not seen, the model does not see either.
void hooked_call::give_up_hooks() {
  said_.emplace();
  said_->verdict = hook_verdict::deny;
  said_->reason = "the call was cancelled while its hooks were asked";
  if (report_) {
    report_->ending = call_ending::aborted;
    said_->reason += ", after its command had ended; what that said is withheld";
  }
  hooks_spoke();
}

void hooked_call::hooks_spoke() {
  if (!said_) return;
  const auto said = *std::exchange(said_, std::nullopt);
  round_.reset();
  if (hooks_.warn)
    for (const auto& text : said.warnings)
      hooks_.warn(text);
  if (report_) return end(after_post_tool_use(*std::exchange(report_, std::nullopt), said));
  contexts_ = said.contexts;
  call_ = after_pre_tool_use(std::move(call_), said, tool_);
  go_on();
}

void hooked_call::go_on() {
  inner_ = make_();
  request(inner_, caf::infinite, run_v, std::make_shared<const call_start>(call_))
      .then([this](const call_report_ptr& report) { reported(*report); },
            [this](caf::error& e) {
              call_report lost;
              lost.call_id = call_.plan.call_id;
              lost.failure = error{errc::internal, "the call failed: " + system().render(e), {}};
              lost.message = failure_message(*lost.failure);
              end(std::move(lost));
            });
}

void hooked_call::reported(const call_report& report) {
  auto own = report;
  for (const auto& context : contexts_)
    add_line(own.message, context);
  if (cancelled_ && own.ending == call_ending::refused) {
    own.ending = call_ending::aborted;
    own.message = cancelled_message();
  }
  // What never ran has no result that a hook could look at.
  if (own.attempts.empty()) return end(std::move(own));
  // A session that goes on has no result yet either: the poll that sees its end asks them (§124).
  if (own.attempts.back().ending == attempt_ending::running) return end(std::move(own));
  auto response = own.output.aggregated;
  report_ = std::move(own);
  ask(hook_event::post_tool_use, std::move(response));
}

void hooked_call::end(call_report report) {
  caller_.deliver(std::make_shared<const call_report>(std::move(report)));
  quit();
}

} // namespace gatehouse::actors
