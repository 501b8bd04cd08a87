#include "sandbox/outer_options.hpp"

#include "policy/path_text.hpp"
#include "sandbox/init_protocol.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>

#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

constexpr std::size_t profile_limit = 4u << 20; // bytes; a profile is a few hundred

error wrong(std::string message) {
  return {errc::invalid_request, std::move(message), "see gatehouse-sandbox --help"};
}

/// Lower ones cannot be bound without privileges.
result<std::uint16_t> forwarded_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failure != std::errc{} || end != text.data() + text.size() || port < 1024 ||
      port == init::proxy_port)
    return wrong("--forward-port takes a port from 1024 to 65535 other than " +
                 std::to_string(init::proxy_port) + ", not '" + std::string{text} + "'");
  return port;
}

result<std::string> read_all(int fd) {
  std::string text;
  char part[16384];
  for (;;) {
    const ssize_t size = read(fd, part, sizeof part);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0)
      return wrong(std::string{"--permission-profile-fd cannot be read: "} + std::strerror(errno));
    if (size == 0) return text;
    text.append(part, static_cast<std::size_t>(size));
    if (text.size() > profile_limit)
      return wrong("the profile of --permission-profile-fd is larger than 4 MiB");
  }
}

} // namespace

result<int> descriptor_number(std::string_view option, std::string_view text) {
  int fd = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), fd);
  if (failure != std::errc{} || end != text.data() + text.size() || fd < 3)
    return wrong(std::string{option} + " takes the number of an open descriptor above 2, not '" +
                 std::string{text} + "'");
  return fd;
}

std::string_view outer_usage() noexcept {
  return "usage: gatehouse-sandbox --sandbox-policy-cwd DIR [--command-cwd DIR]\n"
         "         (--permission-profile JSON | --permission-profile-fd N)\n"
         "         [--workspace-root DIR]... [--tmpdir DIR] [--protected-name NAME]...\n"
         "         [--protected-path PATH]... [--hidden-path PATH]...\n"
         "         [--use-legacy-landlock] [--report-fd N]\n"
         "         [--allow-network-for-proxy [--proxy-fd N] [--forward-port PORT]...\n"
         "         [--allow-local-binding]] -- COMMAND [ARGUMENT]...\n"
         "       gatehouse-sandbox --request-fd N\n"
         "\n"
         "Runs COMMAND inside the boundary that the permission profile describes, or not at all.\n"
         "With --request-fd all of the above comes later, in one message over socket N.\n"
         "Exit status: the command's; 128+n when signal n ended it; 121 the boundary cannot be\n"
         "built (nothing ran); 126/127 not executable / not found; 2 wrong usage.\n";
}

result<outer_options> parse_outer_options(std::span<const char* const> arguments,
                                          std::string_view environment_tmpdir) {
  outer_options o;
  bool has_profile = false, has_tmpdir = false;
  std::size_t at = 0;
  for (; at < arguments.size() && std::string_view{arguments[at]} != "--"; ++at) {
    const std::string_view option = arguments[at];
    if (option == "--allow-network-for-proxy") {
      o.proxy_network = true;
      continue;
    }
    if (option == "--allow-local-binding") {
      o.local_binding = true;
      continue;
    }
    if (option == "--use-legacy-landlock") {
      o.legacy_landlock = true;
      continue;
    }
    std::string* single = nullptr;
    std::vector<std::string>* list = nullptr;
    bool is_path = true, is_profile = false, is_fd = false, is_port = false;
    if (option == "--sandbox-policy-cwd")
      single = &o.policy_cwd;
    else if (option == "--command-cwd")
      single = &o.command_cwd;
    else if (option == "--workspace-root")
      list = &o.workspace_roots;
    else if (option == "--protected-path")
      list = &o.protected_paths;
    else if (option == "--hidden-path")
      list = &o.hidden_paths;
    else if (option == "--protected-name")
      list = &o.protected_names, is_path = false;
    else if (option == "--tmpdir")
      single = &o.tmpdir, has_tmpdir = true;
    else if (option == "--permission-profile")
      is_profile = true;
    else if (option == "--permission-profile-fd")
      is_profile = is_fd = true;
    else if (option == "--report-fd" || option == "--proxy-fd")
      is_fd = true;
    else if (option == "--forward-port")
      is_port = true;
    else
      return wrong("unknown option '" + std::string{option} + "'");

    if (++at == arguments.size()) return wrong(std::string{option} + " needs a value");
    const std::string_view value = arguments[at];
    if (is_port) {
      const auto port = forwarded_port(value);
      if (!port) return port.error();
      if (o.forwarded_ports.size() == init::most_forwarded_ports)
        return wrong("--forward-port is given more than " +
                     std::to_string(init::most_forwarded_ports) + " times");
      o.forwarded_ports.push_back(*port);
    } else if (is_fd) {
      const auto fd = descriptor_number(option, value);
      if (!fd) return fd.error();
      if (!is_profile) {
        (option == "--proxy-fd" ? o.proxy_fd : o.report_fd) = *fd;
        continue;
      }
      if (has_profile) return wrong("the permission profile is given twice");
      auto text = read_all(*fd);
      if (!text) return text.error();
      o.profile_json = *std::move(text);
      has_profile = true;
    } else if (is_profile) {
      if (has_profile) return wrong("the permission profile is given twice");
      o.profile_json = value;
      has_profile = true;
    } else {
      const bool may_be_empty = single == &o.tmpdir;
      if (is_path && !value.starts_with('/') && !(may_be_empty && value.empty()))
        return wrong(std::string{option} + " takes an absolute path, not '" + std::string{value} +
                     "'");
      if (!is_path &&
          (value.empty() || policy::absolute_below("/", value) != "/" + std::string{value}))
        return wrong(std::string{option} + " takes a name or a relative path without dots, not '" +
                     std::string{value} + "'");
      if (list)
        list->emplace_back(value);
      else if (!single->empty())
        return wrong(std::string{option} + " is given twice");
      else
        *single = value;
    }
  }
  if (o.policy_cwd.empty()) return wrong("--sandbox-policy-cwd is missing");
  if (!o.proxy_network && (o.proxy_fd >= 0 || !o.forwarded_ports.empty() || o.local_binding))
    return wrong("--proxy-fd, --forward-port and --allow-local-binding need "
                 "--allow-network-for-proxy");
  if (!has_profile) return wrong("--permission-profile or --permission-profile-fd is missing");
  if (at + 1 >= arguments.size()) return wrong("the command is missing: put it after '--'");
  o.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
  if (o.command_cwd.empty()) o.command_cwd = o.policy_cwd;
  if (o.workspace_roots.empty()) o.workspace_roots.push_back(o.policy_cwd);
  if (!has_tmpdir && environment_tmpdir.starts_with('/')) o.tmpdir = environment_tmpdir;
  return o;
}

} // namespace gatehouse::sandbox
