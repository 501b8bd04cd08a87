#pragma once

#include "actors/session_terms.hpp"
#include "cli/settings_options.hpp"
#include "protocol/result.hpp"

#include <string>

namespace gatehouse::cli {

/// The terms of a session under the configuration of `start`: the one way from settings to calls,
/// for running and for explaining. Errors are about the configuration (an unknown profile, …).
/// @param shell absolute path; scripts are given to it
result<actors::session_terms> session_terms_of(const start_point& start, std::string shell);

} // namespace gatehouse::cli
