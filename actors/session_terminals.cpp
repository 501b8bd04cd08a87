#include "actors/hooked_call.hpp"
#include "actors/session_thread.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/exec_result.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

/// The terminal sessions of a thread: its part of actors/session_thread.hpp.
namespace gatehouse::actors {
namespace {

constexpr std::uint64_t default_output_tokens = 10'000;

/// What happens in sessions, as the thread's own events.
thread_event_body event_of(const process_event& event) {
  if (const auto* said = std::get_if<process_event::output>(&event.what))
    return thread_events::output_delta{event.call_id, event.attempt, said->stream, said->bytes};
  if (const auto* told = std::get_if<process_event::interaction>(&event.what))
    return thread_events::terminal_interaction{event.call_id, event.session_id, told->chars};
  return thread_events::terminal_ended{event.call_id, event.session_id,
                                       std::get<process_event::ended>(event.what).how};
}

} // namespace

process_terms session_thread::process_terms_now() {
  process_terms terms;
  terms.host = terms_.shell;
  terms.network = partners_.network;
  const auto limit = [](std::chrono::milliseconds time) {
    return time.count() > 0 ? std::optional{time} : std::nullopt;
  };
  terms.hard_limit = limit(terms_.terminal_hard_limit);
  terms.idle_limit = limit(terms_.terminal_idle_limit);
  terms.on_event = [self = caf::actor_cast<observer_actor>(this)](const process_event& event) {
    caf::anon_send(self, event_v, std::make_shared<const thread_event_body>(event_of(event)));
  };
  return terms;
}

process_manager_actor& session_thread::terminals() {
  if (terminals_) return terminals_;
  process_manager_terms terms;
  terms.process = process_terms_now();
  terms.process_now = [this, alive = caf::actor_cast<session_thread_actor>(
                                 this)]() -> std::optional<process_terms> {
    if (!partners_.runtime) return std::nullopt;
    return process_terms_now();
  };
  // The manager may outlive this thread by a few messages.
  terms.make_call = [this, alive = caf::actor_cast<session_thread_actor>(this)](
                        const runtime_actor& runtime) -> tool_call_actor {
    if (!partners_.runtime) return {};
    auto partners = partners_;
    partners.runtime = runtime;
    return spawn_call(std::move(partners), hook_tool::exec_command);
  };
  terms.reviewer = partners_.reviewer;
  terms.hooks = terms_.hooks;
  terminals_ = system().spawn<process_manager>(std::move(terms));
  return terminals_;
}

void session_thread::exec_command(const std::string& call_id, const terminal_request& asked,
                                  planned_call planned) {
  auto& call = running_[call_id];
  call.max_output_tokens = asked.max_output_tokens.value_or(default_output_tokens);
  exec_request order;
  order.start = {std::move(planned.plan), std::move(planned.handler_refusal)};
  order.yield = asked.yield;
  order.yield_cap = asked.yield_cap;
  to_terminals(call_id, std::make_shared<const exec_request>(std::move(order)));
}

void session_thread::write_stdin(const std::string& call_id, const stdin_arguments& asked) {
  auto& call = running_[call_id];
  call.max_output_tokens = asked.max_output_tokens.value_or(default_output_tokens);
  call.input = !asked.chars.empty();
  stdin_request order;
  order.call_id = call_id;
  order.session_id = asked.session_id;
  order.chars = asked.chars;
  order.yield = asked.yield;
  order.yield_cap = asked.yield_cap;
  const auto ready = std::make_shared<const stdin_request>(std::move(order));
  if (!partners_.auditor || asked.chars.empty()) return to_terminals(call_id, ready);
  // What is typed is an effect: its entry comes first. The characters are those of the request.
  when_recorded(
      entry(audit_kind::attempt, call_id, audit_stdin(asked.session_id)),
      [this, call_id, ready](const std::string& why_not) {
        const auto open = running_.find(call_id);
        if (open == running_.end()) return;
        exec_reply kept_back;
        if (!why_not.empty())
          kept_back.failure =
              error{errc::io, "nothing was typed, since it could not be recorded: " + why_not, {}};
        else if (open->second.stopped)
          kept_back.failure = error{errc::cancelled, "the call was cancelled", {}};
        else
          return to_terminals(call_id, ready);
        terminal_answered(call_id, kept_back);
      });
}

template <class Order>
void session_thread::to_terminals(const std::string& call_id, Order order) {
  running_[call_id].terminal = true;
  request(terminals(), caf::infinite, run_v, std::move(order))
      .then(
          [this, call_id](const exec_reply_ptr& reply) { terminal_answered(call_id, *reply); },
          [this, call_id](caf::error& failed) {
            exec_reply lost;
            lost.failure = error{errc::internal, "the call failed: " + system().render(failed), {}};
            terminal_answered(call_id, lost);
          });
}

void session_thread::terminal_answered(const std::string& call_id, const exec_reply& reply) {
  const auto call = running_.find(call_id);
  if (call == running_.end()) return;
  call_report report;
  if (reply.report) report = *reply.report;
  report.call_id = call_id;
  if (!reply.report) {
    report.ending = reply.failure ? call_ending::failed : call_ending::completed;
    if (reply.failure && reply.failure->code == errc::cancelled)
      report.ending = reply.refused ? call_ending::refused : call_ending::aborted;
    if (report.ending == call_ending::completed) // what is typed is judged by nobody but its reader
      report.evaluation.requirement.kind = requirement_kind::skip;
    report.failure = reply.failure;
    report.message =
        reply.failure ? session_failure_message(*reply.failure, call->second.input) : reply.message;
    report.output.truncated_bytes = reply.result.omitted_bytes;
    report.output.total_bytes = reply.result.total_bytes;
    report.judged = reply.began != nullptr;
    if (reply.began) {
      report.evaluation = reply.began->evaluation;
      report.sandbox = reply.began->sandbox;
    }
    if (reply.ended) report.attempts.push_back(*reply.ended);
  }
  report.session_id = reply.result.session_id;
  auto told = truncate_to_tokens(reply.result.output, call->second.max_output_tokens,
                                 reply.result.total_bytes, reply.result.omitted_bytes);
  report.output.aggregated = std::move(told.text);
  report.output.truncated_bytes += told.left_out;
  report.output.aggregate_omitted_bytes = reply.result.omitted_bytes + told.left_out;
  ended(call_id, std::make_shared<const call_report>(std::move(report)));
}

void session_thread::terminal_ended(const thread_events::terminal_ended& over) {
  if (const auto call = running_.find(over.call_id); call != running_.end()) {
    call->second.session_end = over; // only of interest when its call is answered as running
    return;
  }
  const auto session = background_.extract(over.call_id);
  if (session.empty()) return;
  const auto& turn = session.mapped().turn;
  if (audit_.sink) {
    const auto write = [&](audit_kind kind, std::string body) {
      auto noted = entry(kind, over.call_id, std::move(body));
      noted.turn = turn;
      noted.attempt = over.how.number;
      audit_.sink->record(std::move(noted), {});
    };
    if (over.how.denied) write(audit_kind::denial, audit_denial(*over.how.denied));
    write(audit_kind::attempt_end, audit_attempt_end(over.how));
  }
  publish(over, turn);
  dismiss_retired();
}

/// A session that is in the background already is not touched (§127).
void session_thread::cancel(const std::string& call_id, running_call& call) {
  if (call.terminal) return send(terminals_, cancel_v, call_id);
  if (call.actor) return send(call.actor, cancel_v);
  call.stopped = true;
  if (!call.review_id.empty())
    send(partners_.reviewer, withdraw_v, call.review_id); // its answer ends the call
}

// ---- what clients ask about them (§127) ----

void session_thread::on(const thread_messages::list_terminals& m) {
  if (!terminals_) return m.done({});
  request(terminals_, caf::infinite, list_v)
      .then([done = m.done](const process_list_ptr& all) { done(all->sessions); },
            [done = m.done](caf::error&) { done({}); });
}

void session_thread::on(const thread_messages::read_terminal& m) {
  if (!terminals_) return m.done({});
  request(terminals_, caf::infinite, read_v, m.session_id, m.after.value_or(whole_transcript))
      .then([done = m.done](const process_transcript_ptr& told) { done(*told); },
            [done = m.done](caf::error&) { done({}); });
}

/// What a client does to a session stands in the audit before it happens.
void session_thread::do_recorded(terminal_effect what) {
  const auto unknown = [id = what.session_id, tell = what.tell] {
    tell(error{errc::not_found, "there is no terminal session " + std::to_string(id), {}});
  };
  if (!terminals_) return unknown();
  request(terminals_, caf::infinite, list_v)
      .then(
          [this, unknown, what = std::move(what)](const process_list_ptr& all) {
            const auto found =
                std::ranges::find(all->sessions, what.session_id, &process_info::session_id);
            if (found == all->sessions.end()) return unknown();
            if (!found->running) return what.ended();
            if (!partners_.auditor) return what.happen();
            when_recorded(entry(audit_kind::attempt, found->call_id, what.audit),
                          [what](const std::string& why_not) {
                            if (why_not.empty()) return what.happen();
                            what.tell(error{errc::io,
                                            std::string{what.undone} +
                                                ", since it could not be recorded: " + why_not,
                                            {}});
                          });
          },
          [unknown](caf::error&) { unknown(); });
}

void session_thread::on(const thread_messages::write_terminal& m) {
  terminal_effect what;
  what.session_id = m.session_id;
  what.audit = audit_typed(m.session_id, m.chars.size());
  what.undone = "nothing was typed";
  what.tell = [done = m.done](const result<void>& how) {
    if (done) done(how);
  };
  what.ended = [tell = what.tell, id = m.session_id] {
    tell(error{errc::not_found, "the terminal session " + std::to_string(id) + " has ended", {}});
  };
  what.happen = [this, tell = what.tell, m] {
    request(terminals_, caf::infinite, type_v, m.session_id, m.chars)
        .then(
            [tell](const poll_piece_ptr& typed) {
              tell(typed->failure ? result<void>{*typed->failure} : result<void>{});
            },
            [this, tell](caf::error& failed) {
              tell(error{errc::internal, "nothing was typed: " + system().render(failed), {}});
            });
  };
  do_recorded(std::move(what));
}

void session_thread::on(const thread_messages::signal_terminal& m) {
  terminal_effect what;
  what.session_id = m.session_id;
  what.audit = audit_signalled(m.session_id, m.signal);
  what.undone = "the signal was not sent";
  what.tell = [done = m.done](const result<void>& how) {
    if (done) done(how);
  };
  what.ended = [tell = what.tell] { tell({}); }; // nothing happens to it any more
  what.happen = [this, tell = what.tell, m] {
    order_terminals<bool>([tell](bool) { tell({}); }, signal_v, m.session_id, m.signal);
  };
  do_recorded(std::move(what));
}

template <class Answer, class... What>
void session_thread::order_terminals(std::function<void(Answer)> hearer, What... what) {
  const auto tell = [hearer = std::move(hearer)](Answer answer) {
    if (hearer) hearer(answer);
  };
  if (!terminals_) return tell(Answer{});
  request(terminals_, caf::infinite, what...)
      .then([tell](Answer answer) { tell(answer); }, [tell](caf::error&) { tell(Answer{}); });
}

void session_thread::on(const thread_messages::resize_terminal& m) {
  auto& wishes = resizes_[m.session_id];
  wishes.waiting.push_back(m);
  if (!std::exchange(wishes.under_way, true)) resize_next(m.session_id);
}

/// Who drags a window asks for a hundred sizes a second: what came in the meantime is one resize.
void session_thread::resize_next(int session_id) {
  const auto wishes = resizes_.find(session_id);
  if (wishes->second.waiting.empty()) {
    resizes_.erase(wishes);
    return;
  }
  const auto asked = std::exchange(wishes->second.waiting, {});
  const auto& newest = asked.back();
  const auto tell = [this, session_id, asked](const result<void>& how) {
    for (const auto& one : asked)
      if (one.done) one.done(how);
    resize_next(session_id);
  };
  terminal_effect what;
  what.session_id = session_id;
  what.audit = audit_resized(session_id, newest.rows, newest.columns);
  what.undone = "the terminal keeps its size";
  what.tell = tell;
  what.ended = [tell] { tell({}); }; // nothing happens to it any more
  what.happen = [this, tell, newest] {
    order_terminals<bool>([tell](bool) { tell({}); }, resize_v, newest.session_id, newest.rows,
                          newest.columns);
  };
  do_recorded(std::move(what));
}

void session_thread::on(const thread_messages::end_terminal& m) {
  order_terminals<bool>(m.done, end_v, m.session_id);
}

void session_thread::on(const thread_messages::clean_terminals& m) {
  order_terminals<int>(m.done, end_v);
}

} // namespace gatehouse::actors
