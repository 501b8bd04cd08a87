#include "actors/remote_process.hpp"

#include "actors/random_id.hpp"
#include "actors/remote_connection.hpp"
#include "protocol/utf8.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <variant>

namespace gatehouse::actors {
namespace {

using exec_client::answer;
using exec_server::failure;
using event = exec_client::process_event;
using reactor::output_stream;

constexpr std::size_t most_pending_input = std::size_t{1024} * 1024;
/// Of a message beside its bytes: its frame, its head and our own note of it. An estimate.
constexpr int most_reads_behind_exit = 1000;
constexpr std::size_t message_overhead = 64;
constexpr std::size_t longest_reason = 2000; // of what the server says

/// The callbacks may end what holds them: what runs is a copy.
template <class F, class... Args>
void tell_owner(const F& callback, const Args&... args) {
  if (const auto own = callback) own(args...);
}

std::size_t index_of(output_stream stream) {
  return stream == output_stream::standard_error ? 1 : 0;
}

} // namespace

remote_process::remote_process(reactor::event_loop& loop,
                               const std::shared_ptr<remote_connection>& over, std::string id,
                               std::string start_params, bool tty, command_listener listener)
    : loop_{loop}, over_{over}, id_{std::move(id)}, start_params_{std::move(start_params)},
      tty_{tty}, listener_{std::move(listener)}, given_up_{loop}, drain_{loop}, write_again_{loop} {
}

void remote_process::grant(output_stream stream) {
  auto& sizes = ungranted_[index_of(stream)];
  if (sizes.empty()) return;
  const auto size = sizes.front();
  sizes.pop_front();
  if (const auto over = over_.lock()) over->taken(size);
}

result<void> remote_process::write(std::string bytes) {
  if (pending_ + bytes.size() > most_pending_input)
    return error{errc::too_large, "the command does not read its standard input", {}};
  pending_ += bytes.size();
  writes_.emplace_back(random_id(), std::move(bytes));
  write_next();
  return {};
}

void remote_process::write_next() {
  const auto over = over_.lock();
  if (!over || !over->ready() || !started_ || write_under_way_ || writes_.empty() ||
      write_again_.pending())
    return;
  write_under_way_ = true;
  const auto& [write_id, bytes] = writes_.front();
  over->ask("process/write", exec_client::write_params(id_, bytes, write_id),
            [self = shared_from_this()](const answer& said) {
              self->write_under_way_ = false;
              if (self->writes_.empty()) return;
              if (said.failed && said.failed->code == exec_server::code::overloaded)
                return self->write_later();
              const auto status = said.failed ? result<std::string>{error{}}
                                              : exec_client::decode_write(said.result);
              if (status && *status == "starting") return self->write_later();
              if (status && *status == "accepted") {
                self->pending_ -= self->writes_.front().second.size();
                self->writes_.pop_front();
              } else { // it takes nothing any more
                self->pending_ = 0;
                self->writes_.clear();
              }
              if (self->writes_.empty()) tell_owner(self->listener_.on_input_drained);
              self->write_next();
            });
}

/// Its id makes it one write, however often it is tried.
void remote_process::write_later() {
  const auto over = over_.lock();
  if (!over) return;
  write_again_.start(over->terms().retry, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->write_next();
  });
}

void remote_process::interrupt() {
  interrupt_wanted_ = true;
  const auto over = over_.lock();
  if (!over || !over->ready() || !started_) return;
  over->ask("process/signal", exec_client::signal_params(id_),
            [self = shared_from_this()](const answer&) { self->interrupt_wanted_ = false; });
}

void remote_process::kill() {
  end();
  const auto over = over_.lock();
  if (!over || given_up_.pending()) return;
  const auto& terms = over->terms();
  give_up_after(started_ ? terms.recovery : std::min(terms.start_doubt, terms.recovery));
}

void remote_process::give_up_after(std::chrono::milliseconds patience) {
  given_up_.start(patience, [weak = weak_from_this()] {
    const auto self = weak.lock();
    const auto line = self ? self->over_.lock() : nullptr;
    if (line)
      self->finish(self->broken(line->terms().name +
                                (self->start_sent_ ? " did not answer when the command was to end"
                                                   : " had not answered until then")));
  });
}

void remote_process::end() {
  end_wanted_ = true;
  release(); // its end comes behind its output
  const auto over = over_.lock();
  if (!start_sent_ && !given_up_.pending()) give_up_after(std::chrono::milliseconds::zero());
  if (!over || !over->ready() || !started_) return;
  over->ask("process/terminate", exec_client::process_params(id_),
            [self = shared_from_this()](const answer&) {
              const auto line = self->over_.lock();
              if (line && !self->listener_.on_end) line->remove(self->id_);
            });
}

/// It may have been started before the line was cut, and must not be now.
void remote_process::end_what_was_sent() {
  const auto over = over_.lock();
  if (!over) return;
  over->ask("process/terminate", exec_client::process_params(id_),
            [self = shared_from_this()](const answer& said) {
              const auto line = self->over_.lock();
              if (!line) return;
              if (!self->listener_.on_end) return line->remove(self->id_);
              const auto running =
                  said.failed ? result<bool>{false} : exec_client::decode_running(said.result);
              if (!running || !*running)
                return self->finish(
                    self->broken(line->terms().name + " was told to end the command"));
              self->started_ = true;
              self->read();
            });
}

void remote_process::forget() {
  release();
  listener_ = {};
  given_up_.cancel();
  drain_.cancel();
  const auto over = over_.lock();
  if (!start_sent_ && over)
    over->remove(id_);
  else if (!stream_.closed())
    end();
}

void remote_process::line_stands() {
  reading_ = write_under_way_ = false;
  if (!started_ && end_wanted_) {
    if (start_sent_) end_what_was_sent();
    return; // else it is given up
  }
  if (!started_) return send_start();
  read();
  go_on();
}

void remote_process::line_lost(const std::string& why) {
  finish(broken(why));
}

/// Once more after a cut; the id makes it one process.
void remote_process::send_start() {
  const auto over = over_.lock();
  if (!over) return;
  const bool repeated = std::exchange(start_sent_, true);
  over->ask(
      "process/start", start_params_, [self = shared_from_this(), repeated](const answer& said) {
        if (said.failed && !(repeated && said.failed->code == exec_server::code::invalid_request))
          return self->not_started(*said.failed);
        self->started_ = true;
        tell_owner(self->listener_.on_started);
        if (repeated) self->read(); // it may have been started before the cut
        self->go_on();
      });
}

void remote_process::go_on() {
  write_next();
  if (interrupt_wanted_) interrupt();
  if (end_wanted_) end();
}

void remote_process::read() {
  const auto over = over_.lock();
  if (!over || reading_ || !over->ready()) return;
  reading_ = true;
  over->ask("process/read", exec_client::read_params(id_, stream_.ask()),
            [self = shared_from_this()](const answer& said) { self->read_answered(said); });
}

void remote_process::read_answered(const answer& said) {
  reading_ = false;
  const auto over = over_.lock();
  if (!over) return;
  if (said.failed)
    return finish(
        broken(over->terms().name + " no longer knows the command: " + said.failed->message));
  auto kept = exec_client::decode_read(id_, said.result);
  if (!kept) return finish(broken(to_string(kept.error())));
  auto events = stream_.take(*std::move(kept));
  say_lost();
  if (!keeps_to_the_protocol()) return;
  deliver(std::move(events));
  if (!rest_until_ || !listener_.on_end) return;
  // This came behind all else; what a command left behind it may say for ever.
  if (!reading_ || ++reads_behind_exit_ > most_reads_behind_exit) close();
}

bool remote_process::keeps_to_the_protocol() {
  if (stream_.left_out())
    break_off("it went on with what a command says without number " +
              std::to_string(stream_.last() + 1) + " of it");
  else if (stream_.contradicts())
    break_off("what it says of a command contradicts itself (number " +
              std::to_string(stream_.last() + 1) + ")");
  else
    return true;
  return false;
}

void remote_process::break_off(const std::string& why) {
  if (const auto over = over_.lock()) over->fail("it breaks the protocol: " + why);
}

void remote_process::say_lost() {
  const auto lost = stream_.take_lost();
  if (lost == 0) return;
  tell_owner(listener_.on_lost, lost);
  say(tty_ ? output_stream::standard_output : output_stream::standard_error,
      "[gatehouse: " + std::to_string(lost) +
          " bytes of output were lost while the connection was cut]\n");
}

void remote_process::hear(event one) {
  auto events = stream_.take(std::move(one));
  if (!keeps_to_the_protocol()) return;
  deliver(std::move(events));
  if (!rest_until_ || !listener_.on_end) return;
  rest_until_.reset(); // the answer may be far behind
  wait_for_the_rest();
}

void remote_process::deliver(std::vector<event> events) {
  for (auto& each : events) {
    if (const auto* said = std::get_if<event::output>(&each.what)) {
      say(said->stream == "stderr" ? output_stream::standard_error : output_stream::standard_output,
          said->bytes);
    } else if (const auto* exited = std::get_if<event::exited>(&each.what)) {
      command_end end;
      end.started = true;
      end.ending = attempt_ending::exited;
      end.exit_code = exited->exit_code;
      end.denied_elsewhere = exited->sandbox_denied;
      told_end_ = true;
      exit_code_ = end.exit_code;
      drain();
      tell_owner(listener_.on_exit, end);
    } else {
      return close();
    }
  }
  if (stream_.wants_read() && !stream_.closed()) read();
}

void remote_process::say(output_stream stream, std::string_view bytes) {
  const auto over = over_.lock();
  if (listener_.on_output && !unlimited_ && over) {
    const auto size = bytes.size() + message_overhead;
    ungranted_[index_of(stream)].push_back(size);
    over->told(size);
  }
  tell_owner(listener_.on_output, stream, bytes);
}

/// It holds nobody up any more.
void remote_process::release() {
  unlimited_ = true;
  const auto over = over_.lock();
  for (auto& sizes : ungranted_)
    for (const auto size : std::exchange(sizes, {}))
      if (over) over->taken(size);
}

/// What it has said may still wait behind a reader who is slow, or on the line: the answer to a
/// read comes behind all that.
void remote_process::drain() {
  const auto over = over_.lock();
  if (!over) return;
  drain_.start(over->terms().drain, [weak = weak_from_this()] {
    const auto self = weak.lock();
    const auto line = self ? self->over_.lock() : nullptr;
    if (!line) return;
    if (line->held()) return self->drain();
    self->wait_for_the_rest();
    self->read();
  });
}

void remote_process::wait_for_the_rest() {
  const auto over = over_.lock();
  if (!over) return;
  if (!rest_until_) rest_until_ = loop_.now() + over->terms().recovery;
  drain_.start_at(*rest_until_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    const auto line = self ? self->over_.lock() : nullptr;
    if (!line) return;
    if (!line->held())
      return self->finish(
          self->broken(line->terms().name + " did not say what else the command had said"));
    self->rest_until_.reset();
    self->wait_for_the_rest();
  });
}

/// Nothing more of it is of interest: the server may forget it, and end what it left behind.
void remote_process::close() {
  const auto last = std::exchange(listener_, {}).on_end;
  given_up_.cancel();
  drain_.cancel();
  end();
  tell_owner(last);
}

/// What is missing is told as the command's own words would be, which reach whoever started it.
void remote_process::not_started(const failure& why) {
  const auto over = over_.lock();
  if (!over) return;
  const auto& where = over->terms().name;
  const auto named = why.path.empty() || why.message.find(why.path) != std::string::npos
                         ? why.message
                         : why.path + ": " + why.message;
  const auto said = where + " did not start the command: " + abridged(named, longest_reason);
  command_end end;
  if (why.kind == "spawnNotFound") {
    say(tty_ ? output_stream::standard_output : output_stream::standard_error,
        "gatehouse: " + visible_text(said) + "\n");
    end.started = true;
    end.ending = attempt_ending::exited;
    end.exit_code = 127;
    end.exec_error = ENOENT;
    return finish(end);
  }
  const bool boundary = why.kind == "sandboxUnavailable";
  end.failure = error{boundary ? errc::boundary_unavailable : errc::spawn_failed, said,
                      boundary ? "Run `gatehouse doctor` there." : ""};
  finish(end);
}

/// The end of a command whose real end will not be known.
command_end remote_process::broken(std::string why) const {
  command_end end;
  end.started = start_sent_;
  end.out_of_reach = true;
  if (start_sent_) end.ending = attempt_ending::lost;
  std::string next = "Nothing was run. See that `gatehouse exec-server` listens there, "
                     "and that the token is its own (docs/remote.md).";
  if (exit_code_)
    next = "The command exited with " + std::to_string(*exit_code_) +
           " there, and what it said may lack something.";
  else if (start_sent_)
    next = "The command may still run there; its server ends it by itself.";
  end.failure = error{errc::io, std::move(why), std::move(next)};
  return end;
}

void remote_process::finish(const command_end& end) {
  const auto self = shared_from_this();
  if (const auto over = over_.lock()) over->remove(id_);
  release();
  given_up_.cancel();
  drain_.cancel();
  const auto listener = std::exchange(listener_, {});
  told_end_ = true;
  tell_owner(listener.on_exit, end);
  tell_owner(listener.on_end);
}

} // namespace gatehouse::actors
