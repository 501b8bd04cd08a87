#include "protocol/tool_request.hpp"

#include "protocol/json_tree.hpp"
#include "protocol/profile_json.hpp"

#include <cstdint>
#include <utility>

namespace gatehouse {
namespace {

constexpr std::int64_t longest_timeout_ms = 24LL * 60 * 60 * 1000;

/// The field, unless it is missing or null: clients write their unset optionals so.
std::optional<json_node> given(const json_fields& fields, std::string_view name) {
  auto field = fields.find(name);
  return field && !field->is_null() ? field : std::nullopt;
}

result<std::vector<std::string>> words_of(const json_node& node) {
  const auto items = node.array();
  if (!items) return items.error();
  std::vector<std::string> words;
  for (const auto& item : *items) {
    auto word = item.text();
    if (!word) return word.error();
    words.push_back(*std::move(word));
  }
  return words;
}

result<additional_permissions> overlay_of(const json_node& node) {
  auto overlay = decode_additional_permissions(node.encode());
  if (!overlay) return node.wrong(overlay.error().message);
  return overlay;
}

result<tool_arguments> read_shell(const json_node& root) {
  const auto fields =
      root.object({"command", "argv", "workdir", "timeout_ms", "login", "sandbox_permissions",
                   "additional_permissions", "justification", "prefix_rule"});
  if (!fields) return fields.error();
  shell_request request;
  const auto command = given(*fields, "command");
  const auto argv = given(*fields, "argv");
  if (command.has_value() == argv.has_value())
    return root.wrong("give either `command` (a script) or `argv` (a list of words)");
  if (command) {
    auto text = command->text();
    if (!text) return text.error();
    if (text->empty()) return command->wrong("an empty command");
    request.command = *std::move(text);
  } else {
    auto words = words_of(*argv);
    if (!words) return words.error();
    if (words->empty()) return argv->wrong("an empty command");
    request.command = *std::move(words);
  }
  if (const auto field = given(*fields, "workdir")) {
    auto text = field->text();
    if (!text) return text.error();
    request.workdir = *std::move(text);
  }
  if (const auto field = given(*fields, "justification")) {
    auto text = field->text();
    if (!text) return text.error();
    request.justification = *std::move(text);
  }
  if (const auto field = given(*fields, "timeout_ms")) {
    const auto ms = field->integer(1, longest_timeout_ms);
    if (!ms) return ms.error();
    request.timeout = std::chrono::milliseconds{*ms};
  }
  if (const auto field = given(*fields, "login")) {
    const auto yes = field->boolean();
    if (!yes) return yes.error();
    if (*yes && argv) return field->wrong("a login shell takes `command`, not `argv`");
    request.login = *yes;
  }
  if (const auto field = given(*fields, "sandbox_permissions")) {
    const auto word =
        field->word({"use_default", "require_escalated", "with_additional_permissions"});
    if (!word) return word.error();
    request.sandbox_permissions = static_cast<sandbox_permissions>(*word);
  }
  if (const auto field = given(*fields, "additional_permissions")) {
    auto overlay = overlay_of(*field);
    if (!overlay) return overlay.error();
    request.additional_permissions = *std::move(overlay);
  }
  if (const auto field = given(*fields, "prefix_rule")) {
    auto words = words_of(*field);
    if (!words) return words.error();
    request.prefix_rule = *std::move(words);
  }
  return tool_arguments{std::move(request)};
}

/// A patch is the argv `apply_patch TEXT`, however it comes.
result<tool_arguments> read_patch(const json_node& root) {
  const auto fields = root.object({"patch", "workdir", "timeout_ms"});
  if (!fields) return fields.error();
  const auto patch = fields->need("patch");
  if (!patch) return patch.error();
  auto text = patch->text();
  if (!text) return text.error();
  shell_request request;
  request.command = std::vector<std::string>{"apply_patch", *std::move(text)};
  if (const auto field = given(*fields, "workdir")) {
    auto folder = field->text();
    if (!folder) return folder.error();
    request.workdir = *std::move(folder);
  }
  if (const auto field = given(*fields, "timeout_ms")) {
    const auto ms = field->integer(1, longest_timeout_ms);
    if (!ms) return ms.error();
    request.timeout = std::chrono::milliseconds{*ms};
  }
  return tool_arguments{std::move(request)};
}

result<tool_arguments> read_permissions(const json_node& root) {
  const auto fields = root.object({"permissions", "reason"});
  if (!fields) return fields.error();
  const auto permissions = fields->need("permissions");
  if (!permissions) return permissions.error();
  auto overlay = overlay_of(*permissions);
  if (!overlay) return overlay.error();
  permissions_request request;
  request.permissions = *std::move(overlay);
  if (const auto field = given(*fields, "reason")) {
    auto text = field->text();
    if (!text) return text.error();
    request.reason = *std::move(text);
  }
  return tool_arguments{std::move(request)};
}

} // namespace

std::string_view tool_name(const tool_arguments& arguments) noexcept {
  const auto* shell = std::get_if<shell_request>(&arguments);
  if (!shell) return "request_permissions";
  const auto* argv = std::get_if<std::vector<std::string>>(&shell->command);
  return argv && argv->size() == 2 && argv->front() == "apply_patch" ? "apply_patch"
                                                                     : "shell_command";
}

result<tool_arguments> decode_tool_arguments(std::string_view tool, std::string_view json) {
  const json_source source{"arguments of " + std::string{tool}, errc::invalid_request,
                           "Correct the call; nothing was run.", 16U * 1024 * 1024};
  const bool shell = tool == "shell_command";
  const bool patch = tool == "apply_patch";
  if (!shell && !patch && tool != "request_permissions")
    return error{errc::invalid_request, "there is no tool `" + std::string{tool} + "` here",
                 "The tools are shell_command, apply_patch and request_permissions."};
  const auto tree = parse_json(json, source);
  if (!tree) return tree.error();
  const json_node root{*tree, source};
  return shell ? read_shell(root) : patch ? read_patch(root) : read_permissions(root);
}

} // namespace gatehouse
