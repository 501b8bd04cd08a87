#pragma once

#include "protocol/sandbox_choice.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// What a command may inherit of a program of ours, sandboxed or not: everything but the variables
/// that lead to agents and brokers outside, and our own `GATEHOUSE_…`.
std::vector<std::string> inherited_environment(std::span<const char* const> environment);

/// The environment of a confined command: as given, without the variables that lead to agents and
/// brokers outside, which act for whoever can reach their socket, and with GATEHOUSE_SANDBOX, the
/// name of the backend; GATEHOUSE_SANDBOX_NETWORK_DISABLED=1 where nothing can be reached; behind a
/// managed proxy its variables instead of inherited ones.
/// @param proxy set: there is a managed proxy, and it says whether local_binding is granted
std::vector<std::string> confined_environment(std::span<const char* const> environment,
                                              network_mode network, sandbox_backend backend,
                                              std::optional<bool> proxy = std::nullopt);

} // namespace gatehouse::sandbox
