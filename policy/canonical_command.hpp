#pragma once

#include "protocol/approval_key.hpp"

#include <span>
#include <string>

namespace gatehouse::policy {

/// The form of `argv` under which an approval is remembered (§55). A shell around exactly one plain
/// command gives that command's words, so that quoting, blanks, `-c` or `-lc` and the path of the
/// shell do not matter; any other script of a known shell keeps its exact text, its flag and the
/// name of the shell; everything else is the argv as it is. No word is ever dropped.
canonical_command canonical_form(std::span<const std::string> argv);

} // namespace gatehouse::policy
