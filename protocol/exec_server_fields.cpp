#include "protocol/exec_server_fields.hpp"

#include "protocol/base64.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/path_uri.hpp"
#include "protocol/profile_json.hpp"

#include <utility>
#include <variant>

namespace gatehouse::exec_server::fields {
namespace {

result<std::string> path_from(std::string_view uri) {
  const auto parsed = parse_path_uri(uri);
  if (!parsed) return parsed.error();
  return native_path(*parsed);
}

/// As it came; only URIs of entry paths have become paths, which is what a profile holds.
result<void> localise(json_tree& tree) {
  if (auto* list = std::get_if<json_tree::array>(&tree.value)) {
    for (auto& one : *list)
      if (auto ok = localise(one); !ok) return ok;
  } else if (auto* object = std::get_if<json_tree::object>(&tree.value)) {
    const auto* type = member(tree, "type");
    const auto* word = type ? std::get_if<std::string>(&type->value) : nullptr;
    for (auto& [key, value] : *object) {
      auto* string = std::get_if<std::string>(&value.value);
      if (word && *word == "path" && key == "path" && string) {
        auto local = path_from(*string);
        if (!local) return local.error();
        *string = *std::move(local);
      } else if (auto ok = localise(value); !ok) {
        return ok;
      }
    }
  }
  return {};
}

} // namespace

const json_source& source() {
  static const json_source s{"the request", errc::invalid_request, {}, 16 * 1024 * 1024};
  return s;
}

const json_tree* member(const json_tree& tree, std::string_view name) {
  const auto* object = std::get_if<json_tree::object>(&tree.value);
  if (!object) return nullptr;
  for (const auto& [key, value] : *object)
    if (key == name) return &value;
  return nullptr;
}

bool is_null(const json_tree* tree) {
  return !tree || std::holds_alternative<std::monostate>(tree->value);
}

error wrong(std::string_view name, std::string_view what) {
  return {errc::invalid_request, "`" + std::string{name} + "` " + std::string{what}, {}};
}

result<std::string> text(const json_tree& params, std::string_view name) {
  const auto* at = member(params, name);
  if (is_null(at)) return wrong(name, "is missing");
  const auto* value = std::get_if<std::string>(&at->value);
  if (!value) return wrong(name, "must be a string");
  return *value;
}

result<bool> flag(const json_tree& params, std::string_view name, bool fallback) {
  const auto* at = member(params, name);
  if (is_null(at)) return fallback;
  const auto* value = std::get_if<bool>(&at->value);
  if (!value) return wrong(name, "must be true or false");
  return *value;
}

result<std::uint64_t> number(const json_tree& params, std::string_view name,
                             std::uint64_t fallback) {
  const auto* at = member(params, name);
  if (is_null(at)) return fallback;
  const auto* value = std::get_if<std::int64_t>(&at->value);
  if (!value || *value < 0) return wrong(name, "must be a whole number, not negative");
  return static_cast<std::uint64_t>(*value);
}

result<std::vector<std::string>> texts(const json_tree& params, std::string_view name) {
  const auto* at = member(params, name);
  if (is_null(at)) return std::vector<std::string>{};
  const auto* list = std::get_if<json_tree::array>(&at->value);
  if (!list) return wrong(name, "must be a list of strings");
  std::vector<std::string> out;
  for (const auto& one : *list) {
    const auto* value = std::get_if<std::string>(&one.value);
    if (!value) return wrong(name, "must be a list of strings");
    out.push_back(*value);
  }
  return out;
}

result<std::string> path(const json_tree& params, std::string_view name) {
  const auto uri = text(params, name);
  if (!uri) return uri.error();
  return path_from(*uri);
}

result<std::vector<std::string>> paths(const json_tree& params, std::string_view name) {
  const auto uris = texts(params, name);
  if (!uris) return uris.error();
  std::vector<std::string> out;
  for (const auto& uri : *uris) {
    auto one = path_from(uri);
    if (!one) return one.error();
    out.push_back(*std::move(one));
  }
  return out;
}

result<std::string> bytes(const json_tree& params, std::string_view name) {
  const auto encoded = text(params, name);
  if (!encoded) return encoded.error();
  auto decoded = decode_base64(*encoded);
  if (!decoded) return wrong(name, "is not base64");
  return *std::move(decoded);
}

result<std::optional<sandbox_terms>> sandbox(const json_tree& params) {
  const auto* at = member(params, "sandbox");
  if (is_null(at)) return std::optional<sandbox_terms>{};
  const auto* permissions = member(*at, "permissions");
  if (is_null(permissions)) return wrong("sandbox", "has no `permissions`");
  auto local = *permissions;
  if (auto ok = localise(local); !ok) return ok.error();
  json_writer out;
  write_tree(out, local);
  auto profile = decode_profile(std::move(out).take());
  if (!profile) return profile.error();
  sandbox_terms terms;
  terms.profile = *std::move(profile);
  auto cwd = path(*at, "cwd");
  if (!cwd) return cwd.error();
  auto roots = paths(*at, "workspaceRoots");
  if (!roots) return roots.error();
  const auto legacy = flag(*at, "useLegacyLandlock", false);
  if (!legacy) return legacy.error();
  terms.cwd = *std::move(cwd);
  terms.workspace_roots = *std::move(roots);
  if (terms.workspace_roots.empty()) terms.workspace_roots = {terms.cwd};
  terms.legacy_landlock = *legacy;
  return std::optional{std::move(terms)};
}

} // namespace gatehouse::exec_server::fields
