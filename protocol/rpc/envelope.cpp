#include "protocol/rpc/envelope.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <array>

namespace gatehouse::rpc {
namespace {

constexpr std::array<std::string_view, 8> known_members{
    "jsonrpc", "id", "method", "params", "result", "error", "trace", "emittedAtMs"};

// What a peer sends is not sent back to it at any length.
constexpr std::size_t longest_id = 1024;
constexpr std::size_t longest_message = 2000;

const json_tree* find(const json_tree::object& members, std::string_view name) {
  for (const auto& [own, value] : members)
    if (own == name) return &value;
  return nullptr;
}

std::optional<request_id> read_id(const json_tree& tree) {
  if (const auto* number = std::get_if<std::int64_t>(&tree.value)) return request_id{*number};
  const auto* text = std::get_if<std::string>(&tree.value);
  if (text && text->size() <= longest_id) return request_id{*text};
  return std::nullopt;
}

void write_id(json_writer& json, const request_id& id) {
  json.key("id");
  if (const auto* number = std::get_if<std::int64_t>(&id))
    json.number(*number);
  else
    json.text(std::get<std::string>(id));
}

json_writer begin(bool version) {
  json_writer json;
  json.open('{');
  if (version) json.field("jsonrpc", "2.0");
  return json;
}

std::string finish(json_writer json) {
  json.close('}');
  return std::move(json).take();
}

} // namespace

struct envelope_reader {
  static unreadable refuse(std::optional<request_id> id, std::string message) {
    return {std::move(id), {code::invalid_request, std::move(message), "envelope", {}}};
  }

  static std::variant<message, unreadable> read(std::string_view text, std::size_t max_bytes) {
    auto source = std::make_shared<json_source>();
    source->what = "the message";
    source->max_bytes = max_bytes;
    auto tree = parse_json(text, *source);
    if (!tree) return unreadable{{}, parse_failure(tree.error().message)};
    message read;
    read.root_ = std::make_shared<const json_tree>(*std::move(tree));
    read.source_ = std::move(source);
    const auto* members = std::get_if<json_tree::object>(&read.root_->value);
    if (!members)
      return refuse({}, std::holds_alternative<json_tree::array>(read.root_->value)
                            ? "batches are not supported; send one message at a time"
                            : "a message is a JSON object");
    const auto* id_tree = find(*members, "id");
    const auto id = id_tree ? read_id(*id_tree) : std::nullopt;
    for (const auto& [name, value] : *members)
      if (std::find(known_members.begin(), known_members.end(), name) == known_members.end())
        return refuse(id, "unknown member `" + name + "`");
    if (id_tree && !id)
      return refuse({}, "`id` is a whole number or a string of at most " +
                            std::to_string(longest_id) + " bytes");
    if (const auto* version = find(*members, "jsonrpc")) {
      const auto* word = std::get_if<std::string>(&version->value);
      if (!word || *word != "2.0") return refuse(id, "`jsonrpc` is \"2.0\" or left out");
      read.has_version_ = true;
    }
    if (id) read.id_ = *id;
    const auto* method = find(*members, "method");
    const bool result = find(*members, "result") != nullptr;
    const bool failed = find(*members, "error") != nullptr;
    if (method) {
      const auto* name = std::get_if<std::string>(&method->value);
      if (!name || name->empty()) return refuse(id, "`method` is a string");
      if (result || failed) return refuse(id, "a message is a request or a response, not both");
      read.method_ = *name;
      read.kind_ = id ? message::kind::request : message::kind::notification;
      return read;
    }
    if (result == failed) return refuse(id, "a message has `method`, `result` or `error`");
    if (!id) return refuse({}, "a response needs the `id` of its request");
    read.kind_ = message::kind::response;
    return read;
  }
};

std::variant<message, unreadable> read_message(std::string_view text, std::size_t max_bytes) {
  return envelope_reader::read(text, max_bytes);
}

json_node message::params() const {
  static const json_tree none{json_tree::object{}};
  const auto fields = json_node{*root_, *source_}.open_object();
  auto found = fields->find("params");
  return found && !found->is_null() ? *std::move(found) : json_node{none, *source_};
}

std::optional<json_node> message::result_value() const {
  return json_node{*root_, *source_}.open_object()->find("result");
}

failure parse_failure(std::string message) {
  return {code::parse_error, std::move(message), "parse", {}};
}

failure invalid_params(const error& e) {
  return {code::invalid_params, to_string(e), "invalidParams", {}};
}

std::string write_request(const request_id& id, std::string_view method, std::string_view params,
                          bool version) {
  auto json = begin(version);
  write_id(json, id);
  json.field("method", method);
  json.key("params");
  json.raw(params);
  return finish(std::move(json));
}

std::string write_notification(std::string_view method, std::string_view params, bool version,
                               std::int64_t emitted_at_ms) {
  auto json = begin(version);
  json.field("method", method);
  json.key("params");
  json.raw(params);
  if (emitted_at_ms >= 0) {
    json.key("emittedAtMs");
    json.number(emitted_at_ms);
  }
  return finish(std::move(json));
}

std::string write_result(const request_id& id, std::string_view result, bool version) {
  auto json = begin(version);
  write_id(json, id);
  json.key("result");
  json.raw(result);
  return finish(std::move(json));
}

std::string write_failure(const std::optional<request_id>& id, const failure& why, bool version) {
  auto json = begin(version);
  if (id) {
    write_id(json, *id);
  } else {
    json.key("id");
    json.null();
  }
  json.key("error");
  json.open('{');
  json.key("code");
  json.number(static_cast<int>(why.code));
  json.field("message", abridged(why.message, longest_message));
  json.key("data");
  json.open('{');
  json.field("kind", why.kind);
  if (!why.data.empty()) {
    json.item();
    json.raw(why.data);
  }
  json.close('}');
  json.close('}');
  return finish(std::move(json));
}

} // namespace gatehouse::rpc
