#include "actors/hooked_call.hpp"
#include "actors/patch_intake.hpp"
#include "actors/random_id.hpp"
#include "actors/session_refusals.hpp"
#include "actors/session_thread.hpp"
#include "policy/path_text.hpp"
#include "policy/shell/patch_script.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/shell_quote.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

/// The calls of a thread: its part of actors/session_thread.hpp.
namespace gatehouse::actors {
namespace {

thread_events::planned_patch_ptr patch_of(const proposal& what) {
  auto read = policy::read_patch_command(what.argv);
  if (!read.patch) return nullptr;
  return std::make_shared<const thread_events::planned_patch>(thread_events::planned_patch{
      std::move(read.patch->text), policy::absolute_below(what.cwd, read.patch->folder)});
}

} // namespace

tool_call_actor session_thread::spawn_call(orchestrator_partners partners, hook_tool tool) {
  const auto make = [system = &system(), judgement = terms_.judgement,
                     partners = std::move(partners)]() -> tool_call_actor {
    return system->spawn<tool_call>(judgement, partners);
  };
  if (terms_.hooks.rules.empty()) return make();
  auto hooks = terms_.hooks;
  hooks.context = now_->hooks;
  const auto make_patch = [system = &system(), hooks, make]() -> tool_call_actor {
    return system->spawn<hooked_call>(hooks, hook_tool::apply_patch, make);
  };
  if (tool == hook_tool::apply_patch) return make_patch();
  return system().spawn<hooked_call>(std::move(hooks), tool, make_patch);
}

std::optional<error> session_thread::cannot_begin(const tool_request& asked) {
  if (asked.call_id.empty() || asked.call_id.size() > longest_id)
    return wrong_order("a call id has 1 to " + std::to_string(longest_id) + " bytes");
  if (used_ids_.contains(asked.call_id))
    return wrong_order("the id `" + asked.call_id +
                           "` was used before in this thread, and what became of it is no longer "
                           "known",
                       "Look at what it did before the same is run again under another id.");
  if (used_ids_.is_full()) return too_many_ids(used_ids_.most());
  // A call of the turn that was stopped is an item like any other (§D11), and refused.
  const bool stopped = !stopped_because_.empty() && asked.turn_id == stopped_turn_;
  if (!asked.turn_id.empty() && asked.turn_id != turn_ && !stopped)
    return error{errc::not_found, "the turn `" + asked.turn_id + "` is not open", {}};
  return std::nullopt;
}

void session_thread::on(const thread_messages::begin_call& m) {
  const auto& asked = m.request;
  auto why = closing_ ? wrong_order("the thread is closing") : cannot_begin(asked);
  if (why) {
    if (m.done) m.done(*std::move(why));
    return;
  }
  used_ids_.add(asked.call_id);
  if (turn_.empty() && stopped_because_.empty()) open_turn({});
  look_at_settings();
  if (const auto* wish = std::get_if<permissions_request>(&asked.arguments))
    return ask_permissions(asked, *wish, m.done);
  auto planned = plan_of(asked.arguments);
  planned.plan.call_id = asked.call_id;
  planned.plan.review_nonce = random_id();
  run(asked, std::move(planned), m.done);
}

planned_call session_thread::plan_of(const tool_arguments& asked) {
  planned_call planned;
  if (const auto* order = std::get_if<stdin_arguments>(&asked)) {
    planned.plan.what.argv = {"write_stdin", std::to_string(order->session_id), order->chars};
    planned.plan.what.cwd = now_->session.cwd;
  } else {
    const auto* terminal = std::get_if<terminal_request>(&asked);
    planned =
        plan_call(now_->session, terminal ? terminal->command : std::get<shell_request>(asked),
                  granted_now());
    planned.plan.what.tty = terminal && terminal->tty;
  }
  planned.plan.home = terms_.judgement.search.home;
  planned.plan.tool = tool_name(asked);
  return planned;
}

std::optional<error> session_thread::cannot_judge() {
  auto unknown = settings_error_ ? settings_error_ : look_at_rules();
  if (auto moved = moved_folder(now_->session.real_roots))
    unknown = error{errc::boundary_failed, *std::move(moved), {}};
  return unknown;
}

void session_thread::on(const thread_messages::explain_call& m) {
  m.done(closing_ ? wrong_order("the thread is closing") : explain(m.arguments));
}

result<thread_messages::explained_call> session_thread::explain(const tool_arguments& asked) {
  if (!std::holds_alternative<shell_request>(asked) &&
      !std::holds_alternative<terminal_request>(asked))
    return error{errc::invalid_request,
                 "a call of " + std::string{tool_name(asked)} + " is not judged by policy",
                 "shell_command, exec_command and apply_patch can be explained."};
  look_at_settings();
  auto planned = plan_of(asked);
  if (auto unknown = cannot_judge()) return *std::move(unknown);
  auto& plan = planned.plan;
  thread_messages::explained_call told;
  auto patch = result<std::optional<patch_intake>>{std::optional<patch_intake>{}};
  if (!planned.handler_refusal) patch = take_in_patch(plan, terms_.judgement);
  if (!patch) return patch.error();
  if (*patch) {
    plan = std::move((*patch)->plan);
    told.evaluation = std::move((*patch)->evaluation);
  } else {
    told.evaluation = judge(plan, terms_.judgement);
  }
  told.strict_review = plan.strict_review;
  auto& requirement = told.evaluation.requirement;
  const auto refuse = [&](std::string why) {
    requirement = {};
    requirement.reason = std::move(why);
    requirement.refused_by = refused_by::handler;
  };
  if (planned.handler_refusal) requirement = *std::move(planned.handler_refusal);
  if (plan.what.patch && !partners_.patches) refuse("patches are not applied here");
  if (!stopped_because_.empty()) refuse(turn_over_message(stopped_because_));
  told.sandbox = call_flow::first_boundary(plan, requirement);
  return told;
}

session_thread::running_call&
session_thread::begin_item(const std::string& id, const std::string& tool, const proposal& what,
                           std::function<void(const result<call_report_ptr>&)> on_end) {
  auto patch = patch_of(what);
  publish(thread_events::item_started{id, tool, what, patch}, turn_);
  note({transcript_entry::kind::tool_call, tool,
        what.argv.empty() ? what.justification : shell_join(what.argv)});
  auto& call = running_[id];
  call.told.turn = turn_;
  call.told.patch = std::move(patch);
  call.told.output_withheld =
      !terms_.hooks.rules.matching(hook_event::post_tool_use, hook_tool_of(tool)).empty();
  call.tool = tool;
  call.done = std::move(on_end);
  if (audit_.sink)
    audit_.sink->record(entry(audit_kind::request, id, audit_request(tool, what)), {});
  return call;
}

bool session_thread::refuse_after_stop(const std::string& id) {
  if (stopped_because_.empty()) return false;
  call_report report;
  report.call_id = id;
  report.ending = call_ending::refused;
  report.message = turn_over_message(stopped_because_);
  ended(id, std::make_shared<const call_report>(std::move(report)));
  return true;
}

void session_thread::end_unjudged(const std::string& call_id, const error& why) {
  call_report report;
  report.call_id = call_id;
  report.message = failure_message(why);
  report.failure = why;
  ended(call_id, std::make_shared<const call_report>(std::move(report)));
}

void session_thread::run(const tool_request& asked, planned_call planned,
                         std::function<void(const result<call_report_ptr>&)> on_end) {
  const auto id = asked.call_id;
  auto& call = begin_item(id, planned.plan.tool, planned.plan.what, std::move(on_end));
  if (refuse_after_stop(id)) return;
  if (const auto unknown = cannot_judge()) return end_unjudged(id, *unknown);
  if (const auto* terminal = std::get_if<terminal_request>(&asked.arguments))
    return exec_command(id, *terminal, std::move(planned));
  if (const auto* order = std::get_if<stdin_arguments>(&asked.arguments))
    return write_stdin(id, *order);
  const auto& argv = planned.plan.what.argv;
  call.actor = spawn_call(partners_, !argv.empty() && policy::is_patch_tool(argv.front())
                                         ? hook_tool::apply_patch
                                         : hook_tool::shell_command);
  request(call.actor, caf::infinite, run_v,
          std::make_shared<const call_start>(
              call_start{std::move(planned.plan), std::move(planned.handler_refusal)}))
      .then(
          [this, id](const call_report_ptr& report) { ended(id, report); },
          [this, id](caf::error& failed) {
            call_report lost;
            lost.call_id = id;
            lost.failure = error{errc::internal, "the call failed: " + system().render(failed), {}};
            lost.message = failure_message(*lost.failure);
            ended(id, std::make_shared<const call_report>(std::move(lost)));
          });
}

void session_thread::conclude(const std::string& call_id, const call_report_ptr& report) {
  auto found = running_.extract(call_id);
  if (found.empty()) return;
  const auto& call = found.mapped();
  note({transcript_entry::kind::tool_result, call.tool,
        report->message.empty() ? report->output.aggregated
                                : report->message + "\n" + report->output.aggregated});
  publish(thread_events::item_ended{report, call.told.patch}, call.told.turn);
  if (report->session_id && call.tool == "exec_command") {
    background_[call_id] = call.told;
    if (call.session_end) terminal_ended(*call.session_end);
  }
  if (call.done) call.done(report);
  const bool stopped = report->ending == call_ending::aborted && !report->reviews.empty() &&
                       report->reviews.back().decision == review_decision::abort;
  if (stopped && call.told.turn == turn_) {
    const auto& last = report->reviews.back();
    stop_turn(last.reviewer == reviewer_kind::guardian
                  ? "the automatic reviewer stopped it: " + last.reason
                  : "the user stopped it");
  }
  dismiss_retired();
  finish_closing();
}

void session_thread::on(const thread_messages::cancel_call& m) {
  if (const auto call = running_.find(m.call_id); call != running_.end())
    cancel(call->first, call->second);
}

} // namespace gatehouse::actors
