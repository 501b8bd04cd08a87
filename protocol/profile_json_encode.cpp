#include "protocol/profile_json.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace gatehouse {
namespace {

namespace json = boost::json;

json::object encode_path(const profile_path& path) {
  if (const auto* literal = std::get_if<literal_path>(&path))
    return {{"type", "path"}, {"path", literal->path}};
  if (const auto* glob = std::get_if<glob_path>(&path))
    return {{"type", "glob_pattern"}, {"pattern", glob->pattern}};
  const auto& special = std::get<special_path>(path);
  json::object value;
  switch (special.kind) {
  case special_kind::root: value["kind"] = "root"; break;
  case special_kind::minimal: value["kind"] = "minimal"; break;
  case special_kind::project_roots: value["kind"] = "project_roots"; break;
  case special_kind::tmpdir: value["kind"] = "tmpdir"; break;
  case special_kind::slash_tmp: value["kind"] = "slash_tmp"; break;
  case special_kind::unknown:
    value["kind"] = "unknown";
    value["path"] = special.name;
    break;
  }
  if (!special.subpath.empty()) value["subpath"] = special.subpath;
  return {{"type", "special"}, {"value", std::move(value)}};
}

json::object encode_entry(const profile_entry& entry) {
  json::object object{{"path", encode_path(entry.path)}, {"access", to_string(entry.access)}};
  if (entry.skip_missing) object["missing_path_behavior"] = "skip";
  return object;
}

void put_entries(json::object& object, const std::vector<profile_entry>& entries,
                 std::optional<std::uint32_t> depth) {
  json::array list;
  for (const auto& entry : entries)
    list.push_back(encode_entry(entry));
  object["entries"] = std::move(list);
  if (depth) object["glob_scan_max_depth"] = *depth;
}

std::string_view network_word(network_policy network) {
  return network == network_policy::enabled ? "enabled" : "restricted";
}

} // namespace

std::string encode_profile(const permission_profile& profile) {
  json::object object;
  switch (profile.kind) {
  case profile_kind::disabled: object["type"] = "disabled"; break;
  case profile_kind::external:
    object["type"] = "external";
    object["network"] = network_word(profile.network);
    break;
  case profile_kind::managed: {
    object["type"] = "managed";
    json::object policy{{"type", profile.file_system.restricted ? "restricted" : "unrestricted"}};
    if (profile.file_system.restricted)
      put_entries(policy, profile.file_system.entries, profile.file_system.glob_scan_max_depth);
    object["file_system"] = std::move(policy);
    object["network"] = network_word(profile.network);
    break;
  }
  }
  return json::serialize(object);
}

std::string encode_additional_permissions(const additional_permissions& overlay) {
  json::object object;
  if (overlay.network_enabled)
    object["network"] = json::object{{"enabled", *overlay.network_enabled}};
  const auto& entries = overlay.entries;
  if (!entries.empty() || overlay.glob_scan_max_depth) {
    // Reads come before writes when this form is read back, so that only that order fits it.
    const bool simple = !overlay.glob_scan_max_depth &&
                        std::all_of(entries.begin(), entries.end(),
                                    [](const profile_entry& e) {
                                      return std::holds_alternative<literal_path>(e.path) &&
                                             e.access != access::deny && !e.skip_missing;
                                    }) &&
                        std::is_sorted(entries.begin(), entries.end(),
                                       [](const profile_entry& a, const profile_entry& b) {
                                         return a.access < b.access;
                                       });
    json::object list;
    if (simple)
      for (const auto& entry : entries) {
        auto& paths = list[to_string(entry.access)];
        if (paths.is_null()) paths = json::array{};
        paths.get_array().push_back(json::string{std::get<literal_path>(entry.path).path});
      }
    else
      put_entries(list, entries, overlay.glob_scan_max_depth);
    object["file_system"] = std::move(list);
  }
  return json::serialize(object);
}

} // namespace gatehouse
