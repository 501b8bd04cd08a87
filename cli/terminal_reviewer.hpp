#pragma once

#include "actors/asking_client.hpp"
#include "protocol/review.hpp"

namespace gatehouse::cli {

/// Asks at the controlling terminal. Unset when there is none that a person could see: standard
/// input or standard error is no terminal.
actors::question_asker terminal_asker();

} // namespace gatehouse::cli
