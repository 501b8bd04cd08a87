#include "actors/endpoint/app_methods.hpp"
#include "actors/endpoint/refusals.hpp"
#include "protocol/shell_quote.hpp"
#include "sandbox/launch.hpp"

#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;
using namespace thread_messages;

namespace {

/// The number, when it is one that a session can have; else one that none has.
int session_number(std::int64_t id) {
  return id > 0 && id < 1'000'000 ? static_cast<int>(id) : 0;
}

auto tell_found(const rpc_reply& done) {
  return [done](bool found) { done(rpc::to_json(app::terminal_found_result{found})); };
}

/// Of what is recorded before it happens.
/// @param kind of the failure when it could not be
auto tell_done(const rpc_reply& done, std::string kind) {
  return [done, kind = std::move(kind)](const result<void>& how) {
    if (!how && how.error().code != errc::not_found)
      return done(refused(to_string(how.error()), kind));
    done(rpc::to_json(app::terminal_found_result{how.has_value()}));
  };
}

rpc::failure no_session(std::int64_t id) {
  return refused("there is no terminal session " + std::to_string(id), "unknownSession");
}

bool in_range(std::int64_t value, std::int64_t most) {
  return value >= 1 && value <= most;
}

} // namespace

void terminal_methods::operator()(app::methods::terminals_list, const app::thread_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  entry->handle.send(list_terminals{[done = done](const std::vector<process_info>& all) {
    app::terminal_list_result told;
    for (const auto& one : all)
      told.data.push_back({one.session_id, one.call_id, shell_join(one.argv), one.cwd, one.tty,
                           one.background, one.running, one.sandboxed, one.age.count()});
    done(rpc::to_json(told));
  }});
}

void terminal_methods::operator()(app::methods::terminals_read,
                                  const app::terminal_read_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  if (p.after_byte && *p.after_byte < 0) return done(wrong_params("`afterByte` is 0 or more"));
  read_terminal order;
  order.session_id = session_number(p.session_id);
  order.after = p.after_byte;
  order.done = [done = done, p](const process_transcript& said) {
    if (!said.known) return done(no_session(p.session_id));
    app::terminal_read_result told;
    told.output = said.text;
    told.total_bytes = static_cast<std::int64_t>(said.total_bytes);
    if (p.after_byte) {
      told.from_byte = static_cast<std::int64_t>(said.from);
      told.next_byte = static_cast<std::int64_t>(said.next);
    }
    done(rpc::to_json(told));
  };
  entry->handle.send(std::move(order));
}

void terminal_methods::operator()(app::methods::terminals_write,
                                  const app::terminal_write_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  constexpr std::size_t most_typed = 65536;
  if (p.text.empty() || p.text.size() > most_typed || p.text.find('\0') != std::string::npos)
    return done(wrong_params("`text` is 1 to 65536 bytes without NUL"));
  entry->handle.send(write_terminal{session_number(p.session_id), p.text,
                                    [done = done](const result<void>& typed) {
                                      if (typed) return done(rpc::to_json(app::nothing{}));
                                      done(refused(to_string(typed.error()), "notWritten"));
                                    }});
}

void terminal_methods::operator()(app::methods::terminals_signal,
                                  const app::terminal_signal_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  if (!in_range(p.signal, 64)) return done(wrong_params("`signal` is 1 to 64"));
  if (!sandbox::can_be_passed_on(static_cast<int>(p.signal)))
    return done(wrong_params("signal " + std::to_string(p.signal) +
                             " cannot be passed on: it would stop or end the processes that hold "
                             "the boundary, while the command goes on; 1 (HUP), 2 (INT), 3 (QUIT), "
                             "9 (KILL), 10 (USR1), 12 (USR2), 15 (TERM), 18 (CONT) and 28 (WINCH) "
                             "can"));
  entry->handle.send(signal_terminal{session_number(p.session_id), static_cast<int>(p.signal),
                                     tell_done(done, "notSignalled")});
}

void terminal_methods::operator()(app::methods::terminals_resize,
                                  const app::terminal_resize_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  if (!in_range(p.rows, 1000) || !in_range(p.columns, 1000))
    return done(wrong_params("`rows` and `columns` are 1 to 1000"));
  entry->handle.send(resize_terminal{session_number(p.session_id), static_cast<int>(p.rows),
                                     static_cast<int>(p.columns), tell_done(done, "notResized")});
}

void terminal_methods::operator()(app::methods::terminals_terminate,
                                  const app::terminal_params& p) const {
  const auto entry = need(p.thread_id);
  if (entry) entry->handle.send(end_terminal{session_number(p.session_id), tell_found(done)});
}

void terminal_methods::operator()(app::methods::terminals_clean,
                                  const app::thread_params& p) const {
  const auto entry = need(p.thread_id);
  if (!entry) return;
  entry->handle.send(clean_terminals{
      [done = done](int ended) { done(rpc::to_json(app::terminal_clean_result{ended})); }});
}

} // namespace gatehouse::actors
