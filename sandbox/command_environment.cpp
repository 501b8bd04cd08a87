#include "sandbox/command_environment.hpp"

#include "sandbox/proxy_environment.hpp"

#include <algorithm>
#include <string_view>

namespace gatehouse::sandbox {
namespace {

constexpr std::string_view dropped[] = {
    "SSH_AUTH_SOCK",     "SSH_AGENT_PID",
    "GPG_AGENT_INFO",    "DBUS_SESSION_BUS_ADDRESS",
    "WAYLAND_DISPLAY",   "DOCKER_HOST",
    "CONTAINER_HOST",    "WSL_INTEROP",
    "GATEHOUSE_SANDBOX", "GATEHOUSE_SANDBOX_NETWORK_DISABLED",
};

bool leads_outside(std::string_view name) {
  return std::find(std::begin(dropped), std::end(dropped), name) != std::end(dropped);
}

} // namespace

std::vector<std::string> inherited_environment(std::span<const char* const> environment) {
  std::vector<std::string> kept;
  for (const std::string_view entry : environment) {
    const auto name = entry.substr(0, entry.find('='));
    if (!leads_outside(name) && !name.starts_with("GATEHOUSE_")) kept.emplace_back(entry);
  }
  return kept;
}

std::vector<std::string> confined_environment(std::span<const char* const> environment,
                                              network_mode network, sandbox_backend backend,
                                              std::optional<bool> proxy) {
  std::vector<std::string> kept;
  kept.reserve(environment.size() + 2);
  std::string_view java_options;
  for (const std::string_view entry : environment) {
    const auto name = entry.substr(0, entry.find('='));
    if (leads_outside(name) || (proxy && is_proxy_variable(name))) continue;
    if (proxy && name == "JAVA_TOOL_OPTIONS")
      java_options = entry.substr(name.size() + 1);
    else
      kept.emplace_back(entry);
  }
  kept.push_back("GATEHOUSE_SANDBOX=" + std::string{to_string(backend)});
  if (proxy)
    for (auto& variable : proxy_environment(*proxy, java_options))
      kept.push_back(std::move(variable));
  else if (network != network_mode::full)
    kept.emplace_back("GATEHOUSE_SANDBOX_NETWORK_DISABLED=1");
  return kept;
}

} // namespace gatehouse::sandbox
