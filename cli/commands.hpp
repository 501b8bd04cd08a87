#pragma once

#include "cli/option_reader.hpp"

namespace gatehouse::cli {

// The commands that need no actors. Each takes the words after its name and returns the status to
// exit with.

int sandbox_command(arguments given);
int doctor_command(arguments given);
int config_command(arguments given);
int policy_check_command(arguments given);
int policy_explain_command(arguments given);
int policy_test_command(arguments given);
int policy_replay_command(arguments given);

} // namespace gatehouse::cli
