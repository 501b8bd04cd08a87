#include "protocol/rpc/app_permissions.hpp"

#include "protocol/profile_json.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gatehouse::rpc::app {
namespace {

struct spelling {
  std::string_view file_system, depth;
};
constexpr spelling in_tools{"file_system", "glob_scan_max_depth"};
constexpr spelling on_wire{"fileSystem", "globScanMaxDepth"};

json_tree* member(json_tree& tree, std::string_view name) {
  auto* object = std::get_if<json_tree::object>(&tree.value);
  if (!object) return nullptr;
  const auto found = std::ranges::find(*object, name, &json_tree::field::name);
  return found == object->end() ? nullptr : &found->value;
}

/// Unless the new name stands there, too: then the reader refuses the old one.
void rename(json_tree& tree, std::string_view from, std::string_view to) {
  auto* object = std::get_if<json_tree::object>(&tree.value);
  if (!object || member(tree, to)) return;
  for (auto& field : *object)
    if (field.name == from) field.name = to;
}

json_tree respelled(json_tree tree, const spelling& from, const spelling& to) {
  rename(tree, from.file_system, to.file_system);
  if (auto* files = member(tree, to.file_system)) rename(*files, from.depth, to.depth);
  return tree;
}

} // namespace

raw_json permissions_json(const additional_permissions& permissions) {
  auto text = encode_additional_permissions(permissions);
  const json_source own{
      .what = "permissions", .code = errc::internal, .remedy = {}, .max_bytes = text.size()};
  auto tree = parse_json(text, own);
  if (!tree) return {std::move(text)}; // never: it is our own
  return {to_json(respelled(*std::move(tree), in_tools, on_wire))};
}

result<additional_permissions> permissions_from(const json_tree& tree) {
  return decode_additional_permissions(to_json(respelled(tree, on_wire, in_tools)));
}

} // namespace gatehouse::rpc::app
