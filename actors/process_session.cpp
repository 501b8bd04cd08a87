#include "actors/process_session.hpp"

#include "actors/attempt_launch.hpp"
#include "actors/network_outcome.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

namespace gatehouse::actors {
namespace {

constexpr std::size_t tail_bytes = 64 * 1024; // what the classification looks at
constexpr int killing = 2;                    ///< the last of the kill stages
constexpr std::string_view control_c = "\x03";

reactor::delta_limits limits_of_deltas(const process_terms& terms) {
  reactor::delta_limits limits;
  limits.deltas = terms.deltas;
  return limits;
}

} // namespace

process_session::process_session(caf::actor_config& config, process_terms terms, int session_id,
                                 std::chrono::milliseconds first_wait,
                                 process_manager_actor manager)
    : process_actor::base{config}, terms_{std::move(terms)}, session_id_{session_id},
      first_wait_{first_wait}, manager_{std::move(manager)}, tails_{{tail_bytes, 0}},
      unread_{terms_.unread_bytes}, history_{terms_.unread_bytes},
      deltas_{limits_of_deltas(terms_)}, wait_{*terms_.host.loop}, delta_timer_{*terms_.host.loop},
      hard_{*terms_.host.loop}, idle_{*terms_.host.loop}, kill_{*terms_.host.loop} {}

void process_session::on_exit() {
  process_.reset(); // kills what still runs
  for (auto* t : {&wait_, &delta_timer_, &hard_, &idle_, &kill_})
    t->cancel();
  if (first_.pending()) {
    record_.ending = attempt_ending::cancelled;
    first_.deliver(std::make_shared<const attempt_result>(attempt_result{record_, {}}));
  }
  for (auto& poll : polls_) {
    poll_piece gone;
    gone.failure = error{errc::cancelled, "the terminal session was ended", {}};
    poll.caller.deliver(std::make_shared<const poll_piece>(std::move(gone)));
  }
  polls_.clear();
  first_ = {}; // they refer to this actor
  manager_ = nullptr;
  if (std::exchange(owns_registration_, false) && terms_.network)
    caf::anon_send(terms_.network, close_v, (*attempt_)->network_registration);
  terms_.network = nullptr;
}

process_session::behavior_type process_session::make_behavior() {
  return {
      [this](run_atom, const attempt_ptr& what) -> caf::result<attempt_result_ptr> {
        first_ = make_response_promise<attempt_result_ptr>();
        auto answer = first_;
        attempt_ = what;
        start();
        return answer;
      },
      [this](cancel_atom, const std::string& call) {
        if (call == (*attempt_)->call_id) return stop(attempt_ending::cancelled);
        end_poll(call);
      },
      [this](poll_atom, const poll_order_ptr& order) -> caf::result<poll_piece_ptr> {
        polls_.push_back({*order, make_response_promise<poll_piece_ptr>()});
        auto answer = polls_.back().caller;
        begin_poll();
        return answer;
      },
      [this](read_atom, std::int64_t after) -> process_transcript_ptr {
        process_transcript told{true, {}, history_.total_bytes() + lost_, 0, 0};
        if (after == whole_transcript) {
          told.text = history_.render().value;
        } else {
          auto rest = history_.render_after(static_cast<std::uint64_t>(after));
          told.text = std::move(rest.value);
          told.from = rest.from;
          told.next = rest.next;
        }
        return std::make_shared<const process_transcript>(std::move(told));
      },
      [this](type_atom, const std::string& chars) -> poll_piece_ptr {
        poll_piece piece;
        if (const auto typed = write(chars); !typed) piece.failure = typed.error();
        return std::make_shared<const poll_piece>(std::move(piece));
      },
      [this](signal_atom, int number) {
        if (process_ && !end_) process_->signal(number);
      },
      [this](resize_atom, int rows, int columns) {
        if (process_)
          process_->resize({static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(columns)});
      },
      [this](end_atom) { stop(attempt_ending::cancelled); },
      [this](kill_atom) { quit(); },
      [this](hold_atom, bool held, caf::timespan counts) { hold(held, counts); },
      [this](refuse_atom) {
        refused_ = !stopped_;
        kill_stage_ = killing; // what it waits for has been refused: it must not go on (§116)
        if (refused_) return stop(attempt_ending::cancelled);
        kill_.cancel();
        escalate();
      },
      [this](report_atom) { look(); },
  };
}

void process_session::start() {
  const attempt_terms& terms = **attempt_;
  record_.number = terms.number;
  record_.sandbox = terms.backend;
  record_.network = terms.network;
  if (terms.tty) {
    auto limits = limits_of_deltas(terms_);
    limits.terminal = true;
    deltas_ = reactor::delta_coalescer{limits};
  }

  const process_actor self{this};
  started_at_ = wait_began_ = terms_.host.loop->now();
  auto request = helper_for(
      terms_.host, terms,
      [self](const hidden_wait::change& wait) {
        caf::anon_send(self, hold_v, wait.held, caf::timespan{wait.counts});
      },
      [self] { caf::anon_send(self, refuse_v); });
  if (!request) return fail(request.error());
  request->tty = terms.tty;

  // These run on the loop, between our messages: they only keep bytes and wake us.
  auto wake = [self] { caf::anon_send(self, report_v); };
  auto started =
      start_command(terms_.host, *request,
                    {.on_started = {},
                     .on_output = [this](reactor::output_stream stream,
                                         std::string_view bytes) { keep(stream, bytes); },
                     .on_lost =
                         [this](std::uint64_t bytes) {
                           tails_.lose(bytes);
                           lost_ += bytes;
                           lost_unread_ += bytes;
                         },
                     .on_exit =
                         [this, wake](const command_end& end) {
                           end_ = end;
                           wake();
                         },
                     .on_end =
                         [this, wake] {
                           streams_ended_ = true;
                           wake();
                         },
                     .on_input_drained = {}});
  if (!started) return fail(started.error());
  process_ = std::move(*started);
  wait_for(first_wait_);
  if (terms_.hard_limit) limit_to(*terms_.hard_limit);
  alive();
}

/// Nothing runs.
void process_session::fail(const error& why) {
  end_.emplace();
  end_->failure = why;
  streams_ended_ = true;
  conclude();
}

void process_session::keep(reactor::output_stream stream, std::string_view bytes) {
  (void)tails_.append(stream, bytes);
  unread_.append(bytes);
  history_.append(bytes);
  deltas_.append(stream, bytes, terms_.host.loop->now());
  announce(deltas_.take(terms_.host.loop->now()));
  arm_deltas();
  alive();
  if (process_) process_->grant(stream);
}

void process_session::announce(const std::vector<reactor::output_delta>& deltas) {
  if (!terms_.on_event) return;
  for (const auto& delta : deltas)
    terms_.on_event({session_id_, (*attempt_)->call_id, (*attempt_)->number,
                     process_event::output{delta.stream, delta.bytes}});
}

void process_session::arm_deltas() {
  const auto due = deltas_.due();
  if (!due || delta_timer_.pending()) return;
  delta_timer_.start_at(*due, [this] {
    announce(deltas_.take(terms_.host.loop->now()));
    arm_deltas();
  });
}

void process_session::alive() {
  if (terms_.idle_limit && !stopped_ && !held_)
    idle_.start(*terms_.idle_limit, [this] {
      record_.idle = true;
      time_out(*terms_.idle_limit);
    });
}

/// What a person needs to answer is not the process's time (§95).
void process_session::hold(bool held, reactor::clock::duration counts) {
  if (stopped_ || concluding_) return;
  if (std::exchange(held_, held) != held) {
    if (held)
      idle_.cancel();
    else
      alive();
  }
  if (!terms_.hard_limit) return;
  const auto left = (hard_left_ ? *hard_left_ : hard_at_ - terms_.host.loop->now()) - counts;
  hard_.cancel();
  hard_left_.reset();
  if (held && left.count() > 0)
    hard_left_ = left;
  else
    limit_to(std::max(left, {}));
}

void process_session::limit_to(reactor::clock::duration left) {
  hard_at_ = terms_.host.loop->now() + left;
  hard_.start_at(hard_at_, [this] { time_out(*terms_.hard_limit); });
}

void process_session::time_out(std::chrono::milliseconds limit) {
  if (stopped_) return;
  record_.limit = limit;
  record_.grace = terms_.interrupt_grace + terms_.host.end_grace;
  record_.stopped = process_ && process_->stopped();
  stop(attempt_ending::timed_out);
}

void process_session::stop(attempt_ending why) {
  if (over_ || !process_ || stopped_) return;
  stopped_ = why;
  if (terms_.network && !(*attempt_)->network_registration.empty())
    send(terms_.network, cancel_v, (*attempt_)->network_registration);
  hard_.cancel();
  idle_.cancel();
  escalate();
}

/// Ctrl-C first, then SIGTERM, then SIGKILL over the whole tree. A stopped process must go on to
/// see the first two.
void process_session::escalate() {
  if (!process_ || end_) return;
  switch (kill_stage_++) {
  case 0:
    process_->signal(SIGINT);
    process_->signal(SIGCONT);
    kill_.start(terms_.interrupt_grace, [this] { escalate(); });
    break;
  case 1:
    process_->signal(SIGTERM);
    kill_.start(terms_.host.end_grace, [this] { escalate(); });
    break;
  default: process_->kill();
  }
}

/// Completion is the end of the command and of its streams, which are cut when something holds
/// them (§96): never the end of output alone.
void process_session::look() {
  if (!concluding_ && end_ && streams_ended_) return conclude();
  if (!over_ && !wait_over_) return;
  answer_first();
  answer_poll();
}

void process_session::wait_for(std::chrono::milliseconds time) {
  wait_over_ = false;
  wait_began_ = terms_.host.loop->now();
  wait_.start(time, [this, self = process_actor{this}] {
    wait_over_ = true;
    caf::anon_send(self, report_v);
  });
}

void process_session::conclude() {
  concluding_ = true;
  process_.reset();
  for (auto* t : {&wait_, &delta_timer_, &hard_, &idle_, &kill_})
    t->cancel();
  announce(deltas_.take_all());
  (void)tails_.finish(reactor::output_stream::standard_output);
  (void)tails_.finish(reactor::output_stream::standard_error);
  record_.duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(terms_.host.loop->now() - started_at_);
  take_end(record_, *end_, stopped_);
  look_for_denial(record_, terms_.host, **attempt_, *end_, tails_.output());
  close_network();
}

/// Whoever was told that the process lives has left its registration to us; a late denial may still
/// come (§117). A call that still waits closes it itself.
void process_session::close_network() {
  if (!std::exchange(owns_registration_, false)) return tell_end();
  request(terms_.network, caf::infinite, close_v, (*attempt_)->network_registration)
      .then(
          [this](const network_end_ptr& seen) {
            (void)apply_network_end(record_, *seen, !refused_);
            tell_end();
          },
          [this](caf::error&) { tell_end(); });
}

void process_session::tell_end() {
  over_ = true;
  const attempt_terms& terms = **attempt_;
  if (terms_.on_event && started_at_ != reactor::clock::time_point{})
    terms_.on_event({session_id_, terms.call_id, terms.number,
                     process_event::ended{record_, history_.render().value}});
  answer_first();
  answer_poll();
  if (manager_) send(manager_, ended_v, session_id_);
}

poll_piece process_session::take_piece() {
  poll_piece piece;
  piece.total_bytes = unread_.total_bytes();
  auto text = unread_.take();
  piece.total_bytes -= unread_.total_bytes(); // the beginning of a character stays
  if (over_ && unread_.total_bytes() > 0) {
    const auto rest = unread_.render();
    piece.total_bytes += unread_.total_bytes();
    text.value += rest.value;
    unread_ = reactor::head_tail_buffer{terms_.unread_bytes};
  }
  piece.text = std::move(text.value);
  piece.omitted_bytes = text.omitted_bytes + lost_unread_;
  piece.total_bytes += std::exchange(lost_unread_, 0);
  piece.wall =
      std::chrono::duration_cast<std::chrono::microseconds>(terms_.host.loop->now() - wait_began_);
  if (over_) piece.ended = record_;
  return piece;
}

void process_session::answer_first() {
  if (!first_.pending()) return;
  attempt_result result;
  result.record = record_;
  auto piece = take_piece();
  if (over_) {
    result.output = tails_.output(); // the two streams apart, for hooks and for people
  } else {
    result.record.ending = attempt_ending::running;
    result.record.duration = std::chrono::duration_cast<std::chrono::milliseconds>(piece.wall);
  }
  result.output.aggregated = std::move(piece.text);
  result.output.truncated_bytes = piece.omitted_bytes;
  result.output.aggregate_omitted_bytes = piece.omitted_bytes;
  result.output.total_bytes = piece.total_bytes;
  owns_registration_ = !over_ && !(*attempt_)->network_registration.empty() && terms_.network;
  first_.deliver(std::make_shared<const attempt_result>(std::move(result)));
  wait_over_ = over_;
  begin_poll();
}

void process_session::begin_poll() {
  while (!polling_ && !polls_.empty() && !first_.pending()) {
    polling_ = true;
    wait_over_ = over_;
    wait_began_ = terms_.host.loop->now();
    auto& front = polls_.front();
    if (!front.order.chars.empty())
      if (auto written = write(front.order.chars); !written) {
        poll_piece piece;
        piece.failure = written.error();
        front.caller.deliver(std::make_shared<const poll_piece>(std::move(piece)));
        polls_.pop_front();
        polling_ = false;
        continue;
      }
    if (front.order.yield > std::chrono::milliseconds::zero() && !over_)
      wait_for(front.order.yield);
    else
      wait_over_ = true;
    answer_poll();
  }
}

void process_session::answer_poll() {
  if (!polling_ || (!over_ && !wait_over_)) return;
  wait_.cancel();
  auto piece = take_piece();
  polls_.front().caller.deliver(std::make_shared<const poll_piece>(std::move(piece)));
  polls_.pop_front();
  polling_ = false;
  begin_poll();
}

/// The poll is answered with what came so far.
void process_session::end_poll(const std::string& call_id) {
  for (auto& poll : polls_)
    if (poll.order.call_id == call_id) poll.order.yield = std::chrono::milliseconds::zero();
  if (!polling_ || polls_.front().order.call_id != call_id) return;
  wait_over_ = true;
  answer_poll();
}

result<void> process_session::write(const std::string& chars) {
  const bool tty = (*attempt_)->tty;
  if (over_ || !process_)
    return error{errc::invalid_request, "StdinClosed: the process has ended", {}};
  if (stopped_) return error{errc::invalid_request, "StdinClosed: the process is being ended", {}};
  alive();
  if (tty) return process_->write_stdin(chars);
  if (chars != control_c)
    return error{errc::invalid_request,
                 "StdinClosed: the session has no terminal, so its standard input is closed",
                 "start it with tty, or send Ctrl-C alone"};
  process_->signal(SIGINT);
  return {};
}

} // namespace gatehouse::actors
