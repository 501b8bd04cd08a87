#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gatehouse::cli {

/// `text` for a terminal, so that what is shown cannot differ from what it is: control characters,
/// bytes that are no UTF-8, and the invisible and direction-changing characters of Unicode appear
/// as `\x1b`, `\u202e`; a backslash stays one.
std::string visible_text(std::string_view text);

/// An argv as one line that a shell would read back as exactly these words. A word that needs it
/// is quoted; one with characters that cannot be shown is written as `$'…'`.
std::string shell_quoted(std::span<const std::string> argv);

} // namespace gatehouse::cli
