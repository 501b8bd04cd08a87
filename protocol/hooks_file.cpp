#include "protocol/hooks_file.hpp"

namespace gatehouse {
namespace {

constexpr std::int64_t longest_timeout = 24 * 60 * 60;

result<hook_handler> decode_handler(const json_node& node) {
  const auto fields =
      node.object({"type", "command", "timeout", "on_failure", "statusMessage", "async"});
  if (!fields) return fields.error();
  hook_handler handler;
  const auto type = fields->need("type");
  if (!type) return type.error();
  if (const auto word = type->word({"command"}); !word) return word.error();
  const auto command = fields->need("command");
  if (!command) return command.error();
  auto text = command->text();
  if (!text) return text.error();
  if (text->find_first_not_of(" \t\r\n") == std::string::npos)
    return command->wrong("an empty command");
  handler.command = *std::move(text);
  if (const auto timeout = fields->find("timeout")) {
    const auto seconds = timeout->integer(1, longest_timeout);
    if (!seconds) return seconds.error();
    handler.timeout = std::chrono::seconds{*seconds};
  }
  if (const auto failure = fields->find("on_failure")) {
    const auto word = failure->word({"block", "continue"});
    if (!word) return word.error();
    handler.on_failure = *word == 0 ? hook_failure::block : hook_failure::continue_on;
  }
  if (const auto message = fields->optional_text("statusMessage"); !message) return message.error();
  if (const auto later = fields->find("async")) {
    const auto yes = later->boolean();
    if (!yes) return yes.error();
    if (*yes) return later->wrong("a hook that nobody waits for decides nothing");
  }
  return handler;
}

} // namespace

result<std::vector<hook_handler>> decode_hooks_file(std::string_view text, std::string_view file) {
  const json_source source{std::string{file}, errc::invalid_config,
                           "correct the file; until then its hooks cannot guard anything",
                           1024 * 1024};
  const auto tree = parse_json(text, source);
  if (!tree) return tree.error();
  const auto root = json_node{*tree, source}.object({"hooks"});
  if (!root) return root.error();
  const auto hooks = root->need("hooks");
  if (!hooks) return hooks.error();
  const auto events = hooks->open_object();
  if (!events) return events.error();

  std::vector<hook_handler> handlers;
  for (const auto& [name, groups_node] : events->all()) {
    const auto event = hook_event_from(name);
    if (!event)
      return groups_node.wrong("not an event that is run here (PreToolUse, PermissionRequest, "
                               "PostToolUse)");
    const auto groups = groups_node.array();
    if (!groups) return groups.error();
    for (const auto& group_node : *groups) {
      const auto group = group_node.object({"matcher", "hooks"});
      if (!group) return group.error();
      auto matcher = group->optional_text("matcher");
      if (!matcher) return matcher.error();
      const auto list_node = group->need("hooks");
      if (!list_node) return list_node.error();
      const auto list = list_node->array();
      if (!list) return list.error();
      for (const auto& node : *list) {
        auto handler = decode_handler(node);
        if (!handler) return handler.error();
        handler->event = *event;
        handler->matcher = *matcher;
        handler->where = std::string{file} + " " + node.pointer();
        handlers.push_back(*std::move(handler));
      }
    }
  }
  return handlers;
}

} // namespace gatehouse
