#include "protocol/tool_request.hpp"

#include "protocol/json_tree.hpp"
#include "protocol/profile_json.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace gatehouse {
namespace {

constexpr std::int64_t longest_timeout_ms = 24LL * 60 * 60 * 1000;
/// A person is shown all of it, several times over in one message.
constexpr std::size_t longest_arguments = 2U << 20U;
constexpr std::int64_t most_tokens = 1'000'000'000;

/// The field, unless it is missing or null: clients write their unset optionals so.
std::optional<json_node> given(const json_fields& fields, std::string_view name) {
  auto field = fields.find(name);
  return field && !field->is_null() ? field : std::nullopt;
}

result<std::vector<std::string>> words_of_list(const json_node& node) {
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

/// What the two command tools have in common. @param script the field that holds the script
result<shell_request> read_command(const json_node& root, const json_fields& own,
                                   std::string_view script) {
  const auto* fields = &own;
  shell_request request;
  const auto command = given(*fields, script);
  const auto argv = given(*fields, "argv");
  if (command.has_value() == argv.has_value())
    return root.wrong("give either `" + std::string{script} +
                      "` (a script) or `argv` (a list of words)");
  if (command) {
    auto text = command->text();
    if (!text) return text.error();
    if (text->empty()) return command->wrong("an empty command");
    request.command = *std::move(text);
  } else {
    auto words = words_of_list(*argv);
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
    auto words = words_of_list(*field);
    if (!words) return words.error();
    request.prefix_rule = *std::move(words);
  }
  return request;
}

result<tool_arguments> read_shell(const json_node& root) {
  const auto fields =
      root.object({"command", "argv", "workdir", "timeout_ms", "login", "sandbox_permissions",
                   "additional_permissions", "justification", "prefix_rule"});
  if (!fields) return fields.error();
  auto request = read_command(root, *fields, "command");
  if (!request) return request.error();
  if (const auto field = given(*fields, "timeout_ms")) {
    const auto ms = field->integer(1, longest_timeout_ms);
    if (!ms) return ms.error();
    request->timeout = std::chrono::milliseconds{*ms};
  }
  return tool_arguments{*std::move(request)};
}

/// `yield_time_ms` and `max_output_tokens`.
template <class Request>
result<void> read_waiting(const json_fields& fields, Request& request) {
  if (const auto field = given(fields, "yield_time_ms")) {
    const auto ms = field->integer(0, longest_timeout_ms);
    if (!ms) return ms.error();
    request.yield = std::chrono::milliseconds{*ms};
  }
  if (const auto field = given(fields, "max_output_tokens")) {
    const auto tokens = field->integer(0, most_tokens);
    if (!tokens) return tokens.error();
    request.max_output_tokens = static_cast<std::uint64_t>(*tokens);
  }
  return {};
}

result<tool_arguments> read_terminal(const json_node& root) {
  const auto fields = root.object({"cmd", "argv", "workdir", "tty", "login", "yield_time_ms",
                                   "max_output_tokens", "sandbox_permissions",
                                   "additional_permissions", "justification", "prefix_rule"});
  if (!fields) return fields.error();
  auto command = read_command(root, *fields, "cmd");
  if (!command) return command.error();
  terminal_request request;
  request.command = *std::move(command);
  if (const auto field = given(*fields, "tty")) {
    const auto yes = field->boolean();
    if (!yes) return yes.error();
    request.tty = *yes;
  }
  if (auto read = read_waiting(*fields, request); !read) return read.error();
  return tool_arguments{std::move(request)};
}

result<tool_arguments> read_stdin(const json_node& root) {
  const auto fields = root.object({"session_id", "chars", "yield_time_ms", "max_output_tokens"});
  if (!fields) return fields.error();
  const auto session = fields->need("session_id");
  if (!session) return session.error();
  const auto number = session->integer(0, std::numeric_limits<int>::max());
  if (!number) return number.error();
  stdin_arguments request;
  request.session_id = static_cast<int>(*number);
  if (const auto field = given(*fields, "chars")) {
    auto text = field->text();
    if (!text) return text.error();
    request.chars = *std::move(text);
  }
  if (auto read = read_waiting(*fields, request); !read) return read.error();
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
  constexpr std::string_view names[] = {"shell_command", "request_permissions", "exec_command",
                                        "write_stdin"};
  if (const auto* shell = std::get_if<shell_request>(&arguments)) {
    const auto* argv = std::get_if<std::vector<std::string>>(&shell->command);
    if (argv && argv->size() == 2 && argv->front() == "apply_patch") return "apply_patch";
  }
  return names[arguments.index()];
}

result<tool_arguments> decode_tool_arguments(std::string_view tool, std::string_view json) {
  const json_source source{"arguments of " + std::string{tool}, errc::invalid_request,
                           "Correct the call; nothing was run.", 16U * 1024 * 1024};
  using reader = result<tool_arguments> (*)(const json_node&);
  constexpr std::pair<std::string_view, reader> tools[] = {
      {"shell_command", read_shell},
      {"exec_command", read_terminal},
      {"write_stdin", read_stdin},
      {"apply_patch", read_patch},
      {"request_permissions", read_permissions}};
  for (const auto& [name, read] : tools) {
    if (name != tool) continue;
    if (json.size() > longest_arguments)
      return error{errc::invalid_request,
                   "the arguments have " + std::to_string(json.size()) + " bytes; a call takes " +
                       std::to_string(longest_arguments),
                   "Put what is long into a file."};
    const auto tree = parse_json(json, source);
    if (!tree) return tree.error();
    return read(json_node{*tree, source});
  }
  return error{errc::invalid_request, "there is no tool `" + std::string{tool} + "` here",
               "The tools are shell_command, exec_command, write_stdin, apply_patch and "
               "request_permissions."};
}

result<void> limit_time(tool_arguments& arguments, std::chrono::milliseconds most) {
  if (most.count() < 1 || most.count() > longest_timeout_ms)
    return error{errc::invalid_request,
                 "the time limit of a call is 1 to " + std::to_string(longest_timeout_ms) + " ms",
                 {}};
  if (std::holds_alternative<permissions_request>(arguments))
    return error{errc::invalid_request,
                 "request_permissions waits for a person and takes no time limit",
                 "Leave it out, and cancel the call when you need no answer any more."};
  if (auto* command = std::get_if<shell_request>(&arguments)) {
    command->time_cap = most;
  } else if (auto* terminal = std::get_if<terminal_request>(&arguments)) {
    terminal->yield_cap = most;
  } else if (auto* input = std::get_if<stdin_arguments>(&arguments)) {
    input->yield_cap = most;
  }
  return {};
}

} // namespace gatehouse
