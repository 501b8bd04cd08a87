#pragma once

#include "protocol/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace gatehouse {

/// True when a terminal shows `text` as what it is: valid UTF-8 without control characters (other
/// than tab and newline) and without the characters of Unicode that are invisible or change the
/// direction of others.
bool shows_as_it_is(std::string_view text) noexcept;

/// `text` so that what is shown cannot differ from what it is: everything that does not show as it
/// is appears as `\x1b` or `\u202e`; tab and newline stay. Each character of `also` gets a
/// backslash before it.
std::string visible_text(std::string_view text, std::string_view also = {});

/// The same with a space for each newline: text that stands in a line of ours.
std::string visible_words(std::string_view text);

/// The same with `indent` after each newline: text with lines of its own, none of which can pass
/// for one of ours.
std::string visible_lines(std::string_view text, std::string_view indent);

/// What went wrong, as a terminal shows it: to_string(), by visible_lines().
std::string visible_error(const error& why);

/// As visible_text() on one line of at most `most` bytes (6 or more), for a name that a stranger
/// chose: tab and newline are written out, too, and a backslash of its own is doubled. What is
/// longer ends in "…"; no character and no escape is torn.
std::string visible_line(std::string_view text, std::size_t most);

} // namespace gatehouse
