#pragma once

#include "policy/starlark/token.hpp"

#include <string>

namespace gatehouse::policy::starlark {

/// The text that a string literal means: escapes decoded (unless raw), line ends as `\n`.
/// `text` is what stands between the quotes, `where` its position. Throws `failure`.
std::string decode_literal(std::string_view text, bool raw, bool bytes, position where);

/// Appends a code point as UTF-8. @pre a Unicode scalar value
void append_utf8(std::string& out, std::uint32_t code_point);

} // namespace gatehouse::policy::starlark
