#pragma once

#include "protocol/sandbox_choice.hpp"

#include <span>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// What a command may inherit of a program of ours, sandboxed or not: everything but the variables
/// that lead to agents and brokers outside, and our own `GATEHOUSE_…`.
std::vector<std::string> inherited_environment(std::span<const char* const> environment);

/// The environment of a confined command: as given, without the variables that lead to agents and
/// brokers outside, which act for whoever can reach their socket, and with GATEHOUSE_SANDBOX, the
/// name of the backend; GATEHOUSE_SANDBOX_NETWORK_DISABLED=1 unless the network is full.
std::vector<std::string> confined_environment(std::span<const char* const> environment,
                                              network_mode network, sandbox_backend backend);

} // namespace gatehouse::sandbox
