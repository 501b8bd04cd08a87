#pragma once

#include "config/settings.hpp"
#include "config/toml_value.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::config {

/// What reading one TOML file needs to know and collects on the way. The first error wins.
struct toml_reader {
  layer from = layer::user;
  std::string file;
  std::string user_home; ///< for `~`; absolute
  std::vector<std::string> warnings{};
  std::optional<error> failure{};

  [[nodiscard]] origin at(const toml_value& value) const { return {from, file, value.line}; }
  void warn(const toml_value& value, const std::string& text) {
    warnings.push_back(position(file, value) + ": " + text);
  }
  void fail(const toml_value& value, const std::string& text, std::string remedy) {
    if (!failure)
      failure = error{errc::invalid_config, position(file, value) + ": " + text, std::move(remedy)};
  }

  /// Typed members: nothing (and an error) when the type is wrong, nothing when absent.
  std::optional<setting<std::string>> string(const toml_table& table, std::string_view name);
  std::optional<setting<bool>> boolean(const toml_table& table, std::string_view name);
  std::optional<setting<std::int64_t>> integer(const toml_table& table, std::string_view name);
  const toml_table* table(const toml_table& table, std::string_view name);
  std::vector<setting<std::string>> strings(const toml_table& table, std::string_view name);

  /// A warning for each member of `table` that is not in `known`. `where` is "" or "rules.".
  void warn_unknown(const toml_table& table, std::string_view where,
                    std::initializer_list<std::string_view> known);
};

} // namespace gatehouse::config
