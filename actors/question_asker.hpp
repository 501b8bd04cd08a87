#pragma once

#include "protocol/review.hpp"

#include <functional>

namespace gatehouse::actors {

/// Puts one question to a person and waits for the answer, which carries the id and the digest of
/// the question that was shown.
using question_asker = std::function<review_answer(const review_request&)>;

} // namespace gatehouse::actors
