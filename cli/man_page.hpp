#pragma once

#include "cli/command_table.hpp"

#include <string>

namespace gatehouse::cli {

/// "gatehouse-policy-explain.1"
std::string man_page_name(const command_spec& command);
/// The manual page of one command, of man's macros.
std::string man_page(const command_spec& command);
/// gatehouse.1: what it is, every command, every exit status.
std::string man_page_of_all();

} // namespace gatehouse::cli
