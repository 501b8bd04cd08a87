#include "actors/hook_rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

namespace gatehouse::actors {
namespace {

constexpr std::array<std::string_view, 2> shell_names{"Bash", "shell_command"};
constexpr std::array<std::string_view, 2> exec_names{"Bash", "exec_command"};
constexpr std::array<std::string_view, 3> patch_names{"apply_patch", "Edit", "Write"};
constexpr std::array<std::string_view, 1> stdin_names{"write_stdin"};
constexpr std::array<std::string_view, 1> permission_names{"request_permissions"};
constexpr std::array<std::string_view, 1> network_names{"network_access"};

constexpr std::array all_tools{hook_tool::shell_command,       hook_tool::exec_command,
                               hook_tool::apply_patch,         hook_tool::write_stdin,
                               hook_tool::request_permissions, hook_tool::network_access};

constexpr std::size_t longest_matcher = 1000; // the expression library recurses

/// A matcher of names; nothing else is ever compared as plain text.
bool is_name_list(std::string_view matcher) {
  return std::all_of(matcher.begin(), matcher.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '|'; });
}

bool lists(std::string_view matcher, std::string_view name) {
  for (std::size_t at = 0; at <= matcher.size();) {
    const auto end = std::min(matcher.find('|', at), matcher.size());
    if (matcher.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}

bool is_known_name(std::string_view name) {
  return std::any_of(all_tools.begin(), all_tools.end(), [name](hook_tool tool) {
    const auto names = names_of(tool);
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

/// The first of the listed names that no tool has; empty when all are known.
std::string unknown_name(std::string_view matcher) {
  for (std::size_t at = 0; at <= matcher.size();) {
    const auto end = std::min(matcher.find('|', at), matcher.size());
    const auto name = matcher.substr(at, end - at);
    if (!is_known_name(name)) return name.empty() ? "(empty)" : std::string{name};
    at = end + 1;
  }
  return {};
}

error wrong(const hook_handler& handler, const std::string& what) {
  return {errc::invalid_config, handler.where + ": matcher `" + handler.matcher + "`: " + what,
          "name a tool (Bash, shell_command, exec_command, apply_patch, Edit, Write, write_stdin, "
          "request_permissions, network_access), or leave the matcher out for all of them"};
}

} // namespace

hook_tool hook_tool_of(std::string_view name) noexcept {
  for (const auto tool : all_tools) {
    const auto names = names_of(tool);
    if (name != "Bash" && std::find(names.begin(), names.end(), name) != names.end()) return tool;
  }
  return hook_tool::shell_command;
}

std::string_view tool_name(hook_tool tool) noexcept {
  return names_of(tool).front();
}

std::span<const std::string_view> names_of(hook_tool tool) noexcept {
  switch (tool) {
  case hook_tool::shell_command: return shell_names;
  case hook_tool::exec_command: return exec_names;
  case hook_tool::apply_patch: return patch_names;
  case hook_tool::write_stdin: return stdin_names;
  case hook_tool::request_permissions: return permission_names;
  case hook_tool::network_access: return network_names;
  }
  return shell_names;
}

struct hook_rules::rule {
  hook_handler handler;
  std::vector<hook_tool> tools;
};

result<hook_rules> hook_rules::compile(std::vector<hook_handler> handlers) {
  std::vector<rule> rules;
  for (auto& handler : handlers) {
    const std::string& matcher = handler.matcher;
    const bool all = matcher.empty() || matcher == "*";
    const bool by_name = is_name_list(matcher);
    std::regex pattern;
    if (matcher.size() > longest_matcher)
      return wrong(handler, "longer than " + std::to_string(longest_matcher) + " bytes");
    if (!all && by_name) {
      if (const auto name = unknown_name(matcher); !name.empty())
        return wrong(handler, "no tool is called `" + name + "`");
    } else if (!all) {
      try {
        pattern.assign(matcher, std::regex::ECMAScript);
      } catch (const std::regex_error& failure) {
        return wrong(handler, std::string{"not a regular expression: "} + failure.what());
      }
    }
    rule compiled{std::move(handler), {}};
    for (const auto tool : all_tools) {
      const auto names = names_of(tool);
      if (all || std::any_of(names.begin(), names.end(), [&](std::string_view name) {
            return by_name ? lists(compiled.handler.matcher, name)
                           : std::regex_search(name.begin(), name.end(), pattern);
          }))
        compiled.tools.push_back(tool);
    }
    if (compiled.tools.empty()) return wrong(compiled.handler, "it matches no tool");
    rules.push_back(std::move(compiled));
  }
  hook_rules made;
  made.rules_ = std::make_shared<const std::vector<rule>>(std::move(rules));
  return made;
}

std::vector<hook_handler> hook_rules::matching(hook_event event, hook_tool tool) const {
  std::vector<hook_handler> found;
  if (!rules_) return found;
  for (const auto& each : *rules_)
    if (each.handler.event == event &&
        std::find(each.tools.begin(), each.tools.end(), tool) != each.tools.end())
      found.push_back(each.handler);
  return found;
}

} // namespace gatehouse::actors
