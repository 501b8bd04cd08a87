#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gatehouse {

/// `word` as a person may paste it into a POSIX shell: bare where nothing in it is special, else in
/// single quotes. What a terminal would not show as it is (control, invisible and
/// direction-changing characters, bytes that are no UTF-8) is written as `$'\x1b'`, `$'\u202e'`, so
/// that a word can neither move the cursor nor look like another.
std::string shell_quote(std::string_view word);

/// The quoted words with one space between them: how a command is shown to people and to the model.
std::string shell_join(std::span<const std::string> argv);

} // namespace gatehouse
