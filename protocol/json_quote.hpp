#pragma once

#include <string>
#include <string_view>

namespace gatehouse {

/// `text` as a JSON string literal with its quotes, for one-line writers that need no JSON library:
/// non-ASCII raw, controls as `\b \f \n \r \t` or `\u00xx`. The same text is a valid string of the
/// rule language. `text` must be UTF-8.
std::string json_quote(std::string_view text);

} // namespace gatehouse
