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

/// Members in the order of the file; names are unique.
using toml_table = std::vector<std::pair<std::string, toml_value>>;
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

  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&data); }
  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&data); }
  [[nodiscard]] const toml_array* array() const { return std::get_if<toml_array>(&data); }
  [[nodiscard]] const toml_table* table() const { return std::get_if<toml_table>(&data); }
  /// "a string", "a table", …: for messages.
  [[nodiscard]] std::string_view type_name() const noexcept;
};

/// Reads TOML text. Errors name `file:line:column`. Files above 4 MiB are refused.
result<toml_table> parse_toml(std::string_view text, const std::string& file);

/// The value called `name`, or nullptr.
const toml_value* find(const toml_table& table, std::string_view name) noexcept;

/// "file:line:column".
std::string position(const std::string& file, const toml_value& value);

} // namespace gatehouse::config
