#include "protocol/chat_completion.hpp"

#include "protocol/guardian_answer.hpp"
#include "protocol/json_tree.hpp"
#include "protocol/json_writer.hpp"

#include <utility>

namespace gatehouse {

std::string encode_chat_question(std::string_view model, std::string_view prompt) {
  json_writer json;
  json.open('{');
  json.field("model", model);
  json.key("messages");
  json.open('[');
  json.item();
  json.open('{');
  json.field("role", "user");
  json.field("content", prompt);
  json.close('}');
  json.close(']');
  json.key("stream");
  json.boolean(false);
  json.key("response_format");
  json.open('{');
  json.field("type", "json_schema");
  json.key("json_schema");
  json.open('{');
  json.field("name", "gatehouse_review");
  json.key("strict");
  json.boolean(true);
  json.key("schema");
  json.raw(guardian_answer_schema());
  json.close('}');
  json.close('}');
  json.close('}');
  return std::move(json).take();
}

result<std::string> decode_chat_reply(std::string_view text) {
  const json_source source{"the model server's reply", errc::invalid_request, {}, 1024 * 1024};
  const auto tree = parse_json(text, source);
  if (!tree) return tree.error();
  const auto root = json_node{*tree, source}.open_object();
  if (!root) return root.error();
  const auto choices = root->need("choices");
  if (!choices) return choices.error();
  const auto list = choices->array();
  if (!list) return list.error();
  if (list->empty()) return choices->wrong("no choice");
  const auto choice = list->front().open_object();
  if (!choice) return choice.error();
  if (const auto reason = choice->find("finish_reason"); reason && !reason->is_null()) {
    const auto word = reason->text();
    if (!word) return word.error();
    if (*word != "stop") return reason->wrong("the answer did not end by itself: " + *word);
  }
  const auto message = choice->need("message");
  if (!message) return message.error();
  const auto fields = message->open_object();
  if (!fields) return fields.error();
  if (const auto refusal = fields->find("refusal"); refusal && !refusal->is_null())
    return refusal->wrong("the model refused to answer");
  const auto content = fields->need("content");
  if (!content) return content.error();
  return content->text();
}

} // namespace gatehouse
