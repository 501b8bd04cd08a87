#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

/// `gatehouse apply-patch` (§11): one patch through the whole chain. Takes the words after its name
/// and returns the status to exit with.
int apply_patch_command(arguments given);

} // namespace gatehouse::cli
