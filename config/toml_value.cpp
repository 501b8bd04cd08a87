#include "config/toml_value.hpp"

#include <algorithm>

#include <toml++/toml.h>

namespace gatehouse::config {
namespace {

constexpr std::size_t max_file_bytes = 4u << 20;

/// The last byte of the string that begins at `at`, or of what is left of it.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char c = text[at];
  const bool is_long = text.size() - at > 2 && text[at + 1] == c && text[at + 2] == c;
  const std::string end(is_long ? 3 : 1, c);
  for (at += end.size(); at < text.size() && !text.substr(at).starts_with(end); ++at) {
    if (c == '"' && text[at] == '\\') ++at;
    if (!is_long && at < text.size() && text[at] == '\n') break;
  }
  return at + end.size() - 1;
}

bool begins_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '"' || c == '\'' || c == ' ' || c == '\t';
}

/// Where a table header names nothing (`[.`, `[[[`, `[` alone); npos: none does. toml++ ends the
/// program there.
std::size_t find_bad_header(std::string_view text) {
  int depth = 0; ///< of arrays and inline tables
  bool fresh = true, header = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      fresh = true, header = false;
    } else if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
      fresh = false;
    } else if (c == '\n') {
      fresh = true, header = false;
    } else if (c == '[' && fresh && depth == 0) {
      if (text.substr(at + 1).starts_with('[')) ++at;
      if (at + 1 >= text.size() || !begins_key(text[at + 1])) return at;
      fresh = false, header = true;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      fresh = false;
      if (!header && (c == '[' || c == '{')) ++depth;
      if (!header && (c == ']' || c == '}')) depth = std::max(depth - 1, 0);
    }
  }
  return std::string_view::npos;
}

/// Where a key has more parts than any of ours (`a.a.a.…`); npos: none has. Each part is a table in
/// the one before, and toml++, which bounds the nesting of values, follows these without a bound.
std::size_t find_long_key(std::string_view text) {
  constexpr int most_parts = 100;
  int parts = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      parts = 1;
    } else if (c == '"' || c == '\'') {
      at = end_of_string(text, at);
    } else if (c == '.') {
      if (++parts > most_parts) return at;
    } else if (c == '\n' || c == '=' || c == ',' || c == '{' || c == '[') {
      parts = 1;
    }
  }
  return std::string_view::npos;
}

std::string place_in(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto column = at - (before.find_last_of('\n') + 1) + 1; // npos + 1 is 0
  return std::to_string(line) + ":" + std::to_string(column);
}

void place(toml_value& value, const toml::source_region& where) {
  value.line = static_cast<int>(where.begin.line);
  value.column = static_cast<int>(where.begin.column);
}

toml_value convert(const toml::node& node);

toml_table convert_table(const toml::table& table) {
  toml_table members;
  members.reserve(table.size());
  for (auto&& [key, node] : table) {
    auto value = convert(node);
    place(value, key.source());
    members.push_back({std::string{key.str()}, std::move(value)});
  }
  std::stable_sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return std::pair{a.value.line, a.value.column} < std::pair{b.value.line, b.value.column};
  });
  return members;
}

toml_value convert(const toml::node& node) {
  toml_value value;
  place(value, node.source());
  if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.data = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    value.data = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.data = boolean->get();
  } else if (const auto* array = node.as_array()) {
    toml_array items;
    items.reserve(array->size());
    for (const auto& item : *array)
      items.push_back(convert(item));
    value.data = std::move(items);
  } else if (const auto* table = node.as_table()) {
    value.data = convert_table(*table);
  } else {
    value.data = toml_other{};
  }
  return value;
}

} // namespace

std::string_view toml_value::type_name() const noexcept {
  constexpr std::string_view names[] = {"a string", "an integer", "a number",      "true or false",
                                        "an array", "a table",    "a date or time"};
  return names[data.index()];
}

result<toml_table> parse_toml(std::string_view text, const std::string& file) {
  if (text.size() > max_file_bytes)
    return error{errc::too_large, file + " is larger than 4 MiB", "Split or shorten the file."};
  // toml++ takes a NUL byte as white space in some places; no file of ours has a use for one.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return error{errc::invalid_config,
                 file + ":" + place_in(text, nul) + ": a NUL byte is not text",
                 "Remove it; the file must be UTF-8 text."};
  if (const auto header = find_bad_header(text); header != std::string_view::npos)
    return error{errc::invalid_config,
                 file + ":" + place_in(text, header) + ": a table without a name",
                 "Write [name] or [[name]]."};
  if (const auto key = find_long_key(text); key != std::string_view::npos)
    return error{errc::invalid_config,
                 file + ":" + place_in(text, key) + ": a key has more than 100 parts",
                 "Shorten it; nothing of this file is used."};
  auto parsed = toml::parse(text, std::string_view{file});
  if (!parsed) {
    const auto& failure = parsed.error();
    return error{errc::invalid_config,
                 file + ":" + std::to_string(failure.source().begin.line) + ":" +
                     std::to_string(failure.source().begin.column) + ": " +
                     std::string{failure.description()},
                 "Correct the TOML there; nothing of this file is used."};
  }
  return convert_table(parsed.table());
}

const toml_value* find(const toml_table& table, std::string_view name) noexcept {
  const auto at = std::find_if(table.begin(), table.end(),
                               [&](const auto& member) { return member.key == name; });
  return at == table.end() ? nullptr : &at->value;
}

std::string position(const std::string& file, const toml_value& value) {
  return file + ":" + std::to_string(value.line) + ":" + std::to_string(value.column);
}

} // namespace gatehouse::config
