#pragma once

#include "policy/command_words.hpp"

#include <optional>
#include <string>

namespace gatehouse::policy {

/// Why a client program destroys what a service, a cloud or a database holds, or nothing: no
/// sandbox of this host protects that.
std::optional<std::string> find_service_danger(words argv);

} // namespace gatehouse::policy
