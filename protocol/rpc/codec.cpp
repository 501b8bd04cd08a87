#include "protocol/rpc/codec.hpp"

#include "protocol/json_quote.hpp"

#include <charconv>

namespace gatehouse::rpc {
namespace {

struct tree_writer {
  json_writer& json;

  void operator()(std::monostate) const { json.null(); }
  void operator()(bool value) const { json.boolean(value); }
  void operator()(std::int64_t value) const { json.number(value); }
  void operator()(double value) const {
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    json.raw({text, static_cast<std::size_t>(end - text)});
  }
  void operator()(const std::string& value) const { json.text(value); }
  void operator()(const json_tree::array& list) const {
    json.open('[');
    for (const auto& item : list) {
      json.item();
      write_tree(json, item);
    }
    json.close(']');
  }
  void operator()(const json_tree::object& fields) const {
    json.open('{');
    for (const auto& [name, value] : fields) {
      json.key(name);
      write_tree(json, value);
    }
    json.close('}');
  }
};

} // namespace

void write_tree(json_writer& json, const json_tree& tree) {
  std::visit(tree_writer{json}, tree.value);
}

std::string schema_book::refer(std::string_view name, const std::function<std::string()>& make) {
  // Entered before it is made: a type may mention itself.
  const auto [place, fresh] = types_.emplace(name, std::string{});
  if (fresh) {
    auto text = make();
    types_[std::string{name}] = std::move(text);
  }
  return R"({"$ref":"#/$defs/)" + std::string{name} + R"("})";
}

} // namespace gatehouse::rpc
