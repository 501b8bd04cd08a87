#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gatehouse {

/// The byte offset of the first byte that is not well-formed UTF-8, or nothing.
std::optional<std::size_t> find_invalid_utf8(std::string_view text) noexcept;

/// `text` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD: for output that
/// must be text. Never use it on something that is judged or run.
std::string to_valid_utf8(std::string_view text);

} // namespace gatehouse
