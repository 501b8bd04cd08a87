#pragma once

#include "protocol/approval_policy.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/result.hpp"
#include "protocol/review.hpp"
#include "protocol/sandbox_choice.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gatehouse {

/// A whole decision for people (§133a), several lines with a final newline: the command, each
/// segment with who judged it, what must happen first, and the boundary. Words are quoted as for a
/// shell, so that no word of a command can draw on the terminal.
std::string explain_text(std::span<const std::string> argv, const approval_policy& approval,
                         const exec_evaluation& evaluation, const sandbox_summary& sandbox);

/// The part of it that answers "why?" about a call, the same for people at a terminal, in the
/// console and in the audit: segments and their judges, what policy makes of them, the boundary.
std::string why_text(const exec_evaluation& evaluation, const sandbox_summary& sandbox);
/// The answer to "why?" about a question: that text of its call, as it was judged when it was asked
/// about, and, where something else asks (a refusal of the sandbox, a host, a review of every
/// call), a line with that. errc::invalid_request when policy judged nothing: what it is about.
result<std::string> why_text(const review_request& asked);
/// A line below it: who answered what, "answer to attempt 1: approved, by user: fine".
/// @param host of a connection; empty: the question was about the call
/// @param decision as answer_words() has it
std::string answer_line(int attempt, std::string_view decision, std::string_view reviewer,
                        std::string_view reason, std::string_view host = {});
/// The decision, and of a rule about a host whether it allows or denies:
/// "network_policy_amendment (allow)".
std::string answer_words(review_decision decision, bool denies_host);

} // namespace gatehouse
