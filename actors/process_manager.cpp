#include "actors/process_manager.hpp"

#include "actors/exec_replies.hpp"
#include "protocol/denial_message.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

namespace gatehouse::actors {

process_manager::process_manager(caf::actor_config& config, process_manager_terms terms)
    : process_manager_actor::base{config}, terms_{std::move(terms)}, store_{terms_.ids,
                                                                            terms_.limits} {}

void process_manager::on_exit() {
  for (auto* table : {&sessions_, &evicted_}) {
    for (auto& [id, s] : *table) {
      send(s.actor, kill_v);
      for (auto& ender : s.enders)
        ender.deliver(true);
    }
    table->clear();
  }
  for (auto& [call, callee] : callees_)
    send(callee, cancel_v);
  callees_.clear();
  for (auto& [call, open] : calls_)
    open.caller.deliver(failed_reply({errc::cancelled, "the session is over", {}}));
  calls_.clear();
  for (auto& [write, open] : hooked_)
    open.caller.deliver(failed_reply({errc::cancelled, "the session is over", {}}));
  hooked_.clear();
  writes_.clear(); // their sessions answer them
  terms_ = {};
}

process_manager::behavior_type process_manager::make_behavior() {
  return {
      [this](run_atom, const attempt_ptr& what) { return run_attempt(what); },
      [this](cancel_atom, const std::string& call) {
        const auto open = calls_.find(call);
        if (open == calls_.end()) return cancel_write(call);
        if (auto* s = find(open->second.session_id))
          send(s->actor, cancel_v, call);
        else if (const auto callee = callees_.find(call); callee != callees_.end())
          send(callee->second, cancel_v); // it is judged or asked about
      },
      [this](run_atom, const exec_request_ptr& request) { return exec_command(request); },
      [this](run_atom, const stdin_request_ptr& request) { return write_stdin(request); },
      [this](list_atom) { return std::make_shared<const process_list>(list()); },
      [this](read_atom, int id, std::int64_t after) -> caf::result<process_transcript_ptr> {
        auto* s = find(id);
        if (!s) return std::make_shared<const process_transcript>();
        return delegate(s->actor, read_v, after);
      },
      [this](type_atom, int id, const std::string& chars) -> caf::result<poll_piece_ptr> {
        auto* s = find(id);
        if (s) {
          store_.used(id, terms_.process.host.loop->now());
          return delegate(s->actor, type_v, chars);
        }
        poll_piece gone;
        gone.failure =
            error{errc::not_found, "there is no terminal session " + std::to_string(id), {}};
        return std::make_shared<const poll_piece>(std::move(gone));
      },
      [this](signal_atom, int id, int number) {
        auto* s = find(id);
        if (s) send(s->actor, signal_v, number);
        return s != nullptr;
      },
      [this](resize_atom, int id, int rows, int columns) {
        auto* s = find(id);
        if (s) send(s->actor, resize_v, rows, columns);
        return s != nullptr;
      },
      [this](end_atom, int id) -> caf::result<bool> {
        auto* s = find(id);
        if (!s) return false;
        s->enders.push_back(make_response_promise<bool>());
        auto answer = s->enders.back();
        dismiss(id);
        return answer;
      },
      [this](end_atom) {
        int count = 0;
        for (const int id : store_.ids())
          if (auto* s = find(id); s && s->background && !s->dismissed) {
            ++count;
            dismiss(id);
          }
        return count;
      },
      [this](ended_atom, int id) { session_ended(id); },
      [this](report_atom, const std::string& write) {
        auto node = hooked_.extract(write);
        if (node.empty()) return;
        auto& open = node.mapped();
        if (terms_.hooks.warn)
          for (const auto& text : open.said->warnings)
            terms_.hooks.warn(text);
        auto& reply = *open.reply;
        if (open.said->verdict == hook_verdict::deny) {
          reply.result.output.clear();
          reply.message = open.said->reason;
        }
        for (const auto& context : open.said->contexts)
          reply.message += (reply.message.empty() ? "" : "\n") + context;
        open.caller.deliver(exec_reply_ptr{open.reply});
      },
  };
}

caf::result<exec_reply_ptr> process_manager::exec_command(const exec_request_ptr& request) {
  const auto& call_id = request->start.plan.call_id;
  if (calls_.contains(call_id))
    return failed_reply({errc::invalid_request, "the call id '" + call_id + "' is in use", {}});
  const auto id = store_.reserve(); // before approval (§9)
  if (!id) return failed_reply(id.error());
  const auto& y = terms_.yields;
  open_call open;
  open.session_id = *id;
  open.request = request;
  open.yield = std::clamp(request->yield.value_or(y.start_default), y.least, y.most);
  open.yield = std::min(open.yield, request->yield_cap.value_or(open.yield));
  open.caller = make_response_promise<exec_reply_ptr>();
  auto answer = open.caller;
  calls_.emplace(call_id, std::move(open));
  auto callee = terms_.make_call(runtime_actor{process_manager_actor{this}});
  if (!callee) {
    calls_.erase(call_id);
    store_.release(*id);
    answer.deliver(failed_reply({errc::cancelled, "the session is over", {}}));
    return answer;
  }
  callees_[call_id] = callee;
  request_call(callee, request);
  return answer;
}

void process_manager::request_call(const tool_call_actor& callee, const exec_request_ptr& request) {
  const auto call_id = request->start.plan.call_id;
  auto start = request->start;
  start.plan.runtime.outlives_the_call = true;
  this->request(callee, caf::infinite, run_v, std::make_shared<const call_start>(std::move(start)))
      .then([this, call_id](const call_report_ptr& report) { call_over(call_id, report); },
            [this, call_id](caf::error& e) {
              call_report lost;
              lost.call_id = call_id;
              lost.failure = error{errc::internal, "the call failed: " + system().render(e), {}};
              lost.message = failure_message(*lost.failure);
              call_over(call_id, std::make_shared<const call_report>(std::move(lost)));
            });
}

/// As the runtime of a call. A live process is in the table before anybody waits for it (§121).
caf::result<attempt_result_ptr> process_manager::run_attempt(const attempt_ptr& what) {
  const auto open = calls_.find((*what)->call_id);
  if (open == calls_.end()) {
    attempt_result result;
    result.record.number = (*what)->number;
    result.record.sandbox = (*what)->backend;
    result.record.failure = error{errc::internal, "no exec_command waits for this attempt", {}};
    return std::make_shared<const attempt_result>(std::move(result));
  }
  const int id = open->second.session_id;
  session s;
  auto now = terms_.process_now ? terms_.process_now() : std::nullopt;
  s.actor = system().spawn<process_session>(now ? *std::move(now) : terms_.process, id,
                                            open->second.yield, process_manager_actor{this});
  s.request = open->second.request;
  s.attempt = what;
  s.started = terms_.process.host.loop->now();
  const auto victim = store_.admit(id, s.started);
  store_.hold(id);
  const auto actor = s.actor;
  sessions_[id] = std::move(s);
  if (victim) {
    auto node = sessions_.extract(*victim);
    if (!node.empty()) {
      withdraw_writes(*victim);
      send(node.mapped().actor, end_v);
      node.mapped().dismissed = true;
      const bool running = node.mapped().running;
      if (!running) send(node.mapped().actor, kill_v);
      if (running) evicted_.insert(std::move(node));
    }
  }
  auto answer = make_response_promise<attempt_result_ptr>();
  request(actor, caf::infinite, run_v, what)
      .then(
          [this, id, answer](const attempt_result_ptr& result) mutable {
            store_.unhold(id);
            if (result->record.ending != attempt_ending::running) {
              forget(id);
              store_.take_back(id); // the call may make a second attempt
            }
            answer.deliver(result);
          },
          [this, id, what, answer](caf::error& e) mutable {
            forget(id);
            store_.take_back(id);
            attempt_result lost;
            lost.record.number = (*what)->number;
            lost.record.sandbox = (*what)->backend;
            lost.record.failure =
                error{errc::internal, "the session failed: " + system().render(e), {}};
            answer.deliver(std::make_shared<const attempt_result>(std::move(lost)));
          });
  return answer;
}

void process_manager::call_over(const std::string& call_id, const call_report_ptr& report) {
  callees_.erase(call_id);
  auto node = calls_.extract(call_id);
  if (node.empty()) return;
  auto& open = node.mapped();
  exec_reply reply;
  reply.report = report;
  reply.message = report->message;
  reply.result.chunk_id = chunk_id();
  reply.result.output = report->output.aggregated;
  reply.result.total_bytes = report->output.total_bytes;
  reply.result.omitted_bytes = report->output.truncated_bytes;
  if (!report->attempts.empty()) {
    const auto& last = report->attempts.back();
    reply.result.wall = last.duration;
    if (last.ending == attempt_ending::running) {
      reply.result.session_id = open.session_id;
    } else {
      reply.ended = last;
      reply.result.exit_code = shell_status(last);
    }
  }
  if (auto* s = find(open.session_id); s && reply.result.session_id) {
    s->background = true;
    s->report = report;
    store_.used(open.session_id, terms_.process.host.loop->now());
  } else {
    forget(open.session_id);
    store_.release(open.session_id);
  }
  open.caller.deliver(std::make_shared<const exec_reply>(std::move(reply)));
}

/// Nobody polls it any more: it goes as soon as it has ended.
void process_manager::dismiss(int id) {
  auto* s = find(id);
  if (!s) return;
  s->dismissed = true;
  withdraw_writes(id);
  if (!s->running) return session_ended(id);
  send(s->actor, end_v);
}

void process_manager::session_ended(int id) {
  if (const auto gone = evicted_.find(id);
      gone != evicted_.end() && !(sessions_.contains(id) && sessions_[id].running)) {
    send(gone->second.actor, kill_v);
    evicted_.erase(gone);
    return;
  }
  auto* s = find(id);
  if (!s) return;
  s->running = false;
  withdraw_writes(id);
  store_.exited(id);
  if (s->dismissed) forget(id);
}

void process_manager::forget(int id) {
  auto node = sessions_.extract(id);
  store_.remove(id);
  if (node.empty()) return;
  withdraw_writes(id);
  for (auto& ender : node.mapped().enders)
    ender.deliver(true);
  send(node.mapped().actor, kill_v);
}

process_manager::session* process_manager::find(int id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

process_list process_manager::list() const {
  process_list all;
  for (const auto& [id, s] : sessions_) {
    const auto& plan = s.request->start.plan;
    process_info info;
    info.session_id = id;
    info.call_id = plan.call_id;
    info.argv = (*s.attempt)->argv;
    info.cwd = (*s.attempt)->cwd;
    info.tty = (*s.attempt)->tty;
    info.background = s.background;
    info.running = s.running;
    info.sandboxed = (*s.attempt)->backend != sandbox_backend::none;
    info.age = std::chrono::duration_cast<std::chrono::milliseconds>(
        terms_.process.host.loop->now() - s.started);
    all.sessions.push_back(std::move(info));
  }
  return all;
}

std::string process_manager::chunk_id() {
  char text[8];
  std::snprintf(text, sizeof text, "%06x",
                static_cast<unsigned>(++chunks_ * 0x9e3779u & 0xffffffu));
  return text;
}

} // namespace gatehouse::actors
