#pragma once

#include <string>

namespace gatehouse::config {

/// The shell that runs command strings: $SHELL when it is a bash, zsh or sh at a system path and
/// can be executed; else the first of /bin/bash and /bin/sh that can. Other shells have another
/// grammar than the one that is judged, so they are never used.
std::string user_shell();

/// Says that $SHELL is set and which shell is used in its place; empty when it is the one used.
std::string unusable_shell_notice();

} // namespace gatehouse::config
