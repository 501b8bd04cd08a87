#include "actors/helper_process.hpp"

#include "sandbox/event_report.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gatehouse::actors {
namespace {

constexpr int report_fd_of_helper = 3;
constexpr int proxy_fd_of_helper = 4;
constexpr int request_fd_of_helper = 5;

/// The callbacks may destroy the process that holds them: what runs is a copy.
template <class F, class... Args>
void tell(const F& callback, const Args&... args) {
  if (const auto own = callback) own(args...);
}

} // namespace

bool helper_report::take_line(std::string_view line) {
  const auto event = sandbox_event_from_json(line);
  if (!event) return false;
  switch (event->kind) {
  case sandbox_event_kind::started: return !std::exchange(started_, true);
  case sandbox_event_kind::blocked: {
    denial seen;
    seen.kind = event->refusal;
    seen.path = event->path;
    seen.host = event->host;
    seen.entry = event->entry;
    observed_.push_back(std::move(seen));
    return false;
  }
  case sandbox_event_kind::exited:
  case sandbox_event_kind::signalled:
  case sandbox_event_kind::exec_failed:
  case sandbox_event_kind::boundary_failed:
  case sandbox_event_kind::killed: last_word_ = *event; return false;
  case sandbox_event_kind::stopped: stopped_ = true; return false;
  case sandbox_event_kind::continued: stopped_ = false; return false;
  case sandbox_event_kind::warning: warnings_.push_back(event->message); return false;
  }
  return false;
}

command_end helper_report::conclude(int status, bool had_command) const {
  command_end end;
  end.started = started_;
  end.observed = observed_;
  end.warnings = warnings_;
  const auto kind = last_word_ ? std::optional{last_word_->kind} : std::nullopt;
  const auto cut = [&](std::string what, std::string remedy) {
    end.ending = started_ ? attempt_ending::signalled : attempt_ending::lost;
    end.signal = SIGKILL;
    end.failure = error{errc::boundary_failed, std::move(what), std::move(remedy)};
  };
  const auto helper = "the sandbox helper was ended from outside" +
                      (status < 0 ? " by signal " + std::to_string(-status) : std::string{});
  if (kind == sandbox_event_kind::killed ||
      (kind == sandbox_event_kind::boundary_failed && started_)) {
    cut(last_word_->message, last_word_->remedy);
  } else if (started_ && !kind) {
    cut(helper + " while the command ran, which ended with it",
        "look at what it left before you run it again");
  } else if (kind == sandbox_event_kind::boundary_failed) {
    end.failure = sandbox::in_another_boundary(
        {errc::boundary_unavailable, last_word_->message, last_word_->remedy});
  } else if (kind == sandbox_event_kind::signalled) {
    end.ending = attempt_ending::signalled;
    end.signal = last_word_->signal;
  } else if (kind == sandbox_event_kind::exited) {
    end.ending = attempt_ending::exited;
    end.exit_code = last_word_->exit_code;
  } else if (kind == sandbox_event_kind::exec_failed) {
    end.ending = attempt_ending::exited;
    end.exit_code = status;
    end.exec_error = last_word_->error_number;
  } else if (!had_command) {
    end.failure =
        error{errc::boundary_failed, helper + " before it had read the command", "run it again"};
  } else if (status < 0) {
    cut(helper + " before it had told that the command began",
        "look at what it may have left before you run it again");
  } else {
    end.failure = error{errc::boundary_failed,
                        "the sandbox helper ended without saying how the command ended (status " +
                            std::to_string(status) + ")",
                        "Run `gatehouse doctor`."};
  }
  return end;
}

result<std::unique_ptr<helper_process>> helper_process::start(reactor::event_loop& loop,
                                                              const command_request& request,
                                                              command_listener listener) {
  auto launch = request.launch;
  launch.report_fd = report_fd_of_helper;
  reactor::spawn_request spawn;
  if (request.proxy_channel) launch.proxy_fd = proxy_fd_of_helper;
  spawn.argv = sandbox::launch_argv(launch);
  spawn.program = launch.helper;
  spawn.env = request.environment;
  spawn.children_end_theirs = collects(launch);
  if (request.proxy_channel)
    spawn.pass_fds.push_back({request.proxy_channel.get(), proxy_fd_of_helper});
  spawn.terminal = request.terminal;
  if (request.tty) {
    spawn.input = reactor::stdin_mode::pty;
    spawn.output = reactor::output_mode::pty;
  } else if (request.pipe_input || !request.input.empty()) {
    spawn.input = reactor::stdin_mode::pipe;
  }
  auto limits = request.limits;
  limits.pending_input = std::max(limits.pending_input, request.input.size());
  auto own = start(loop, std::move(spawn), limits, std::move(listener));
  if (own && !request.input.empty()) {
    (void)(*own)->process_->write_stdin(request.input);
    (*own)->process_->close_stdin();
  }
  return own;
}

result<std::unique_ptr<helper_process>>
helper_process::start_ahead(reactor::event_loop& loop, const sandbox::launch_request& before,
                            const std::vector<std::string>& environment) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return error{errc::io, std::string{"cannot make a socket pair: "} + std::strerror(errno),
                 "End other calls or raise the limit of open files."};
  reactor::unique_fd ours{ends[0]};
  const reactor::unique_fd theirs{ends[1]};
  // The helper waits for its message.
  if (::fcntl(theirs.get(), F_SETFL, 0) != 0)
    return error{errc::io, std::string{"cannot set up a socket: "} + std::strerror(errno), ""};
  reactor::spawn_request spawn;
  spawn.argv = sandbox::launch_argv(before);
  spawn.argv.insert(spawn.argv.begin() + 1, {std::string{sandbox::request_fd_option},
                                             std::to_string(request_fd_of_helper)});
  spawn.program = before.helper;
  spawn.env = environment;
  spawn.children_end_theirs = collects(before);
  spawn.pass_fds = {{theirs.get(), request_fd_of_helper}};
  auto own = start(loop, std::move(spawn), {}, {});
  if (own) (*own)->request_ = std::move(ours);
  return own;
}

bool helper_process::collects(const sandbox::launch_request& launch) noexcept {
  return launch.profile.kind != profile_kind::managed; // else its child may be bubblewrap
}

bool helper_process::fits(const command_request& request) {
  const reactor::process_limits usual;
  return !request.tty && !request.pipe_input && request.input.empty() && !request.proxy_channel &&
         request.limits.drain == usual.drain && request.limits.pending_input == usual.pending_input;
}

bool helper_process::give(const command_request& request, command_listener listener) {
  if (!request_ || std::exchange(given_, true) || status_ || report_ended_) return false;
  auto launch = request.launch;
  launch.report_fd = report_fd_of_helper;
  const auto bytes = sandbox::late_request(sandbox::launch_argv(launch));
  // One message: it comes whole or not at all.
  if (bytes.size() > sandbox::most_request_bytes ||
      ::send(request_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(bytes.size())) {
    request_.reset();
    return false;
  }
  listener_ = std::move(listener);
  return true;
}

result<std::unique_ptr<helper_process>> helper_process::start(reactor::event_loop& loop,
                                                              reactor::spawn_request spawn,
                                                              reactor::process_limits limits,
                                                              command_listener listener) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return error{errc::io, std::string{"cannot make a pipe: "} + std::strerror(errno),
                 "End other calls or raise the limit of open files."};
  reactor::unique_fd read_end{ends[0]};
  const reactor::unique_fd write_end{ends[1]};
  spawn.pass_fds.push_back({write_end.get(), report_fd_of_helper});
  std::unique_ptr<helper_process> own{new helper_process{std::move(listener)}};
  auto* const self = own.get();
  auto process = reactor::process::spawn(
      loop, spawn,
      {.on_output =
           [self](reactor::output_stream stream, std::string_view bytes) {
             tell(self->listener_.on_output, stream, bytes);
           },
       .on_exit = [self](const reactor::exit_status& status) { self->helper_exited(status); },
       .on_end =
           [self](const reactor::process_end&) {
             self->streams_ended_ = true;
             if (self->told_exit_) tell(self->listener_.on_end);
           },
       .on_input_drained = [self] { tell(self->listener_.on_input_drained); }},
      limits);
  if (!process) return process.error();
  own->process_ = std::move(*process);
  own->reader_ =
      reactor::line_reader::open(loop, std::move(read_end),
                                 {[self](std::string_view line) {
                                    if (!self->report_.take_line(line)) return;
                                    self->request_.reset();
                                    tell(self->listener_.on_started);
                                  },
                                  [self](const result<void>&) { self->report_ended(); }});
  return own;
}

helper_process::~helper_process() = default;

void helper_process::helper_exited(const reactor::exit_status& status) {
  status_ = status.code ? *status.code : -status.signal.value_or(0);
  tell_exit_when_known();
}

void helper_process::report_ended() {
  report_ended_ = true;
  tell_exit_when_known();
}

/// The kernel tells whoever has sent a message that its receiver ended without reading it.
bool helper_process::had_command() const noexcept {
  int number = 0;
  socklen_t size = sizeof number;
  return !request_ || ::getsockopt(request_.get(), SOL_SOCKET, SO_ERROR, &number, &size) != 0 ||
         number != ECONNRESET;
}

void helper_process::tell_exit_when_known() {
  if (!status_ || !report_ended_ || told_exit_) return;
  told_exit_ = true;
  const bool ended = streams_ended_;
  const auto on_end = listener_.on_end;
  const std::weak_ptr<reactor::process> alive = process_;
  tell(listener_.on_exit, report_.conclude(*status_, had_command()));
  if (ended && !alive.expired()) tell(on_end);
}

void helper_process::grant(reactor::output_stream stream) {
  process_->grant(stream);
}
result<void> helper_process::write_stdin(std::string bytes) {
  return process_->write_stdin(std::move(bytes));
}
std::size_t helper_process::pending_input() const noexcept {
  return process_->pending_input();
}
void helper_process::signal(int number) {
  process_->signal(number);
}
void helper_process::kill() {
  process_->terminate(std::chrono::milliseconds{0});
}
void helper_process::resize(reactor::window_size size) {
  process_->resize(size);
}
bool helper_process::stopped() const noexcept {
  return report_.stopped();
}
pid_t helper_process::pid() const noexcept {
  return process_->pid();
}

} // namespace gatehouse::actors
