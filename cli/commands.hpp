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
int help_command(arguments given);
int completions_command(arguments given);
int man_command(arguments given);
/// A group (`policy`) without the name of one of its commands, or with another one.
int group_command(std::string_view group, arguments given);
/// Says what is probably meant; returns the status of wrong usage.
int no_such_command(std::string_view name);

} // namespace gatehouse::cli
