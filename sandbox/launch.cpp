#include "sandbox/launch.hpp"

#include "protocol/profile_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/socket.h>

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

std::string late_request(const std::vector<std::string>& argv) {
  std::string bytes;
  for (std::size_t i = 1; i < argv.size(); ++i)
    bytes.append(argv[i].c_str(), argv[i].size() + 1);
  return bytes;
}

result<std::vector<std::string>> receive_late_request(int fd) {
  std::string bytes(most_request_bytes, '\0');
  ssize_t size = -1;
  do
    size = recv(fd, bytes.data(), bytes.size(), MSG_TRUNC);
  while (size < 0 && errno == EINTR);
  if (size < 0)
    return error{errc::invalid_request,
                 std::string{"the request cannot be read: "} + std::strerror(errno), ""};
  const auto received = static_cast<std::size_t>(size);
  if (received > bytes.size() || (received > 0 && bytes[received - 1] != '\0'))
    return error{errc::invalid_request, "the request is not whole", ""};
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < received; at += arguments.back().size() + 1)
    arguments.emplace_back(bytes.c_str() + at);
  return arguments;
}

} // namespace gatehouse::sandbox
