#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gatehouse {

/// `word` as a person may paste it into a POSIX shell: bare where nothing in it is special, else in
/// single quotes. Control characters other than tab and newline are shown as `$'\xNN'`, so that a
/// word cannot move the cursor of a terminal that shows it.
std::string shell_quote(std::string_view word);

/// The quoted words with one space between them: how a command is shown to people and to the model.
std::string shell_join(std::span<const std::string> argv);

} // namespace gatehouse
