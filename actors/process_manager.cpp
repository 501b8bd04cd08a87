#include "actors/process_manager.hpp"

#include "actors/hook_command.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/visible_text.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

namespace gatehouse::actors {
namespace {

using std::chrono::milliseconds;

std::optional<int> exit_code_of(const attempt_record& record) {
  if (record.ending == attempt_ending::timed_out) return 124;
  if (record.signal) return 128 + *record.signal;
  return record.exit_code;
}

void answer(caf::typed_response_promise<exec_reply_ptr> caller, exec_reply_ptr reply) {
  caller.deliver(std::move(reply));
}

exec_reply_ptr failed(error what) {
  exec_reply reply;
  reply.failure = std::move(what);
  return std::make_shared<const exec_reply>(std::move(reply));
}

error unknown_session(int id) {
  return {errc::not_found, "write_stdin failed: Unknown process id " + std::to_string(id),
          "start it again with exec_command"};
}

/// Does the process have more than its session's profile gives by itself (§11 of the rules of
/// approval)? Then what is written to it is a command of its own.
bool has_extra_authority(const exec_request& request, const attempt& what) {
  const auto& plan = request.start.plan;
  if (what->backend == sandbox_backend::none) return plan.profile.kind == profile_kind::managed;
  return what->profile != plan.profile || !what->approved_hosts.empty();
}

std::string random_hex(std::size_t digits) {
  std::random_device source;
  std::string out;
  for (std::size_t i = 0; i < digits; ++i)
    out += "0123456789abcdef"[source() % 16];
  return out;
}

} // namespace

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
    open.caller.deliver(failed({errc::cancelled, "the session is over", {}}));
  calls_.clear();
  for (auto& [write, open] : hooked_)
    open.caller.deliver(failed({errc::cancelled, "the session is over", {}}));
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
      [this](read_atom, int id) -> caf::result<process_transcript_ptr> {
        auto* s = find(id);
        if (!s) return std::make_shared<const process_transcript>();
        return delegate(s->actor, read_v);
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
    return failed({errc::invalid_request, "the call id '" + call_id + "' is in use", {}});
  const auto id = store_.reserve(); // before approval (§9)
  if (!id) return failed(id.error());
  const auto& y = terms_.yields;
  open_call open;
  open.session_id = *id;
  open.request = request;
  open.yield = std::clamp(request->yield.value_or(y.start_default), y.least, y.most);
  open.caller = make_response_promise<exec_reply_ptr>();
  auto answer = open.caller;
  calls_.emplace(call_id, std::move(open));
  auto callee = terms_.make_call(runtime_actor{process_manager_actor{this}});
  if (!callee) {
    calls_.erase(call_id);
    store_.release(*id);
    answer.deliver(failed({errc::cancelled, "the session is over", {}}));
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
  s.actor = system().spawn<process_session>(terms_.process, id, open->second.yield,
                                            process_manager_actor{this});
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
      reply.result.exit_code = exit_code_of(last);
    }
  }
  if (auto* s = find(open.session_id); s && reply.result.session_id) {
    s->background = true;
    store_.used(open.session_id, terms_.process.host.loop->now());
  } else {
    forget(open.session_id);
    store_.release(open.session_id);
  }
  open.caller.deliver(std::make_shared<const exec_reply>(std::move(reply)));
}

caf::result<exec_reply_ptr> process_manager::write_stdin(const stdin_request_ptr& request) {
  const auto* s = find(request->session_id);
  if (!s || !s->background || s->dismissed) return failed(unknown_session(request->session_id));
  auto caller = make_response_promise<exec_reply_ptr>();
  auto answer = caller;
  writes_[request->call_id] = {request->session_id, {}, caller};
  if (!request->chars.empty() && s->running && has_extra_authority(*s->request, *s->attempt))
    review_write(request, caller);
  else
    poll(request, std::move(caller));
  return answer;
}

void process_manager::review_write(const stdin_request_ptr& request,
                                   const caf::typed_response_promise<exec_reply_ptr>& caller) {
  const auto refuse = [this, request, caller](const std::string& why) {
    if (writes_.erase(request->call_id) == 0) return; // cancelled, and answered
    exec_reply reply;
    reply.refused = true;
    reply.failure = error{errc::cancelled, "write_stdin was not allowed: " + why,
                          "start a process that stays inside the sandbox, or ask the user"};
    answer(caller, std::make_shared<const exec_reply>(std::move(reply)));
  };
  if (!terms_.reviewer) return refuse("nobody can be asked");
  const auto* s = find(request->session_id);
  review_request question;
  question.review_id = "write-" + random_hex(24);
  question.call_id = request->call_id;
  question.tool = "write_stdin";
  question.what = s->request->start.plan.what;
  // The digest binds the answer to the process and to exactly these bytes.
  auto bound = question.what;
  bound.argv.insert(bound.argv.end(),
                    {"<stdin>", std::to_string(request->session_id), request->chars});
  question.digest = digest_of(bound, {1, (*s->attempt)->backend == sandbox_backend::none, {}});
  question.reason = "input for a running process that has more than the session's permissions: " +
                    visible_text(request->chars);
  question.will_be_allowed = "These bytes are written to terminal session " +
                             std::to_string(request->session_id) + ", once.";
  question.without_sandbox = (*s->attempt)->backend == sandbox_backend::none;
  const auto digest = question.digest;
  writes_[request->call_id].review_id = question.review_id;
  this->request(terms_.reviewer, caf::infinite, review_v,
                std::make_shared<const review_request>(std::move(question)))
      .then(
          [this, request, caller, refuse, digest](const review_answer_ptr& said) {
            const auto write = writes_.find(request->call_id);
            if (write == writes_.end()) return;
            write->second.review_id.clear();
            if (!is_approval(said->decision) || said->digest != digest) return refuse(said->reason);
            poll(request, caller);
          },
          [refuse](caf::error&) { refuse("the reviewer failed"); });
}

void process_manager::poll(const stdin_request_ptr& request,
                           caf::typed_response_promise<exec_reply_ptr> caller) {
  const int id = request->session_id;
  auto* s = find(id);
  if (!s) {
    writes_.erase(request->call_id);
    return answer(caller, failed(unknown_session(id)));
  }
  const bool empty = request->chars.empty();
  const auto& y = terms_.yields;
  poll_order order;
  order.call_id = request->call_id;
  order.chars = request->chars;
  order.yield = empty ? std::clamp(request->yield.value_or(y.poll_least), y.poll_least, y.poll_most)
                      : std::clamp(request->yield.value_or(y.write_default), y.least, y.most);
  if (terms_.process.on_event && (!empty || s->running))
    terms_.process.on_event(
        {id, s->request->start.plan.call_id, 1, process_event::interaction{request->chars}});
  store_.used(id, terms_.process.host.loop->now());
  store_.hold(id);
  this->request(s->actor, caf::infinite, poll_v,
                std::make_shared<const poll_order>(std::move(order)))
      .then(
          [this, request, caller](const poll_piece_ptr& piece) mutable {
            polled(request, *piece, std::move(caller));
          },
          [this, request, caller](caf::error&) mutable {
            writes_.erase(request->call_id);
            store_.unhold(request->session_id);
            forget(request->session_id);
            caller.deliver(failed(unknown_session(request->session_id)));
          });
}

void process_manager::polled(const stdin_request_ptr& request, const poll_piece& piece,
                             caf::typed_response_promise<exec_reply_ptr> caller) {
  const int id = request->session_id;
  writes_.erase(request->call_id);
  store_.unhold(id);
  store_.used(id, terms_.process.host.loop->now());
  if (piece.failure) return answer(caller, failed(*piece.failure));
  auto reply = std::make_shared<exec_reply>();
  reply->result.chunk_id = chunk_id();
  reply->result.wall = piece.wall;
  reply->result.output = piece.text;
  reply->result.total_bytes = piece.total_bytes;
  reply->result.omitted_bytes = piece.omitted_bytes;
  auto* s = find(id);
  if (!piece.ended || !s) {
    reply->result.session_id = id;
    return answer(caller, reply);
  }
  reply->ended = piece.ended;
  reply->result.exit_code = exit_code_of(*piece.ended);
  if (piece.ended->denied) reply->message = denial_message(*piece.ended->denied);
  const auto original = s->request;
  forget(id); // the last answer: its id is free again
  ask_hooks(*original, std::move(reply), std::move(caller));
}

/// Its session goes on (§127): only the wait or the question ends.
void process_manager::cancel_write(const std::string& call_id) {
  const auto write = writes_.find(call_id);
  if (write == writes_.end()) return;
  if (!write->second.review_id.empty()) {
    send(terms_.reviewer, withdraw_v, write->second.review_id);
    auto node = writes_.extract(write);
    answer(node.mapped().caller, failed({errc::cancelled, "the call was cancelled", {}}));
  } else if (const auto* s = find(write->second.session_id)) {
    send(s->actor, cancel_v, call_id);
  }
}

/// The poll that sees the end speaks for the original command (§124).
void process_manager::ask_hooks(const exec_request& original, std::shared_ptr<exec_reply> reply,
                                caf::typed_response_promise<exec_reply_ptr> caller) {
  auto handlers = terms_.hooks.loop ? terms_.hooks.rules.matching(hook_event::post_tool_use,
                                                                  hook_tool::exec_command)
                                    : std::vector<hook_handler>{};
  if (handlers.empty()) return answer(caller, reply);
  const auto& plan = original.start.plan;
  hook_question question;
  question.payload = terms_.hooks.context;
  question.payload.event = hook_event::post_tool_use;
  question.payload.cwd = plan.what.cwd;
  question.payload.tool_name = tool_name(hook_tool::exec_command);
  question.payload.tool_input = hook_command_input{hook_command_text(plan.what), {}};
  question.payload.tool_use_id = plan.call_id;
  question.payload.tool_response = reply->result.output;
  question.handlers = std::move(handlers);
  question.env = terms_.hooks.env;
  const auto key = reply->result.chunk_id;
  auto& open = hooked_[key];
  open.reply = std::move(reply);
  open.caller = std::move(caller);
  open.round = std::make_unique<hook_round>(
      *terms_.hooks.loop, std::move(question),
      [this, key, self = process_manager_actor{this}](hook_decision said) {
        if (const auto found = hooked_.find(key); found != hooked_.end())
          found->second.said = std::move(said);
        caf::anon_send(self, report_v, key);
      });
}

/// Nobody polls it any more: it goes as soon as it has ended.
void process_manager::dismiss(int id) {
  auto* s = find(id);
  if (!s) return;
  s->dismissed = true;
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
  store_.exited(id);
  if (s->dismissed) forget(id);
}

void process_manager::forget(int id) {
  auto node = sessions_.extract(id);
  store_.remove(id);
  if (node.empty()) return;
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
    info.age =
        std::chrono::duration_cast<milliseconds>(terms_.process.host.loop->now() - s.started);
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
