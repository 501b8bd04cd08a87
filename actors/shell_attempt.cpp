#include "actors/shell_attempt.hpp"

#include "actors/paced_output.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <csignal>
#include <utility>

namespace gatehouse::actors {

shell_attempt::shell_attempt(caf::actor_config& config, shell_terms terms, attempt_program program)
    : shell_attempt_actor::base{config}, terms_{std::move(terms)}, program_{std::move(program)},
      capture_{terms_.capture}, limit_{*terms_.loop} {}

void shell_attempt::on_exit() {
  limit_.cancel();
  process_.reset(); // kills what still runs
  if (caller_.pending()) {
    record_.ending = attempt_ending::cancelled;
    caller_.deliver(std::make_shared<const attempt_result>(attempt_result{record_, {}}));
  }
  caller_ = {}; // it refers to this actor
}

shell_attempt::behavior_type shell_attempt::make_behavior() {
  return {
      [this](run_atom, const attempt_ptr& what) -> caf::result<attempt_result_ptr> {
        caller_ = make_response_promise<attempt_result_ptr>();
        auto answer = caller_;
        attempt_ = what;
        start();
        return answer;
      },
      [this](cancel_atom, const std::string&) { stop(attempt_ending::cancelled); },
      [this](ended_atom) { finish(); },
      [this](hold_atom, bool held, caf::timespan counts) { hold(held, counts); },
      [this](refuse_atom) {
        if (!process_ || end_) return;
        if (!stopped_) stopped_ = attempt_ending::cancelled;
        limit_.cancel();
        process_->kill();
      },
  };
}

void shell_attempt::start() {
  const attempt_terms& terms = **attempt_;
  record_.number = terms.number;
  record_.sandbox = terms.backend;
  record_.network = terms.network;
  started_at_ = terms_.loop->now();
  const auto cannot = [this](const error& why) {
    end_.emplace().failure = why;
    finish();
  };
  const auto request = plan();
  if (!request) return cannot(request.error());
  // These run on the loop, between our messages: they only keep bytes and wake us.
  const shell_attempt_actor self{this};
  auto started =
      start_command(terms_, *request,
                    {.on_started = {},
                     .on_output = [this](reactor::output_stream stream,
                                         std::string_view bytes) { keep(stream, bytes); },
                     .on_lost = [this](std::uint64_t bytes) { capture_.lose(bytes); },
                     .on_exit = [this](const command_end& end) { end_ = end; },
                     .on_end = [self] { caf::anon_send(self, ended_v); },
                     .on_input_drained = {}});
  if (!started) return cannot(started.error());
  process_ = std::move(*started);
  record_.limit = terms.timeout.value_or(terms_.default_timeout);
  record_.limit = std::min(record_.limit, terms.time_cap.value_or(record_.limit));
  record_.grace = terms_.end_grace;
  left_ = record_.limit;
  hold(false, {});
}

result<command_request> shell_attempt::plan() {
  const shell_attempt_actor self{this};
  auto request = helper_for(
      terms_, **attempt_,
      [self](const hidden_wait::change& wait) {
        caf::anon_send(self, hold_v, wait.held, caf::timespan{wait.counts});
      },
      [self] { caf::anon_send(self, refuse_v); });
  if (!request || program_.command.empty()) return request;
  request->launch.command = program_.command;
  open_program(request->launch);
  request->input = std::exchange(program_.input, {});
  return request;
}

/// What a person needs to answer is not the command's time (§95).
void shell_attempt::hold(bool held, reactor::clock::duration counts) {
  if (stopped_ || end_) return;
  const auto now = terms_.loop->now();
  const auto left = (left_ ? *left_ : limit_at_ - now) - counts;
  limit_.cancel();
  left_.reset();
  if (held && left.count() > 0) {
    left_ = left;
    return;
  }
  limit_at_ = now + std::max(left, {});
  limit_.start_at(limit_at_, [this] { stop(attempt_ending::timed_out); });
}

void shell_attempt::keep(reactor::output_stream stream, std::string_view bytes) {
  (void)capture_.append(stream, bytes);
  if (terms_.on_output) terms_.on_output(**attempt_, stream, bytes);
  const auto read_on = [this, alive = std::weak_ptr{alive_}, stream] {
    if (!alive.expired() && process_) process_->grant(stream);
  };
  if (const auto* paced = terms_.on_output.target<paced_output>())
    paced->when_ready(read_on);
  else
    read_on();
}

void shell_attempt::stop(attempt_ending why) {
  if (stopped_ || !process_ || end_) return;
  stopped_ = why;
  record_.stopped = why == attempt_ending::timed_out && process_->stopped();
  // To the helper alone: it passes the signal on to the command, while the processes that hold the
  // boundary must outlive it for the command to have its grace.
  process_->signal(SIGTERM);
  process_->signal(SIGCONT); // a stopped command would not see the first
  limit_.start(terms_.end_grace, [this] { process_->kill(); });
}

void shell_attempt::finish() {
  limit_.cancel();
  process_.reset();
  (void)capture_.finish(reactor::output_stream::standard_output);
  (void)capture_.finish(reactor::output_stream::standard_error);
  attempt_result over;
  over.output = capture_.output();
  record_.duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(terms_.loop->now() - started_at_);
  take_end(record_, *end_, stopped_);
  look_for_denial(record_, terms_, **attempt_, *end_, over.output);
  over.record = record_;
  caller_.deliver(std::make_shared<const attempt_result>(std::move(over)));
  quit();
}

} // namespace gatehouse::actors
