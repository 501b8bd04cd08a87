#include "config/environments.hpp"

#include "config/text_file.hpp"
#include "config/toml_reader.hpp"
#include "protocol/path_uri.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gatehouse::config {
namespace {

constexpr std::size_t longest_name = 64;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

/// A text that must be there, and begin with `/` where it is a path.
std::string needed(toml_reader& reader, const toml_value& entry, const toml_table& table,
                   const std::string& key, std::string_view example, bool path) {
  const auto text = reader.string(table, key);
  const auto* value = find(table, key);
  if (!value)
    reader.fail(entry, "the environment has no " + key,
                "Write, for example, " + key + " = \"" + std::string{example} + "\".");
  else if (text && (text->value.empty() || (path && !read_path(text->value))))
    reader.fail(*value, key + " is " + (path ? "no absolute path" : "empty"),
                "Write, for example, " + key + " = \"" + std::string{example} + "\".");
  return text ? text->value : std::string{};
}

void read_entry(toml_reader& reader, const std::string& name, const toml_value& value,
                named_environments& into) {
  const auto* table = value.table();
  if (!table)
    return reader.fail(value, "`environments." + name + "` is no table",
                       "Write [environments." + name + "], and below it exec_server and cwd.");
  if (name == "local")
    return reader.fail(value, "`local` is this machine and cannot be another one",
                       "Choose another name.");
  if (!is_name(name))
    return reader.fail(value, "`" + name + "` is no name of an environment",
                       "Write letters, digits, `-`, `_` and `.`, at most 64.");
  named_environment one;
  one.name = name;
  one.from = reader.at(value);
  one.exec_server =
      needed(reader, value, *table, "exec_server", "ws://127.0.0.1:4000", /*path=*/false);
  one.cwd = needed(reader, value, *table, "cwd", "/srv/repo", /*path=*/true);
  if (const auto* file = find(*table, "token_file")) {
    one.token_file = needed(reader, value, *table, "token_file", "/home/me/there.token", true);
    if (!one.token_file.empty() && one.token_file.front() != '/')
      reader.fail(*file, "token_file is no path of this machine", "Write it from / on.");
  }
  reader.warn_unknown(*table, "environments." + name + ".", {"exec_server", "cwd", "token_file"});
  into.by_name[name] = std::move(one);
}

} // namespace

result<named_environments> load_environments(const locations& where) {
  named_environments all;
  for (const auto& [folder, from] :
       {std::pair{where.system, layer::system}, std::pair{where.gatehouse_home, layer::user}}) {
    const auto file = folder + "/config.toml";
    const auto text = read_text_file(file);
    if (!text) return text.error();
    if (!*text) continue;
    const auto root = parse_toml(**text, file);
    if (!root) return root.error();
    toml_reader reader{from, file, where.user_home};
    if (const auto* table = reader.table(*root, "environments"))
      for (const auto& [name, value] : *table)
        read_entry(reader, name, value, all);
    if (reader.failure) return *reader.failure;
    std::ranges::move(reader.warnings, std::back_inserter(all.warnings));
  }
  return all;
}

} // namespace gatehouse::config
