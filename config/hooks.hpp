#pragma once

#include "config/locations.hpp"
#include "protocol/hooks_file.hpp"
#include "protocol/result.hpp"

#include <vector>

namespace gatehouse::config {

/// The hooks of the user's hooks.json; none when there is no such file. A file that cannot be read
/// wholly is an error (errc::invalid_config, errc::io): a command must not run past a guard that
/// the user believes in.
result<std::vector<hook_handler>> load_hooks(const locations& where);

} // namespace gatehouse::config
