#pragma once

#include "protocol/approval_policy.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/sandbox_choice.hpp"

#include <span>
#include <string>

namespace gatehouse {

/// A whole decision for people (§133a), several lines with a final newline: the command, each
/// segment with who judged it, what must happen first, and the boundary. Words are quoted as for a
/// shell, so that no word of a command can draw on the terminal.
std::string explain_text(std::span<const std::string> argv, const approval_policy& approval,
                         const exec_evaluation& evaluation, const sandbox_summary& sandbox);

} // namespace gatehouse
