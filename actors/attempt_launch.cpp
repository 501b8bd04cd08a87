#include "actors/attempt_launch.hpp"

#include "actors/attempt_denial.hpp"
#include "actors/helper_process.hpp"
#include "actors/remote_environment.hpp"
#include "actors/waiting_helper.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::actors {
namespace {

void add_missing(std::vector<std::string>& paths, std::vector<std::string> more) {
  for (auto& path : more)
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
}

/// Landlock limits writing; what only bubblewrap can mask would be open to the command.
std::optional<error> cannot_hide(const shell_terms& terms, const attempt_terms& attempt) {
  const bool reads_all =
      attempt.backend == sandbox_backend::landlock && attempt.profile.kind == profile_kind::managed;
  const auto hidden = hidden_now(terms);
  if (!reads_all || hidden.empty()) return std::nullopt;
  return error{errc::boundary_unavailable,
               "the landlock backend leaves reading open, so it cannot keep the command from "
               "Gatehouse's own tokens in " +
                   visible_text(hidden.front()) +
                   ": whoever reads them can answer questions in your name",
               "Leave out --backend landlock (and `backend` under [sandbox]), so that bubblewrap "
               "makes the boundary; `gatehouse sandbox --backend landlock` confines a command that "
               "you start yourself, and hides no tokens."};
}

} // namespace

std::vector<std::string> hidden_now(const shell_terms& terms) {
  auto all = terms.hidden_paths;
  if (terms.hidden_since) add_missing(all, terms.hidden_since());
  return all;
}

void keep_hidden(const shell_terms& before, shell_terms& now) {
  if (!now.remote) add_missing(now.hidden_paths, hidden_now(before));
}

sandbox::launch_request launch_for(const shell_terms& terms, const std::string& policy_cwd,
                                   const std::vector<std::string>& workspace_roots,
                                   permission_profile profile, sandbox_backend backend) {
  sandbox::launch_request launch;
  launch.helper = terms.helper;
  launch.policy_cwd = policy_cwd;
  launch.profile = std::move(profile);
  launch.hidden_paths = hidden_now(terms);
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
                                   limit_holder hold, std::function<void()> end) {
  command_request request;
  request.launch = launch_for(terms, attempt.policy_cwd, attempt.workspace_roots, attempt.profile,
                              attempt.backend);
  request.launch.command_cwd = attempt.cwd;
  request.launch.command = attempt.argv;
  request.environment = terms.environment;
  if (terms.remote) { // that machine has a managed network of its own, or refuses
    request.launch.managed_network = attempt.network == network_mode::proxy_only;
    return request;
  }
  if (auto reader = cannot_hide(terms, attempt)) return *std::move(reader);
  auto proxy_end = attach_network(terms.attach_network, attempt, std::move(hold), std::move(end),
                                  request.launch);
  if (!proxy_end) return proxy_end.error();
  request.proxy_channel = *std::move(proxy_end);
  return request;
}

result<std::unique_ptr<command_process>>
start_command(const shell_terms& terms, const command_request& request, command_listener listener) {
  if (terms.remote) return terms.remote->start(request, std::move(listener));
  if (terms.ahead) return terms.ahead->start(request, std::move(listener));
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
  if (end.exit_code == 0)
    if (auto note = past_proxy_note(end.observed); !note.empty())
      record.warnings.push_back(std::move(note));
  if (!stopped) return;
  record.ending = *stopped;
  if (!end.out_of_reach) record.failure.reset();
}

void look_for_denial(attempt_record& record, const shell_terms& terms, const attempt_terms& attempt,
                     const command_end& end, const captured_output& output) {
  if (record.ending != attempt_ending::exited && record.ending != attempt_ending::signalled) return;
  if (terms.remote) { // the files of this machine explain nothing
    if (!end.denied_elsewhere) return;
    record.ending = attempt_ending::denied;
    record.denied.emplace().kind = denial_kind::system_call; // true of every refusal
    record.denied->entry = "the boundary of the other machine, which does not say more";
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
