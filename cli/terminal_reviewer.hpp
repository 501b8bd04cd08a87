#pragma once

#include "protocol/review.hpp"

#include <atomic>
#include <string>

namespace gatehouse::cli {

/// True when a person can be asked here: standard input and standard error are terminals, and
/// /dev/tty can be opened.
bool can_ask_at_terminal() noexcept;

/// What is shown for a question, line by line, without the line of keys. What the agent wrote
/// appears with control characters made visible.
std::string question_text(const review_request& question);

/// "[y] once  [n] no  [q] stop > ", and what else is on offer.
std::string keys_text(const review_request& question);

/// What the bytes of one key press mean. Empty: not an answer, ask again. More than one character
/// is never an answer: a terminal's own reports, and pasted text, are not decisions.
std::optional<review_decision> decision_of(std::string_view typed, const review_request& question);

/// Asks at /dev/tty and waits for a key. What was typed before the question stood is discarded.
/// The end of input is a no; Ctrl-C, or `stop` becoming true, stops the turn.
review_answer ask_at_terminal(const review_request& question, const std::atomic<bool>& stop);

} // namespace gatehouse::cli
