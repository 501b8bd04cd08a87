#pragma once

#include "policy/segment_judge.hpp"

#include <span>
#include <string>
#include <vector>

namespace gatehouse::policy {

/// The rule that a reviewer may add, or nothing (§40, §41): the model's suggestion where it is
/// narrow, no rule matched and it would settle every command; else the first command that nobody
/// settled, as it stands, where that settles all the others, too. Never for a command that a rule
/// of the user's, a hidden command or an unreadable part holds back: there the new rule would
/// change nothing.
/// @param judgements of all segments, in order; some cause a question or the command is skipped
std::vector<std::string> propose_amendment(const exec_request& request,
                                           std::span<const segment_judgement> judgements,
                                           const program_facts& facts);

} // namespace gatehouse::policy
