#pragma once

#include "protocol/review.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::cli {

/// The answer of this person to this question.
review_answer user_answer(const review_request& question, review_decision decision,
                          std::string reason);

/// What a typed line does to the question that stands.
struct answer_step {
  std::optional<review_answer> answer; ///< unset: the question still stands
  std::string text;                    ///< for the terminal, when it still stands; ends its line
};

/// One line at the terminal of a call in this process (§204): a letter that the question offers
/// answers it, "?" shows `why` (§133a) and answers nothing, everything else is asked for again.
/// @param read the question had stood for its reading_time; else only "n" answers it
answer_step type_answer(const review_request& question, std::string_view line, std::string_view why,
                        bool read);

} // namespace gatehouse::cli
