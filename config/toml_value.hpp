#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gatehouse::config {

struct toml_value;
struct toml_member;

/// In the order of the file; keys are unique.
using toml_table = std::vector<toml_member>;
using toml_array = std::vector<toml_value>;
/// Dates, times: valid TOML that no key of ours takes.
struct toml_other {
  bool operator==(const toml_other&) const = default;
};

/// One value of a TOML file and where it stands. For a member of a table, line and column are those
/// of its key.
struct toml_value {
  std::variant<std::string, std::int64_t, double, bool, toml_array, toml_table, toml_other> data;
  int line = 0;   ///< 1-based
  int column = 0; ///< 1-based, in characters

  [[nodiscard]] const std::string* string() const;
  [[nodiscard]] const std::int64_t* integer() const;
  [[nodiscard]] const bool* boolean() const;
  [[nodiscard]] const toml_array* array() const;
  [[nodiscard]] const toml_table* table() const;
  /// "a string", "a table", …: for messages.
  [[nodiscard]] std::string_view type_name() const noexcept;
};
/// One `key = value`.
struct toml_member {
  std::string key;
  toml_value value;
};

inline const std::string* toml_value::string() const {
  return std::get_if<std::string>(&data);
}
inline const std::int64_t* toml_value::integer() const {
  return std::get_if<std::int64_t>(&data);
}
inline const bool* toml_value::boolean() const {
  return std::get_if<bool>(&data);
}
inline const toml_array* toml_value::array() const {
  return std::get_if<toml_array>(&data);
}
inline const toml_table* toml_value::table() const {
  return std::get_if<toml_table>(&data);
}

/// Reads TOML text. Errors name `file:line:column`. Files above 4 MiB are refused.
result<toml_table> parse_toml(std::string_view text, const std::string& file);

/// The value called `name`, or nullptr.
const toml_value* find(const toml_table& table, std::string_view name) noexcept;

/// "file:line:column".
std::string position(const std::string& file, const toml_value& value);

} // namespace gatehouse::config
