#include "actors/shell_attempt.hpp"

#include "sandbox/classify_denial.hpp"
#include "sandbox/host_paths.hpp"
#include "sandbox/inner_stage.hpp"
#include "sandbox/launch.hpp"

#include <caf/send.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace gatehouse::actors {
namespace {

constexpr int report_fd_of_helper = 3;
constexpr int proxy_fd_of_helper = 4;

error no_boundary(const sandbox_event& event) {
  return {errc::boundary_unavailable, event.message, event.remedy};
}

} // namespace

sandbox::launch_request launch_for(const shell_terms& terms, const std::string& policy_cwd,
                                   const std::vector<std::string>& workspace_roots,
                                   permission_profile profile, sandbox_backend backend) {
  sandbox::launch_request launch;
  launch.helper = terms.helper;
  launch.policy_cwd = policy_cwd;
  launch.profile = std::move(profile);
  launch.hidden_paths = terms.hidden_paths;
  launch.workspace_roots = workspace_roots;
  launch.tmpdir = terms.context.tmpdir;
  launch.protected_names = terms.protected_names;
  launch.protected_paths = terms.context.protected_paths;
  launch.legacy_landlock = backend == sandbox_backend::landlock;
  return launch;
}

void open_program(sandbox::launch_request& launch) {
  auto& profile = launch.profile;
  if (profile.kind == profile_kind::managed && profile.file_system.restricted)
    profile.file_system.entries.push_back(
        {literal_path{launch.command.front()}, access::read, false});
}

shell_attempt::shell_attempt(caf::actor_config& config, shell_terms terms, attempt_program program)
    : shell_attempt_actor::base{config}, terms_{std::move(terms)}, program_{std::move(program)},
      capture_{terms_.capture}, limit_{*terms_.loop} {}

void shell_attempt::on_exit() {
  limit_.cancel();
  process_.reset(); // kills what still runs
  report_.reset();
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
      [this](output_atom, int stream, const std::string& bytes) {
        keep(static_cast<reactor::output_stream>(stream), bytes);
      },
      [this](output_atom, int stream) {
        if (process_) process_->grant(static_cast<reactor::output_stream>(stream));
      },
      [this](report_atom, const std::string& line) {
        if (const auto event = sandbox_event_from_json(line)) take(*event);
      },
      [this](report_atom) {
        report_ended_ = true;
        finish_when_over();
      },
      [this](ended_atom, int status) {
        helper_status_ = status;
        finish_when_over();
      },
      [this](expire_atom) { stop(attempt_ending::timed_out); },
      [this](hold_atom, bool held) { hold(held); },
  };
}

void shell_attempt::start() {
  const attempt_terms& terms = **attempt_;
  record_.number = terms.number;
  record_.sandbox = terms.backend;
  record_.network = terms.network;
  started_at_ = terms_.loop->now();

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    record_.failure = error{errc::io, std::string{"cannot make a pipe: "} + std::strerror(errno),
                            "End other calls or raise the limit of open files."};
    return finish();
  }
  reactor::unique_fd read_end{ends[0]};
  const reactor::unique_fd write_end{ends[1]};

  auto launch =
      launch_for(terms_, terms.policy_cwd, terms.workspace_roots, terms.profile, terms.backend);
  launch.command_cwd = terms.cwd;
  launch.report_fd = report_fd_of_helper;
  launch.command = terms.argv;
  if (!program_.command.empty()) {
    launch.command = program_.command;
    open_program(launch);
  }
  reactor::spawn_request request;
  request.program = terms_.helper;
  request.env = terms_.environment;

  request.pass_fds = {{write_end.get(), report_fd_of_helper}};
  // The reactor and the network speak to us by message only, so that their handlers never run
  // inside one of ours.
  const shell_attempt_actor self{this};
  const auto proxy_end = attach_network(
      terms_.attach_network, terms, [self](bool held) { caf::anon_send(self, hold_v, held); },
      [self, call = terms.call_id] { caf::anon_send(self, cancel_v, call); }, launch);
  if (!proxy_end) {
    record_.failure = proxy_end.error();
    return finish();
  }
  if (*proxy_end) {
    launch.proxy_fd = proxy_fd_of_helper;
    request.pass_fds.push_back({proxy_end->get(), proxy_fd_of_helper});
  }
  request.argv = sandbox::launch_argv(launch);
  if (!program_.input.empty()) request.input = reactor::stdin_mode::pipe;

  reactor::process_listener listener;
  listener.on_output = [self](reactor::output_stream stream, std::string_view bytes) {
    caf::anon_send(self, output_v, static_cast<int>(stream), std::string{bytes});
  };
  auto status = std::make_shared<int>(0);
  listener.on_exit = [status](const reactor::exit_status& exit) {
    *status = exit.code ? *exit.code : -exit.signal.value_or(0);
  };
  listener.on_end = [self, status](const reactor::process_end&) {
    caf::anon_send(self, ended_v, *status);
  };
  reactor::process_limits limits;
  limits.pending_input = std::max(limits.pending_input, program_.input.size());
  auto process = reactor::process::spawn(*terms_.loop, request, std::move(listener), limits);
  if (!process) {
    record_.failure = process.error();
    return finish();
  }
  process_ = std::move(*process);
  if (!program_.input.empty()) {
    (void)process_->write_stdin(std::exchange(program_.input, {}));
    process_->close_stdin();
  }
  report_ = reactor::line_reader::open(
      *terms_.loop, std::move(read_end),
      {[self](std::string_view line) { caf::anon_send(self, report_v, std::string{line}); },
       [self](const result<void>&) { caf::anon_send(self, report_v); }});
  record_.limit = terms.timeout.value_or(terms_.default_timeout);
  record_.grace = terms_.end_grace;
  left_ = record_.limit;
  hold(false);
}

/// What a person needs to answer is not the command's time (§95).
void shell_attempt::hold(bool held) {
  if (stopped_ || helper_status_) return;
  if (held == left_.has_value()) return;
  if (held) {
    left_ = limit_at_ - terms_.loop->now();
    return limit_.cancel();
  }
  limit_at_ = terms_.loop->now() + *std::exchange(left_, std::nullopt);
  limit_.start_at(limit_at_,
                  [self = shell_attempt_actor{this}] { caf::anon_send(self, expire_v); });
}

void shell_attempt::keep(reactor::output_stream stream, std::string_view bytes) {
  (void)capture_.append(stream, bytes);
  if (terms_.on_output) terms_.on_output(**attempt_, stream, bytes);
  if (terms_.reader)
    terms_.reader(stream, bytes, [self = shell_attempt_actor{this}, stream] {
      caf::anon_send(self, output_v, static_cast<int>(stream));
    });
  else if (process_)
    process_->grant(stream);
}

void shell_attempt::take(const sandbox_event& event) {
  switch (event.kind) {
  case sandbox_event_kind::started: started_ = true; break;
  case sandbox_event_kind::blocked: {
    denial seen;
    seen.kind = event.refusal;
    seen.path = event.path;
    seen.host = event.host;
    seen.entry = event.entry;
    observed_.push_back(std::move(seen));
    break;
  }
  case sandbox_event_kind::warning: record_.warnings.push_back(event.message); break;
  case sandbox_event_kind::exited:
  case sandbox_event_kind::signalled:
  case sandbox_event_kind::exec_failed:
  case sandbox_event_kind::boundary_failed:
  case sandbox_event_kind::killed: last_word_ = event; break;
  }
}

void shell_attempt::stop(attempt_ending why) {
  if (stopped_ || !process_) return;
  stopped_ = why;
  // To the helper alone: it passes the signal on to the command, while the processes that hold the
  // boundary must outlive it for the command to have its grace.
  process_->signal(SIGTERM);
  limit_.start(terms_.end_grace, [this] { process_->terminate(std::chrono::milliseconds{0}); });
}

void shell_attempt::finish_when_over() {
  if (helper_status_ && report_ended_) finish();
}

void shell_attempt::finish() {
  limit_.cancel();
  (void)capture_.finish(reactor::output_stream::standard_output);
  (void)capture_.finish(reactor::output_stream::standard_error);
  attempt_result over;
  over.output = capture_.output();
  record_.duration =
      std::chrono::duration_cast<std::chrono::milliseconds>(terms_.loop->now() - started_at_);
  const auto kind = last_word_ ? std::optional{last_word_->kind} : std::nullopt;
  if (record_.failure) {
    record_.ending = attempt_ending::not_started;
  } else if (stopped_) {
    record_.ending = *stopped_; // first cause wins, whatever the signal did then (§97)
  } else if (started_ && (!kind || kind == sandbox_event_kind::boundary_failed)) {
    // The command ran, and its boundary was ended around it (kill -9, out of memory).
    record_.ending = attempt_ending::signalled;
    record_.signal = SIGKILL;
  } else if (kind == sandbox_event_kind::boundary_failed) {
    record_.ending = attempt_ending::not_started;
    record_.failure = no_boundary(*last_word_);
  } else if (kind == sandbox_event_kind::signalled) {
    record_.ending = attempt_ending::signalled;
    record_.signal = last_word_->signal;
  } else if (kind == sandbox_event_kind::exited || kind == sandbox_event_kind::exec_failed) {
    record_.ending = attempt_ending::exited;
    record_.exit_code = kind == sandbox_event_kind::exited ? last_word_->exit_code : helper_status_;
  } else if (!kind && *helper_status_ < 0) {
    // The helper was killed before it could say that the command had begun: it may have run.
    record_.ending = attempt_ending::signalled;
    record_.signal = -*helper_status_;
  } else {
    record_.ending = attempt_ending::not_started;
    record_.failure =
        error{errc::boundary_failed,
              kind == sandbox_event_kind::killed
                  ? last_word_->message
                  : "the sandbox helper ended without saying how the command ended (status " +
                        std::to_string(helper_status_.value_or(-1)) + ")",
              "Run `gatehouse doctor`."};
  }
  if (record_.sandbox != sandbox_backend::none)
    if (auto denied = find_denial(over.output)) {
      record_.ending = attempt_ending::denied;
      record_.denied = std::move(denied);
    }
  over.record = record_;
  caller_.deliver(std::make_shared<const attempt_result>(std::move(over)));
  quit();
}

std::optional<denial> shell_attempt::find_denial(const captured_output& output) const {
  if (record_.ending != attempt_ending::exited && record_.ending != attempt_ending::signalled)
    return std::nullopt;
  if (record_.exit_code == 0) return std::nullopt;
  const attempt_terms& terms = **attempt_;
  policy::access_context context = terms_.context;
  context.cwd = terms.policy_cwd;
  context.project_roots = terms.workspace_roots;
  sandbox::denial_evidence evidence;
  evidence.exit_code = record_.exit_code;
  evidence.signal = record_.signal;
  evidence.cwd = terms.cwd;
  evidence.argv = terms.argv;
  evidence.stdout_tail = output.stdout_text;
  evidence.stderr_tail = output.stderr_text;
  evidence.backend = terms.backend;
  evidence.network = terms.network;
  evidence.observed = observed_;
  evidence.look = sandbox::look_at;
  return sandbox::classify_denial(
      terms.profile,
      sandbox::with_facts(context, sandbox::gather_host_facts(terms.profile, context)), evidence);
}

} // namespace gatehouse::actors
