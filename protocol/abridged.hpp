#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gatehouse {

/// `text`, or when it is longer than `most` bytes its beginning and its end around "…", about as
/// long as that: for quoting what a stranger sent. No character is torn.
std::string abridged(std::string_view text, std::size_t most);

} // namespace gatehouse
