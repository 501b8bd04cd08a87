#pragma once

#include "actors/guardian.hpp"
#include "config/settings.hpp"
#include "protocol/result.hpp"

#include <string>
#include <vector>

namespace gatehouse::cli {

/// The automatic reviewer of the settings (§48a); nothing where none is configured. Errors
/// (errc::invalid_config) name the setting: automatic review is on and there is no reviewer, the
/// url is none, the key cannot be found.
/// @param environment "K=V", for a reviewer that is a program
result<actors::guardian_transport> guardian_of(const config::effective_settings& settings,
                                               std::vector<std::string> environment,
                                               reactor::event_loop& loop);

} // namespace gatehouse::cli
