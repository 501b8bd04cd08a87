#pragma once

#include "policy/access.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/sandbox_choice.hpp"

#include <string>

namespace gatehouse::cli {

/// The boundary of a profile on this host, in words (`gatehouse sandbox --explain`): what can be
/// read and written, what is hidden and protected, the network, the mounts in their order, the
/// system calls. For the seatbelt backend, on any host, the policy that macOS would get. Errors:
/// what cannot be enforced here.
result<std::string> explain_sandbox(const permission_profile& profile,
                                    const policy::access_context& context, sandbox_backend backend,
                                    bool managed_network);

} // namespace gatehouse::cli
