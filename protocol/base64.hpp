#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gatehouse {

/// Standard alphabet with padding, on one line.
std::string encode_base64(std::string_view bytes);
/// The same, at the end of `text`.
void append_base64(std::string& text, std::string_view bytes);

/// The bytes, or nothing when `text` is not exactly what `encode_base64` would write for them.
std::optional<std::string> decode_base64(std::string_view text);

} // namespace gatehouse
