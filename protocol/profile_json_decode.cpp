#include "protocol/profile_json.hpp"

#include "protocol/json_tree.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace gatehouse {
namespace {

namespace json = boost::json;

/// A value and where it stands, for messages.
struct located {
  const json::value* value;
  std::string pointer;

  [[nodiscard]] error wrong(std::string_view what) const {
    return {errc::invalid_profile,
            "permissions at `" + (pointer.empty() ? "/" : pointer) + "`: " + std::string{what},
            "correct the JSON; nothing was granted"};
  }
};

/// An object whose fields are asked for by name; whatever is left over is an error.
class fields {
public:
  static result<fields> of(located at, std::initializer_list<std::string_view> known) {
    if (!at.value->is_object()) return at.wrong("expected an object");
    for (const auto& field : at.value->get_object())
      if (std::find(known.begin(), known.end(), std::string_view{field.key()}) == known.end())
        return located{&field.value(), at.pointer + "/" + std::string{field.key()}}.wrong(
            unknown_field(known));
    return fields{std::move(at)};
  }

  [[nodiscard]] std::optional<located> find(std::string_view name) const {
    const auto* value = at_.value->get_object().if_contains(name);
    if (!value) return std::nullopt;
    return located{value, at_.pointer + "/" + std::string{name}};
  }

  [[nodiscard]] result<located> need(std::string_view name) const {
    if (auto found = find(name)) return *std::move(found);
    return at_.wrong("field `" + std::string{name} + "` is missing");
  }

  [[nodiscard]] result<std::string> text(std::string_view name) const {
    auto found = need(name);
    if (!found) return found.error();
    if (!found->value->is_string()) return found->wrong("expected a string");
    std::string text{std::string_view{found->value->get_string()}};
    if (text.empty()) return found->wrong("must not be empty");
    if (text.find('\0') != std::string::npos) return found->wrong("contains a NUL character");
    return text;
  }

  [[nodiscard]] error wrong(std::string_view name, std::string_view what) const {
    return located{nullptr, at_.pointer + "/" + std::string{name}}.wrong(what);
  }

private:
  explicit fields(located at) : at_{std::move(at)} {}
  located at_;
};

/// The field `type` or `kind` that says which shape the rest has.
result<std::string> tag_of(const located& at, std::string_view tag) {
  if (!at.value->is_object()) return at.wrong("expected an object");
  const auto* value = at.value->get_object().if_contains(tag);
  if (!value || !value->is_string())
    return at.wrong("field `" + std::string{tag} + "` is missing or no string");
  return std::string{std::string_view{value->get_string()}};
}

bool is_foreign_absolute(std::string_view path) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return path.starts_with("\\\\") || (path.size() > 2 && letter(path[0]) && path[1] == ':' &&
                                      (path[2] == '\\' || path[2] == '/'));
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/') || is_foreign_absolute(path);
}

result<std::string> decode_subpath(const fields& object) {
  auto text = object.text("subpath");
  if (!text) return text;
  std::string kept;
  for (std::size_t at = 0; at <= text->size();) {
    const auto end = std::min(text->find('/', at), text->size());
    const std::string part = text->substr(at, end - at);
    if (part.empty() || part == "." || part == "..")
      return object.wrong("subpath", "expected a relative path of plain names");
    at = end + 1;
  }
  return text;
}

result<profile_path> decode_special(const located& at) {
  const auto tag = tag_of(at, "kind");
  if (!tag) return tag.error();
  special_path special;
  if (*tag == "root")
    special.kind = special_kind::root;
  else if (*tag == "minimal")
    special.kind = special_kind::minimal;
  else if (*tag == "project_roots" || *tag == "current_working_directory")
    special.kind = special_kind::project_roots;
  else if (*tag == "tmpdir")
    special.kind = special_kind::tmpdir;
  else if (*tag == "slash_tmp")
    special.kind = special_kind::slash_tmp;
  else if (*tag != "unknown")
    return at.wrong("unknown kind `" + *tag + "`");

  const bool unknown = special.kind == special_kind::unknown;
  const bool may_have_subpath = unknown || special.kind == special_kind::project_roots;
  auto object = unknown            ? fields::of(at, {"kind", "path", "subpath"})
                : may_have_subpath ? fields::of(at, {"kind", "subpath"})
                                   : fields::of(at, {"kind"});
  if (!object) return object.error();
  if (unknown) {
    auto name = object->text("path");
    if (!name) return name.error();
    if (!name->starts_with(':'))
      return object->wrong("path", "expected a name that starts with `:`");
    special.name = *std::move(name);
  }
  if (may_have_subpath && object->find("subpath")) {
    auto subpath = decode_subpath(*object);
    if (!subpath) return subpath.error();
    special.subpath = *std::move(subpath);
  }
  return profile_path{std::move(special)};
}

result<profile_path> decode_path(const located& at) {
  const auto tag = tag_of(at, "type");
  if (!tag) return tag.error();
  if (*tag == "path") {
    auto object = fields::of(at, {"type", "path"});
    if (!object) return object.error();
    auto text = object->text("path");
    if (!text) return text.error();
    if (!is_absolute(*text)) return object->wrong("path", "expected an absolute path");
    return profile_path{literal_path{*std::move(text)}};
  }
  if (*tag == "glob_pattern") {
    auto object = fields::of(at, {"type", "pattern"});
    if (!object) return object.error();
    auto text = object->text("pattern");
    if (!text) return text.error();
    if (text->starts_with("file:"))
      return object->wrong("pattern", "expected a pattern of paths, not a URI");
    return profile_path{glob_path{*std::move(text)}};
  }
  if (*tag == "special") {
    auto object = fields::of(at, {"type", "value"});
    if (!object) return object.error();
    auto value = object->need("value");
    if (!value) return value.error();
    return decode_special(*value);
  }
  return at.wrong("unknown type `" + *tag + "`");
}

result<profile_entry> decode_entry(const located& at) {
  auto object = fields::of(at, {"path", "access", "missing_path_behavior"});
  if (!object) return object.error();
  auto place = object->need("path");
  if (!place) return place.error();
  auto path = decode_path(*place);
  if (!path) return path.error();
  auto word = object->text("access");
  if (!word) return word.error();
  profile_entry entry{*std::move(path), access::read, false};
  if (*word == "write")
    entry.access = access::write;
  else if (*word == "deny" || *word == "none")
    entry.access = access::deny;
  else if (*word != "read")
    return object->wrong("access", "expected read, write or deny");
  if (std::holds_alternative<glob_path>(entry.path) && entry.access != access::deny)
    return object->wrong("access", "a glob may only deny");
  if (object->find("missing_path_behavior")) {
    auto behaviour = object->text("missing_path_behavior");
    if (!behaviour) return behaviour.error();
    if (*behaviour != "skip") return object->wrong("missing_path_behavior", "expected skip");
    entry.skip_missing = true;
  }
  return entry;
}

/// `entries` and `glob_scan_max_depth`, shared by profiles and overlays.
struct entry_list {
  std::vector<profile_entry> entries;
  std::optional<std::uint32_t> depth;
};

result<entry_list> decode_entries(const fields& object) {
  entry_list list;
  auto entries = object.need("entries");
  if (!entries) return entries.error();
  if (!entries->value->is_array()) return entries->wrong("expected an array");
  for (const auto& item : entries->value->get_array()) {
    auto entry =
        decode_entry({&item, entries->pointer + "/" + std::to_string(list.entries.size())});
    if (!entry) return entry.error();
    list.entries.push_back(*std::move(entry));
  }
  if (const auto depth = object.find("glob_scan_max_depth")) {
    json::error_code failed;
    const auto number = depth->value->is_number() ? depth->value->to_number<std::uint32_t>(failed)
                                                  : std::uint32_t{0};
    if (failed || number == 0) return depth->wrong("expected a whole number of at least 1");
    list.depth = number;
  }
  return list;
}

result<entry_list> decode_read_write(const fields& object) {
  entry_list list;
  for (const auto& [name, granted] :
       {std::pair{"read", access::read}, std::pair{"write", access::write}}) {
    const auto paths = object.find(name);
    if (!paths) continue;
    if (!paths->value->is_array()) return paths->wrong("expected an array of paths");
    std::size_t index = 0;
    for (const auto& item : paths->value->get_array()) {
      const located at{&item, paths->pointer + "/" + std::to_string(index++)};
      if (!item.is_string()) return at.wrong("expected a string");
      std::string text{std::string_view{item.get_string()}};
      if (!is_absolute(text) || text.find('\0') != std::string::npos)
        return at.wrong("expected an absolute path");
      list.entries.push_back({literal_path{std::move(text)}, granted, false});
    }
  }
  return list;
}

/// Both input shapes of an overlay's and an untagged profile's file system.
result<entry_list> decode_grant_list(const located& at) {
  if (!at.value->is_object()) return at.wrong("expected an object");
  if (at.value->get_object().contains("entries")) {
    auto object = fields::of(at, {"entries", "glob_scan_max_depth"});
    return object ? decode_entries(*object) : result<entry_list>{object.error()};
  }
  auto object = fields::of(at, {"read", "write"});
  return object ? decode_read_write(*object) : result<entry_list>{object.error()};
}

/// `{"enabled"?: bool}`
result<std::optional<bool>> decode_network_switch(const located& at) {
  auto object = fields::of(at, {"enabled"});
  if (!object) return object.error();
  const auto enabled = object->find("enabled");
  if (!enabled) return std::optional<bool>{};
  if (!enabled->value->is_bool()) return enabled->wrong("expected true or false");
  return std::optional<bool>{enabled->value->get_bool()};
}

result<file_system_policy> decode_file_system(const located& at) {
  const auto tag = tag_of(at, "type");
  if (!tag) return tag.error();
  file_system_policy policy;
  if (*tag == "unrestricted") {
    auto object = fields::of(at, {"type"});
    if (!object) return object.error();
    policy.restricted = false;
    return policy;
  }
  if (*tag != "restricted") return at.wrong("unknown type `" + *tag + "`");
  auto object = fields::of(at, {"type", "entries", "glob_scan_max_depth"});
  if (!object) return object.error();
  auto list = decode_entries(*object);
  if (!list) return list.error();
  policy.entries = std::move(list->entries);
  policy.glob_scan_max_depth = list->depth;
  return policy;
}

result<network_policy> decode_network(const fields& object) {
  auto word = object.text("network");
  if (!word) return word.error();
  if (*word == "restricted") return network_policy::restricted;
  if (*word == "enabled") return network_policy::enabled;
  return object.wrong("network", "expected restricted or enabled");
}

/// `{"network"?, "file_system"?}` without a type: an overlay, or a profile of the older form.
result<additional_permissions> decode_overlay(const located& at) {
  auto object = fields::of(at, {"network", "file_system", "presets"});
  if (!object) return object.error();
  additional_permissions overlay;
  if (const auto network = object->find("network")) {
    auto enabled = decode_network_switch(*network);
    if (!enabled) return enabled.error();
    overlay.network_enabled = *enabled;
  }
  if (const auto file_system = object->find("file_system")) {
    auto list = decode_grant_list(*file_system);
    if (!list) return list.error();
    overlay.entries = std::move(list->entries);
    overlay.glob_scan_max_depth = list->depth;
  }
  if (const auto presets = object->find("presets")) {
    if (!presets->value->is_array()) return presets->wrong("expected an array");
    for (const auto& name : presets->value->get_array()) {
      if (!name.is_string() || name.get_string() != "git")
        return presets->wrong("the only preset is `git`");
      for (auto& entry : git_preset_entries())
        overlay.entries.push_back(std::move(entry));
    }
  }
  return overlay;
}

result<permission_profile> decode_profile_value(const located& at) {
  if (!at.value->is_object()) return at.wrong("expected an object");
  permission_profile profile;
  if (!at.value->get_object().contains("type")) {
    auto older = decode_overlay(at);
    if (!older) return older.error();
    profile.file_system.entries = std::move(older->entries);
    profile.file_system.glob_scan_max_depth = older->glob_scan_max_depth;
    if (older->network_enabled.value_or(false)) profile.network = network_policy::enabled;
    return profile;
  }
  const auto tag = tag_of(at, "type");
  if (!tag) return tag.error();
  if (*tag == "disabled") {
    auto object = fields::of(at, {"type"});
    if (!object) return object.error();
    return danger_full_access_profile();
  }
  if (*tag != "managed" && *tag != "external") return at.wrong("unknown type `" + *tag + "`");
  const bool managed = *tag == "managed";
  auto object = managed ? fields::of(at, {"type", "file_system", "network"})
                        : fields::of(at, {"type", "network"});
  if (!object) return object.error();
  auto network = decode_network(*object);
  if (!network) return network.error();
  profile.network = *network;
  if (!managed) {
    profile.kind = profile_kind::external;
    profile.file_system.restricted = false;
    return profile;
  }
  auto place = object->need("file_system");
  if (!place) return place.error();
  auto policy = decode_file_system(*place);
  if (!policy) return policy.error();
  profile.file_system = *std::move(policy);
  return profile;
}

result<json::value> parse(std::string_view text) {
  json::stream_parser parser;
  json::error_code failed;
  const auto used = parser.write_some(text.data(), text.size(), failed);
  if (!failed) parser.finish(failed);
  if (!failed && text.find_first_not_of(" \t\r\n", used) != std::string_view::npos)
    failed = json::error::extra_data;
  if (failed)
    return error{errc::invalid_profile,
                 "permissions are not JSON: " + failed.message() + " at byte " +
                     std::to_string(used),
                 "give one JSON object, or the name of a built-in profile"};
  // A name that stands twice means one thing to us and perhaps another to who wrote it.
  const json_source source{"permissions", errc::invalid_profile, "give each name once",
                           text.size()};
  if (const auto strict = parse_json(text, source); !strict) return strict.error();
  return parser.release();
}

} // namespace

result<permission_profile> decode_profile(std::string_view text) {
  auto value = parse(text);
  if (!value) return value.error();
  return decode_profile_value({&*value, {}});
}

result<additional_permissions> decode_additional_permissions(std::string_view text) {
  auto value = parse(text);
  if (!value) return value.error();
  return decode_overlay({&*value, {}});
}

} // namespace gatehouse
