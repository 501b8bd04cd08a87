#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy::shell {

struct plain_script {
  std::vector<std::vector<std::string>> commands;
  std::string text; ///< the script without line continuations
};

/// Reads `script` by hand as the plain language (reference 6.2 without reserved words, §D17).
std::optional<plain_script> scan_plain(std::string_view script);

/// True for well-formed UTF-8 (no overlong forms, surrogates or values above U+10FFFF).
bool is_utf8(std::string_view text) noexcept;

} // namespace gatehouse::policy::shell
