#pragma once

#include "actors/asking_client.hpp"
#include "protocol/review.hpp"

#include <string>

namespace gatehouse::cli {

/// What a person is shown: the exact command, the folder, why it is asked, what a yes allows, and
/// the answers. Nothing in it can move the cursor or forge a line of ours.
std::string question_text(const review_request& question);

/// Asks at the controlling terminal. Unset when there is none that a person could see: standard
/// input or standard error is no terminal.
actors::question_asker terminal_asker();

} // namespace gatehouse::cli
