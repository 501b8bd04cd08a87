#pragma once

#include "cli/command_table.hpp"

#include <string>
#include <string_view>

namespace gatehouse::cli {

/// What `gatehouse --help` prints: every command with its summary.
std::string list_of_commands();
/// The commands of a group (`policy`); empty when there is no such group.
std::string list_of_group(std::string_view group);
/// What `gatehouse COMMAND --help` prints: at most 24 lines of at most 80 columns, the last two are
/// examples.
std::string help_of(const command_spec& command);
/// The table of exit statuses for people.
std::string exit_status_text();

/// "-j, --jobs N", "--listen ADDRESS…" when it may be given several times
std::string label_of(const option_spec& option);
/// `text` filled to lines of at most `columns`, each after `indent` spaces but the first.
std::string filled(std::string_view text, std::size_t columns, std::size_t indent);

/// The command or option of `known` that was probably meant; empty when none is near.
std::string_view nearest_command(std::string_view given);
std::string_view nearest_option(const command_spec& command, std::string_view given);

} // namespace gatehouse::cli
