#include "actors/endpoint/command_book.hpp"

#include "actors/endpoint/command_terms.hpp"
#include "actors/endpoint/refusals.hpp"
#include "protocol/base64.hpp"
#include "protocol/rpc/app_events.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace gatehouse::actors {

namespace app = rpc::app;
namespace say = thread_messages;

namespace {

constexpr std::size_t most_queued = 1024 * 1024; // typed before the terminal is there

std::string first_of(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(most);
  text.resize(text.size() - incomplete_utf8_suffix(text));
  return text;
}

std::size_t place_of(output_stream stream) {
  return stream == output_stream::standard_error ? 1 : 0;
}

rpc::failure no_process(const std::string& id) {
  return refused("this connection runs no command with the process id " + shown(id),
                 "unknownProcess");
}

} // namespace

struct command_book::command {
  std::shared_ptr<thread_entry> entry;
  std::string process_id; ///< empty: none was given
  std::string call_id;
  rpc_reply done;
  bool tty = false;
  bool streams = false;
  bool detachable = false;
  bool over = false;     ///< answered
  bool stopping = false; ///< by its client, or with its connection
  std::size_t cap = 0;   ///< of each stream

  std::int64_t seq = 0;
  std::size_t streamed[2] = {0, 0};
  bool capped[2] = {false, false};
  std::int64_t unsaid = 0; ///< bytes that the client was too slow for, since the last delta
  bool lacks = false;      ///< some of it was never sent

  // With a terminal:
  std::optional<int> session;
  std::optional<attempt_record> ended; ///< how its process did
  std::string heard;                   ///< of the output, when it is not streamed
  std::string polled;                  ///< the same, as its polls tell it
  std::string message;                 ///< likewise
  std::size_t writes = 0;              ///< of all time
  std::size_t under_way = 0;           ///< of these, and of polls
  bool polled_end = false;
  std::deque<std::pair<std::string, rpc_reply>> queued;
  std::size_t queued_bytes = 0;
  std::optional<app::terminal_size> size;
};

/// Listens to one thread for the commands of this session in it.
struct command_book::ear : thread_subscriber {
  ear(std::weak_ptr<command_book> to, std::shared_ptr<thread_entry> thread)
      : book{std::move(to)}, entry{std::move(thread)} {}
  void on_event(const thread_event_ptr& event) override {
    if (const auto to = book.lock()) to->hear(*event, *entry);
  }
  std::weak_ptr<command_book> book;
  std::shared_ptr<thread_entry> entry;
};

command_book::~command_book() {
  for (const auto& [thread, one] : ears_)
    one->entry->handle.send(say::unsubscribe{one});
}

command_book::command_ptr command_book::find(const std::string& process_id) const {
  const auto found = by_process_.find(process_id);
  return found == by_process_.end() ? nullptr : found->second;
}

void command_book::listen(const std::shared_ptr<thread_entry>& entry) {
  auto& at = ears_[entry->handle.id()];
  if (at) return;
  at = std::make_shared<ear>(weak_from_this(), entry);
  entry->handle.send(say::subscribe{at, false, std::nullopt});
}

void command_book::exec(const std::shared_ptr<thread_entry>& entry,
                        const app::command_exec_params& params, rpc_reply done) {
  if (const auto against = objection_to(params)) return done(*against);
  if (params.process_id && find(*params.process_id))
    return done(refused("a command with the process id " + shown(*params.process_id) + " runs",
                        "processIdInUse"));
  auto call_id = command_id(params.process_id.value_or(""));
  const auto made = std::make_shared<command>();
  made->entry = entry;
  made->process_id = params.process_id.value_or("");
  made->call_id = call_id;
  made->done = std::move(done);
  made->tty = params.tty.value_or(false);
  made->streams = params.stream_stdout_stderr.value_or(false);
  made->detachable = params.detachable.value_or(false);
  made->cap = static_cast<std::size_t>(params.output_bytes_cap.value_or(most_command_output));
  made->size = params.size;
  if (params.process_id) by_process_[made->process_id] = made;
  by_call_[{entry->handle.id(), call_id}] = made;
  if (made->streams || made->tty) listen(entry);
  entry->calls->begin(entry->handle, call_for(params, call_id), calls_,
                      [weak = weak_from_this(), made](const rpc_outcome& what) {
                        if (const auto self = weak.lock()) self->answered(made, what);
                      });
}

void command_book::answered(const command_ptr& of, const rpc_outcome& what) {
  if (of->over) return;
  const auto* report = std::get_if<call_report_ptr>(&what);
  if (!report) { // there is no such call
    const auto* why = std::get_if<rpc::failure>(&what);
    of->over = true;
    refuse_queued(*of, "the command did not begin, and this was not written");
    forget(of);
    return of->done(why ? *why
                        : refused("the output of this call is no longer kept", "internal",
                                  rpc::code::internal));
  }
  const auto& said = **report;
  if (of->tty) {
    of->polled = said.output.aggregated;
    if (said.session_id) {
      of->session = said.session_id;
      return terminal_began(of);
    }
  }
  auto told = result_from(said);
  if (of->tty) {
    told.standard_output = of->heard.empty() ? of->polled : of->heard;
    told.output_truncated = said.output.aggregate_omitted_bytes > 0 || of->lacks;
  } else {
    told.standard_output = said.output.stdout_text;
    told.standard_error = said.output.stderr_text;
    told.output_truncated = said.output.truncated_bytes > 0 || of->lacks;
    if (of->streamed[0] + of->streamed[1] < said.output.total_bytes && of->seq > 0)
      told.output_truncated = true;
  }
  finish(of, std::move(told));
}

// ---- output ----

void command_book::hear(const thread_event& event, const thread_entry& thread) {
  const auto known = [&](const std::string& call) -> command_ptr {
    const auto found = by_call_.find({thread.handle.id(), call});
    return found == by_call_.end() ? nullptr : found->second;
  };
  if (const auto* said = std::get_if<thread_events::output_delta>(&event.what)) {
    if (const auto of = known(said->call_id)) tell(*of, said->stream, said->bytes);
  } else if (const auto* over = std::get_if<thread_events::terminal_ended>(&event.what)) {
    const auto of = known(over->call_id);
    if (!of || of->ended) return;
    of->ended = over->how;
    if (of->session) poll_end(of);
  }
}

void command_book::tell(command& of, output_stream stream, std::string_view bytes) {
  const auto place = of.tty ? 0 : place_of(stream);
  const auto left = of.cap - of.streamed[place];
  const bool all = bytes.size() <= left;
  if (!all) {
    of.lacks = true;
    bytes = bytes.substr(0, left);
    bytes.remove_suffix(incomplete_utf8_suffix(bytes));
  }
  if (of.capped[place]) return;
  of.capped[place] = !all;
  of.streamed[place] += bytes.size();
  if (!of.streams) {
    of.heard += bytes;
    return;
  }
  if (!out_.attached() || out_.is_behind()) {
    of.unsaid += static_cast<std::int64_t>(bytes.size());
    of.lacks = true;
    return;
  }
  app::command_output told;
  told.process_id = of.process_id;
  told.seq = ++of.seq;
  told.stream = place == 1 ? app::stream_name::standard_error : app::stream_name::standard_output;
  told.delta_base64 = encode_base64(bytes);
  told.cap_reached = !all;
  if (const auto missed = std::exchange(of.unsaid, 0)) told.dropped_bytes = missed;
  out_.notify(app::notifications::command_output::name, rpc::to_json(told));
}

// ---- terminals ----

void command_book::terminal_began(const command_ptr& of) {
  if (of->stopping) stop(*of);
  if (of->size)
    of->entry->handle.send(say::resize_terminal{
        *of->session, static_cast<int>(of->size->rows), static_cast<int>(of->size->columns), {}});
  of->queued_bytes = 0;
  for (auto& [text, done] : std::exchange(of->queued, {}))
    type(of, std::move(text), std::move(done));
  if (of->ended) poll_end(of);
}

void command_book::write(const app::command_write_params& params, rpc_reply done) {
  if (params.close_stdin.value_or(false))
    return done(
        wrong_params("`closeStdin` is not taken: a terminal stays open. Ctrl-D (BA==) tells "
                     "its reader that nothing more comes"));
  if (!params.delta_base64 || params.delta_base64->empty())
    return done(wrong_params("there is nothing to write: give `deltaBase64`"));
  auto text = decode_base64(*params.delta_base64);
  if (!text) return done(wrong_params("`deltaBase64` is no base64 (standard alphabet, padded)"));
  if (find_invalid_utf8(*text) || text->find('\0') != std::string::npos)
    return done(wrong_params("`deltaBase64` is taken as UTF-8 text without NUL only: what is typed "
                             "is judged and recorded as text"));
  const auto into = find(params.process_id);
  if (!into) return done(no_process(params.process_id));
  if (!into->tty)
    return done(refused("the command " + shown(params.process_id) +
                            " has no terminal, and so no "
                            "input. Start it with `tty`",
                        "noTerminal"));
  if (into->session) return type(into, *std::move(text), std::move(done));
  if (into->queued_bytes + text->size() > most_queued)
    return done(overloaded("the command has not started; more input cannot wait for it",
                           into->queued_bytes, most_queued));
  into->queued_bytes += text->size();
  into->queued.emplace_back(*std::move(text), std::move(done));
}

void command_book::type(const command_ptr& into, std::string text, rpc_reply done) {
  auto call_id = into->call_id + "/" + std::to_string(++into->writes);
  ++into->under_way;
  into->entry->calls->begin(
      into->entry->handle,
      call_to_type(into->entry->handle.id(), std::move(call_id), *into->session, std::move(text)),
      calls_, [weak = weak_from_this(), into, done = std::move(done)](const rpc_outcome& what) {
        const auto self = weak.lock();
        if (!self) return;
        --into->under_way;
        const auto* report = std::get_if<call_report_ptr>(&what);
        if (report) self->piece(into, **report);
        if (done) {
          app::command_write_result told;
          if (report && ((*report)->failure || (*report)->ending != call_ending::completed)) {
            told.status = app::result_of(outcome_of(**report)).status;
            told.message = (*report)->message;
          }
          const auto* why = std::get_if<rpc::failure>(&what);
          done(why ? rpc_outcome{*why} : rpc_outcome{rpc::to_json(told)});
        }
        self->end_if_over(into);
      });
}

/// The last poll: who asks for the end of a session lets its hooks speak (§124), and frees its
/// place.
void command_book::poll_end(const command_ptr& of) {
  if (std::exchange(of->polled_end, true) || of->over) return;
  type(of, {}, {});
}

void command_book::piece(const command_ptr& of, const call_report& said) {
  const auto room = of->cap - std::min(of->cap, of->polled.size());
  of->polled += first_of(said.output.aggregated, room);
  // About its end: what the boundary refused, what a hook says.
  if (said.ending == call_ending::completed && !said.message.empty()) of->message = said.message;
}

void command_book::end_if_over(const command_ptr& of) {
  if (of->over || !of->ended || !of->polled_end || of->under_way > 0) return;
  call_report report;
  report.call_id = of->call_id;
  report.ending = call_ending::completed;
  report.evaluation.requirement.kind = requirement_kind::skip;
  report.attempts.push_back(*of->ended);
  auto told = result_from(report);
  told.standard_output = of->heard.empty() ? of->polled : of->heard;
  told.output_truncated = of->lacks;
  if (told.message.empty()) told.message = of->message;
  finish(of, std::move(told));
}

void command_book::resize(const app::command_resize_params& params, const rpc_reply& done) {
  if (!is_size(params.size)) return done(wrong_params("`rows` and `cols` are 1 to 1000"));
  const auto of = find(params.process_id);
  if (!of) return done(no_process(params.process_id));
  if (!of->tty)
    return done(
        refused("the command " + shown(params.process_id) + " has no terminal", "noTerminal"));
  of->size = params.size;
  if (!of->session) return done(rpc::to_json(app::nothing{}));
  of->entry->handle.send(say::resize_terminal{*of->session, static_cast<int>(params.size.rows),
                                              static_cast<int>(params.size.columns),
                                              [done](const result<void>& how) {
                                                // A command that has ended meanwhile has no size to
                                                // lose.
                                                if (how || how.error().code == errc::not_found)
                                                  return done(rpc::to_json(app::nothing{}));
                                                done(refused(to_string(how.error()), "notResized"));
                                              }});
}

// ---- ends ----

void command_book::stop(command& what) {
  what.stopping = true;
  if (what.session)
    what.entry->handle.send(say::end_terminal{*what.session, {}});
  else
    what.entry->handle.send(say::cancel_call{what.call_id});
}

void command_book::terminate(const std::string& process_id, const rpc_reply& done) {
  const auto of = find(process_id);
  if (!of) return done(no_process(process_id));
  stop(*of);
  done(rpc::to_json(app::nothing{}));
}

void command_book::connection_lost() {
  const auto all = by_call_;
  for (const auto& [call, one] : all)
    if (!one->detachable) stop(*one);
}

void command_book::closed(const thread_entry& thread) {
  const auto all = by_call_;
  for (const auto& [call, one] : all) {
    if (one->over || one->entry.get() != &thread) continue;
    app::command_exec_result told;
    told.exit_code = 120;
    told.call_id = one->call_id;
    told.status = app::call_status::interrupted;
    told.standard_output = one->heard;
    told.output_truncated = true;
    told.message = "the thread was closed";
    finish(one, std::move(told));
  }
  ears_.erase(thread.handle.id());
}

void command_book::finish(const command_ptr& of, app::command_exec_result told) {
  of->over = true;
  if (of->seq > 0) { // what was streamed is not told again
    told.standard_output.clear();
    told.standard_error.clear();
    if (of->unsaid > 0) tell(*of, output_stream::standard_output, {});
  }
  for (auto* text : {&told.standard_output, &told.standard_error})
    if (text->size() > of->cap) {
      *text = first_of(std::move(*text), of->cap);
      told.output_truncated = true;
    }
  refuse_queued(*of, "the command has ended, and this was not written");
  forget(of);
  of->done(rpc::to_json(told));
}

void command_book::refuse_queued(command& of, const std::string& why) {
  for (auto& [text, done] : std::exchange(of.queued, {}))
    done(refused(why, "unknownProcess"));
}

void command_book::forget(const command_ptr& of) {
  const auto& thread = of->entry->handle.id();
  by_call_.erase({thread, of->call_id});
  if (const auto at = by_process_.find(of->process_id); at != by_process_.end() && at->second == of)
    by_process_.erase(at);
  const auto next = by_call_.lower_bound({thread, ""});
  if (next != by_call_.end() && next->first.first == thread) return;
  const auto gone = ears_.extract(thread);
  if (!gone.empty()) of->entry->handle.send(say::unsubscribe{gone.mapped()});
}

} // namespace gatehouse::actors
