#include "actors/attempt_launch.hpp"

#include "actors/attempt_denial.hpp"
#include "actors/helper_process.hpp"
#include "actors/remote_environment.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/socket.h>

namespace gatehouse::actors {
namespace {

/// A command that reaches no host by itself needs nothing here.
result<void> attach_network(command_request& request, const shell_terms& terms,
                            const attempt_terms& attempt, std::function<void(bool)> hold,
                            std::function<void()> end) {
  if (attempt.network != network_mode::proxy_only) return {};
  request.launch.managed_network = true;
  if (terms.remote) return {}; // the other machine has one of its own, or refuses
  int ends[2];
  if (!terms.attach_network || attempt.network_registration.empty())
    return error{errc::boundary_failed, "the managed network is not there for this attempt",
                 "Run `gatehouse doctor`."};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return error{errc::io, std::string{"cannot make a socket pair: "} + std::strerror(errno),
                 "End other calls or raise the limit of open files."};
  request.proxy_channel.reset(ends[1]);
  network_link link;
  link.channel.reset(ends[0]);
  link.hold = std::move(hold);
  link.end = std::move(end);
  const auto view = terms.attach_network(attempt.network_registration, std::move(link));
  request.launch.local_binding = view.local_binding;
  request.launch.forwarded_ports = view.forwarded_ports;
  return {};
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

result<command_request> helper_for(const shell_terms& terms, const attempt_terms& attempt,
                                   std::function<void(bool held)> hold, std::function<void()> end) {
  command_request request;
  request.launch = launch_for(terms, attempt.policy_cwd, attempt.workspace_roots, attempt.profile,
                              attempt.backend);
  request.launch.command_cwd = attempt.cwd;
  request.launch.command = attempt.argv;
  request.environment = terms.environment;
  if (auto attached = attach_network(request, terms, attempt, std::move(hold), std::move(end));
      !attached)
    return attached.error();
  return request;
}

result<std::unique_ptr<command_process>>
start_command(const shell_terms& terms, const command_request& request, command_listener listener) {
  if (terms.remote) return terms.remote->start(request, std::move(listener));
  auto here = helper_process::start(*terms.loop, request, std::move(listener));
  if (!here) return here.error();
  return std::unique_ptr<command_process>{*std::move(here)};
}

void take_end(attempt_record& record, const command_end& end,
              const std::optional<attempt_ending>& stopped) {
  record.warnings = end.warnings;
  record.ending = end.ending;
  record.exit_code = end.exit_code;
  record.signal = end.signal;
  record.failure = end.failure;
  if (stopped) {
    record.ending = *stopped;
    record.failure.reset();
  } else if (!end.started && end.ending == attempt_ending::signalled) {
    record.ending = attempt_ending::not_started;
    record.signal.reset();
    record.failure = error{errc::boundary_failed,
                           "the sandbox helper was ended by signal " +
                               std::to_string(end.signal.value_or(0)) + " before the command began",
                           "Run `gatehouse doctor`."};
  }
}

void look_for_denial(attempt_record& record, const shell_terms& terms, const attempt_terms& attempt,
                     const command_end& end, const captured_output& output) {
  if (record.ending != attempt_ending::exited && record.ending != attempt_ending::signalled) return;
  if (terms.remote) { // the files of this machine explain nothing
    if (!end.denied_elsewhere) return;
    record.ending = attempt_ending::denied;
    record.denied.emplace();
    return;
  }
  boundary_scope scope{attempt.profile, terms.context};
  scope.context.cwd = attempt.policy_cwd;
  scope.context.project_roots = attempt.workspace_roots;
  sandbox::denial_evidence evidence;
  evidence.exit_code = record.exit_code;
  evidence.signal = record.signal;
  evidence.cwd = attempt.cwd;
  evidence.argv = attempt.argv;
  evidence.stdout_tail = output.stdout_text;
  evidence.stderr_tail = output.stderr_text;
  evidence.backend = attempt.backend;
  evidence.network = attempt.network;
  evidence.observed = end.observed;
  auto denied = find_denial(scope, std::move(evidence));
  if (!denied) return;
  record.ending = attempt_ending::denied;
  record.denied = std::move(denied);
}

} // namespace gatehouse::actors
