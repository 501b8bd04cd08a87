#include "config/profile_table.hpp"

#include "config/network_table.hpp"

#include <algorithm>
#include <limits>

namespace gatehouse::config {
namespace {

constexpr std::string_view glob_characters = "*?[]";

bool is_glob(std::string_view text) noexcept {
  return text.find_first_of(glob_characters) != std::string_view::npos;
}

/// Components joined by single slashes, without `.`; nothing when `..` or a NUL is in it.
std::optional<std::string> clean(std::string_view text, bool absolute) {
  std::string path;
  while (!text.empty()) {
    const auto end = std::min(text.find('/'), text.size());
    const auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.find('\0') != std::string_view::npos) return std::nullopt;
    if (absolute || !path.empty()) path += '/';
    path += part;
  }
  if (absolute && path.empty()) path = "/";
  return path;
}

std::optional<access> access_word(toml_reader& reader, const toml_value& value,
                                  const std::string& key) {
  if (const auto* word = value.string()) {
    if (*word == "read") return access::read;
    if (*word == "write") return access::write;
    if (*word == "deny" || *word == "none") return access::deny;
  }
  reader.fail(value, "the access of `" + key + "` is not one of the known words",
              "Write \"read\", \"write\" or \"deny\" (\"none\" means deny).");
  return std::nullopt;
}

std::optional<special_path> special_key(const std::string& key) {
  if (key == ":root") return special_path{special_kind::root, {}, {}};
  if (key == ":minimal") return special_path{special_kind::minimal, {}, {}};
  if (key == ":project_roots" || key == ":workspace_roots")
    return special_path{special_kind::project_roots, {}, {}};
  if (key == ":tmpdir") return special_path{special_kind::tmpdir, {}, {}};
  if (key == ":slash_tmp") return special_path{special_kind::slash_tmp, {}, {}};
  return std::nullopt;
}

/// `~` and `~/…` become absolute. Anything else that is not absolute is refused: a path that means
/// something else in every folder is no boundary.
std::optional<std::string> absolute_key(toml_reader& reader, const toml_value& value,
                                        const std::string& key) {
  std::string text = key;
  if (key == "~" || key.starts_with("~/")) {
    if (is_glob(key) && reader.user_home.find_first_of("*?[]{}") != std::string::npos) {
      reader.fail(value, "`" + key + "` cannot be expanded: the home folder's name holds `*?[]{}`",
                  "Write the pattern out from `/`.");
      return std::nullopt;
    }
    text = reader.user_home + key.substr(1);
  }
  if (!text.starts_with('/')) {
    reader.fail(value, "`" + key + "` is neither absolute, nor `~/…`, nor a name like `:tmpdir`",
                "Write the path from `/`, or put it into [….filesystem.\":project_roots\"].");
    return std::nullopt;
  }
  auto path = clean(text, true);
  if (!path)
    reader.fail(value, "`" + key + "` holds `..` or a NUL byte", "Write the path without it.");
  return path;
}

/// A path with its access: globs may only deny; `dir/**` with read or write is the folder itself.
void add_path(toml_reader& reader, const toml_value& value, std::string path, access granted,
              std::vector<profile_entry>& entries) {
  if (granted != access::deny && path.ends_with("/**")) path.resize(path.size() - 3);
  if (path.empty()) path = "/";
  if (!is_glob(path)) {
    entries.push_back({literal_path{std::move(path)}, granted, false});
  } else if (granted == access::deny) {
    entries.push_back({glob_path{std::move(path)}, granted, false});
  } else {
    reader.fail(value, "the glob `" + path + "` may only deny",
                "Name the folder itself, or end the pattern with `/**` for a whole subtree.");
  }
}

void add_in_project_roots(toml_reader& reader, const toml_value& value, std::string subpath,
                          access granted, std::vector<profile_entry>& entries) {
  if (granted != access::deny) {
    if (subpath == "**") subpath.clear();
    if (subpath.ends_with("/**")) subpath.resize(subpath.size() - 3);
  }
  if (!is_glob(subpath))
    entries.push_back(
        {special_path{special_kind::project_roots, std::move(subpath), {}}, granted, false});
  else
    add_path(reader, value, std::move(subpath), granted, entries);
}

void read_scoped(toml_reader& reader, const std::string& key, const toml_value& value,
                 std::vector<profile_entry>& entries) {
  const auto special = special_key(key);
  const bool in_roots = special && special->kind == special_kind::project_roots;
  std::string base;
  if (!in_roots) {
    if (key.starts_with(':')) {
      reader.fail(value, "`" + key + "` takes no table of sub-paths",
                  "Give it one access, for example \"" + key + "\" = \"read\".");
      return;
    }
    const auto path = absolute_key(reader, value, key);
    if (!path) return;
    if (path->find_first_of("*?[]{}") != std::string::npos) {
      reader.fail(value, "`" + key + "` holds `*?[]{}` and takes no table of sub-paths",
                  "Join the two patterns into one key.");
      return;
    }
    base = *path == "/" ? "" : *path;
  }
  for (const auto& [sub, word] : *value.table()) {
    const auto granted = access_word(reader, word, sub);
    if (!granted) continue;
    const auto subpath = sub.starts_with('/') ? std::nullopt : clean(sub, false);
    if (!subpath || (subpath->empty() && sub != ".")) {
      reader.fail(word, "`" + sub + "` below `" + key + "` is not a relative path without `..`",
                  "Write `.` or a path like `docs/api`.");
    } else if (in_roots) {
      add_in_project_roots(reader, word, *subpath, *granted, entries);
    } else {
      add_path(reader, word, subpath->empty() ? base : base + "/" + *subpath, *granted, entries);
    }
  }
}

void read_file_system(toml_reader& reader, const toml_table& table, profile_definition& profile) {
  for (const auto& [key, value] : table) {
    if (key == "glob_scan_max_depth") {
      const auto* depth = value.integer();
      if (!depth || *depth < 1 || *depth > std::numeric_limits<std::uint32_t>::max())
        reader.fail(value, "`glob_scan_max_depth` must be a whole number of folder levels from 1",
                    "Write, for example, glob_scan_max_depth = 8.");
      else
        profile.glob_scan_max_depth = static_cast<std::uint32_t>(*depth);
    } else if (value.table()) {
      read_scoped(reader, key, value, profile.entries);
    } else if (const auto granted = access_word(reader, value, key); !granted) {
      continue;
    } else if (const auto special = special_key(key)) {
      profile.entries.push_back({*special, *granted, false});
    } else if (key.starts_with(':')) {
      reader.warn(value, "`" + key + "` is not a known name and matches nothing");
      profile.entries.push_back({special_path{special_kind::unknown, {}, key}, *granted, false});
    } else if (auto path = absolute_key(reader, value, key)) {
      add_path(reader, value, std::move(*path), *granted, profile.entries);
    }
  }
}

void read_profile(toml_reader& reader, const std::string& name, const toml_value& value,
                  std::vector<profile_definition>& profiles) {
  if (name.empty() || name.starts_with(':') || built_in_profile(name)) {
    reader.fail(value, "the profile name `" + name + "` is reserved", "Choose another name.");
    return;
  }
  if (!value.table()) {
    reader.fail(value, "`permissions." + name + "` must be a table",
                "Write [permissions." + name + "] with its keys below.");
    return;
  }
  const auto& table = *value.table();
  profile_definition profile;
  profile.name = name;
  profile.from = reader.at(value);
  if (auto text = reader.string(table, "description")) profile.description = std::move(text->value);
  if (auto text = reader.string(table, "extends")) profile.extends = std::move(text->value);
  if (const auto* roots = reader.table(table, "workspace_roots")) {
    for (const auto& [path, on] : *roots) {
      if (on.boolean())
        profile.workspace_roots.emplace_back(path, *on.boolean());
      else
        reader.fail(on, "`workspace_roots." + path + "` must be true or false",
                    "Write { \"" + path + "\" = true }.");
    }
  }
  if (const auto* files = reader.table(table, "filesystem"))
    read_file_system(reader, *files, profile);
  if (const auto* network = reader.table(table, "network"))
    read_network_table(reader, *network, profile);
  for (const auto& preset : reader.strings(table, "presets")) {
    if (preset.value == "git")
      for (auto& entry : git_preset_entries())
        profile.entries.push_back(std::move(entry));
    else
      reader.fail(*find(table, "presets"), "`" + preset.value + "` is not a preset",
                  "The only preset is \"git\".");
  }
  reader.warn_unknown(
      table, "permissions." + name + ".",
      {"description", "extends", "workspace_roots", "presets", "filesystem", "network"});
  if (profile.entries.empty() && profile.extends.empty())
    reader.warn(value, "the profile `" + name + "` has no entries: nothing can be read under it");
  for (const auto& entry : profile.entries) {
    const auto* glob = std::get_if<glob_path>(&entry.path);
    if (glob && glob->pattern.find("**") != std::string::npos && !profile.glob_scan_max_depth) {
      reader.warn(value, "`" + glob->pattern +
                             "` is searched without a depth limit before every command; set "
                             "glob_scan_max_depth to bound the work");
      break;
    }
  }
  profiles.push_back(std::move(profile));
}

/// Whether or not one of them is in use: a profile that can never be resolved is a mistake.
void refuse_cycles(toml_reader& reader, const toml_table& permissions,
                   const std::vector<profile_definition>& profiles) {
  for (const auto& start : profiles) {
    std::string chain = start.name;
    const auto* at = &start;
    for (std::size_t step = 0; step < profiles.size() && at; ++step) {
      const auto next = std::ranges::find(profiles, at->extends, &profile_definition::name);
      if (next == profiles.end()) break;
      chain += " -> " + next->name;
      at = &*next;
      if (at != &start) continue;
      const auto* table = find(permissions, start.name)->table();
      return reader.fail(*find(*table, "extends"),
                         "permission profiles extend each other: " + chain,
                         "Remove one `extends`.");
    }
  }
}

} // namespace

std::vector<profile_definition> read_profiles(toml_reader& reader, const toml_table& permissions) {
  std::vector<profile_definition> profiles;
  for (const auto& [name, value] : permissions)
    read_profile(reader, name, value, profiles);
  refuse_cycles(reader, permissions, profiles);
  return profiles;
}

std::optional<profile_path> read_denied_path(toml_reader& reader, const toml_value& where,
                                             const std::string& key) {
  auto path = absolute_key(reader, where, key);
  if (!path) return std::nullopt;
  if (is_glob(*path)) return glob_path{std::move(*path)};
  return literal_path{std::move(*path)};
}

} // namespace gatehouse::config
