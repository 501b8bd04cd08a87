#pragma once

#include "sandbox/caller.hpp"
#include "sandbox/performed_call.hpp"

#include <functional>
#include <string>

struct seccomp_data;

namespace gatehouse::sandbox {

/// True for the calls that change the owner, the mode or the times of a file.
bool is_attribute_call(const seccomp_data& call) noexcept;

/// Performs such a call where `may_change` (asked with the canonical path of the file) says so. On
/// a host without read-only mounts nothing else keeps the command from the files of its user:
/// Landlock does not know these calls.
answer change_attributes(const caller& who, const seccomp_data& call,
                         const std::function<bool(const std::string&)>& may_change);

} // namespace gatehouse::sandbox
