#include "actors/exec_replies.hpp"
#include "actors/hook_command.hpp"
#include "actors/process_manager.hpp"
#include "actors/random_id.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/visible_text.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <utility>

/// write_stdin (§123, §124): its part of actors/process_manager.hpp.
namespace gatehouse::actors {
namespace {

void deliver(caf::typed_response_promise<exec_reply_ptr> caller, exec_reply_ptr reply) {
  caller.deliver(std::move(reply));
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

} // namespace

caf::result<exec_reply_ptr> process_manager::write_stdin(const stdin_request_ptr& request) {
  const auto* s = find(request->session_id);
  if (!s || !s->background || s->dismissed)
    return failed_reply(unknown_session(request->session_id));
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
  const auto* s = find(request->session_id);
  const auto refuse = [this, request, caller, began = s->report](const std::string& why) {
    if (writes_.erase(request->call_id) == 0) return; // cancelled, and answered
    exec_reply reply;
    reply.refused = true;
    reply.began = began;
    reply.failure = error{errc::cancelled,
                          "write_stdin was not allowed: " +
                              (why.empty() ? std::string{"who was asked said no"} : why),
                          "start a process that stays inside the sandbox, or ask the user"};
    deliver(caller, std::make_shared<const exec_reply>(std::move(reply)));
  };
  if (!terms_.reviewer) return refuse("nobody can be asked");
  review_request question;
  question.review_id = "write-" + random_id();
  question.call_id = request->call_id;
  question.tool = "write_stdin";
  question.what = s->request->start.plan.what;
  // The digest binds the answer to the process and to exactly these bytes.
  auto bound = question.what;
  bound.argv.insert(bound.argv.end(),
                    {"<stdin>", std::to_string(request->session_id), request->chars});
  question.digest = digest_of(bound, {1, (*s->attempt)->backend == sandbox_backend::none, {}});
  question.cause.source = ask_source::stdin_write;
  question.reason = "input for a running process that has more than the session's permissions: " +
                    visible_text(request->chars, "\\");
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
            if (write == writes_.end()) return; // its session has gone, or its call
            write->second.review_id.clear();
            if (!is_approval(said->decision) || said->digest != digest)
              return refuse(said->reason.empty() ? "the reviewer said no" : said->reason);
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
    return deliver(caller, failed_reply(unknown_session(id)));
  }
  const bool empty = request->chars.empty();
  const auto& y = terms_.yields;
  poll_order order;
  order.call_id = request->call_id;
  order.chars = request->chars;
  order.yield = empty ? std::clamp(request->yield.value_or(y.poll_least), y.poll_least, y.poll_most)
                      : std::clamp(request->yield.value_or(y.write_default), y.least, y.most);
  order.yield = std::min(order.yield, request->yield_cap.value_or(order.yield));
  if (terms_.process.on_event && (!empty || s->running))
    terms_.process.on_event(
        {id, s->request->start.plan.call_id, 1, process_event::interaction{request->chars}});
  store_.used(id, terms_.process.host.loop->now());
  store_.hold(id);
  this->request(s->actor, caf::infinite, poll_v,
                std::make_shared<const poll_order>(std::move(order)))
      .then(
          [this, request, began = s->report, caller](const poll_piece_ptr& piece) mutable {
            polled(request, began, *piece, std::move(caller));
          },
          [this, request, caller](caf::error&) mutable {
            writes_.erase(request->call_id);
            store_.unhold(request->session_id);
            forget(request->session_id);
            caller.deliver(failed_reply(unknown_session(request->session_id)));
          });
}

void process_manager::polled(const stdin_request_ptr& request, const call_report_ptr& began,
                             const poll_piece& piece,
                             caf::typed_response_promise<exec_reply_ptr> caller) {
  const int id = request->session_id;
  writes_.erase(request->call_id);
  store_.unhold(id);
  store_.used(id, terms_.process.host.loop->now());
  auto reply = std::make_shared<exec_reply>();
  reply->began = began;
  reply->failure = piece.failure;
  if (piece.failure) return deliver(caller, reply);
  reply->result.chunk_id = chunk_id();
  reply->result.wall = piece.wall;
  reply->result.output = piece.text;
  reply->result.total_bytes = piece.total_bytes;
  reply->result.omitted_bytes = piece.omitted_bytes;
  if (!piece.ended) {
    reply->result.session_id = id;
    return deliver(caller, reply);
  }
  reply->ended = piece.ended;
  reply->result.exit_code = shell_status(*piece.ended);
  if (piece.ended->ending == attempt_ending::timed_out)
    reply->message = time_out_message(*piece.ended);
  else if (piece.ended->ending == attempt_ending::cancelled && piece.ended->failure)
    reply->message = cancelled_message(*piece.ended);
  else if (auto cut = cut_message(*piece.ended); !cut.empty())
    reply->message = std::move(cut);
  else if (piece.ended->denied)
    reply->message = denial_message(*piece.ended->denied);
  else if (!piece.ended->blocked.empty())
    reply->message = blocked_connections_note(piece.ended->blocked);
  const auto* s = find(id);
  if (!s || s->report != began) return deliver(caller, reply); // another poll saw the end before
  const auto original = s->request;
  forget(id); // the last answer: its id is free again
  ask_hooks(*original, std::move(reply), std::move(caller));
}

/// Nothing may reach it any more, whatever the answers to what was asked about its input: its id
/// may belong to another soon.
void process_manager::withdraw_writes(int id) {
  for (auto write = writes_.begin(); write != writes_.end();) {
    const auto& open = write->second;
    if (open.session_id != id || open.review_id.empty()) {
      ++write;
      continue;
    }
    if (terms_.reviewer) send(terms_.reviewer, withdraw_v, open.review_id);
    deliver(open.caller, failed_reply({errc::invalid_request,
                                       "StdinClosed: the process has ended, or is being ended",
                                       {}}));
    write = writes_.erase(write);
  }
}

/// Its session goes on (§127): only the wait or the question ends.
void process_manager::cancel_write(const std::string& call_id) {
  const auto write = writes_.find(call_id);
  if (write == writes_.end()) return;
  if (!write->second.review_id.empty()) {
    send(terms_.reviewer, withdraw_v, write->second.review_id);
    auto node = writes_.extract(write);
    deliver(node.mapped().caller, failed_reply({errc::cancelled, "the call was cancelled", {}}));
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
  if (handlers.empty()) return deliver(caller, reply);
  const auto& plan = original.start.plan;
  hook_question question;
  question.payload = terms_.hooks.context;
  question.payload.event = hook_event::post_tool_use;
  question.payload.cwd = plan.what.cwd;
  question.payload.tool_name = tool_name(hook_tool::exec_command);
  question.payload.tool_input = hook_command_input{hook_command_text(plan.what), {}};
  question.payload.asked = hook_wishes_of(plan.what);
  question.payload.tool_use_id = plan.call_id;
  question.payload.tool_response = reply->result.output;
  question.handlers = std::move(handlers);
  question.place = terms_.hooks.place;
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

} // namespace gatehouse::actors
