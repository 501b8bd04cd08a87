#include "sandbox/launch.hpp"

#include "protocol/profile_json.hpp"

#include <algorithm>

namespace gatehouse::sandbox {

bool can_be_passed_on(int signal) noexcept {
  return signal == SIGKILL ||
         std::ranges::find(forwarded_signals, signal) != std::ranges::end(forwarded_signals);
}

std::vector<std::string> launch_argv(const launch_request& request) {
  std::vector<std::string> argv{request.helper,
                                "--sandbox-policy-cwd",
                                request.policy_cwd,
                                "--command-cwd",
                                request.command_cwd,
                                "--permission-profile",
                                encode_profile(request.profile),
                                "--tmpdir",
                                request.tmpdir};
  const auto add_each = [&](const char* option, const std::vector<std::string>& values) {
    for (const auto& value : values)
      argv.insert(argv.end(), {option, value});
  };
  add_each("--workspace-root", request.workspace_roots);
  add_each("--protected-name", request.protected_names);
  add_each("--protected-path", request.protected_paths);
  add_each("--hidden-path", request.hidden_paths);
  if (request.managed_network) {
    argv.emplace_back("--allow-network-for-proxy");
    if (request.proxy_fd >= 0)
      argv.insert(argv.end(), {"--proxy-fd", std::to_string(request.proxy_fd)});
    for (const auto port : request.forwarded_ports)
      argv.insert(argv.end(), {"--forward-port", std::to_string(port)});
    if (request.local_binding) argv.emplace_back("--allow-local-binding");
  }
  if (request.legacy_landlock) argv.emplace_back("--use-legacy-landlock");
  if (request.report_fd >= 0)
    argv.insert(argv.end(), {"--report-fd", std::to_string(request.report_fd)});
  argv.emplace_back("--");
  argv.insert(argv.end(), request.command.begin(), request.command.end());
  return argv;
}

} // namespace gatehouse::sandbox
