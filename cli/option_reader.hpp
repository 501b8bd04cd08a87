#pragma once

#include "protocol/result.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::cli {

using arguments = std::span<const char* const>;

/// An option a command knows.
struct known_option {
  std::string_view name; ///< with its dashes: "--profile"
  bool takes_value = false;
  bool repeatable = false;
};

/// A command line taken apart.
class options {
public:
  [[nodiscard]] bool has(std::string_view name) const;
  /// The value of an option that may be given once.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
  /// What follows `--`, or starts at the first word that is no option.
  [[nodiscard]] const std::vector<std::string>& rest() const noexcept { return rest_; }

private:
  friend result<options> read_options(arguments, std::span<const known_option>);
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<std::string> rest_;
};

/// Reads `--name value`, `--name=value` and `--flag` up to `--` or the first other word. An unknown
/// option, one given twice, or one without its value is errc::invalid_request.
result<options> read_options(arguments given, std::span<const known_option> known);

} // namespace gatehouse::cli
