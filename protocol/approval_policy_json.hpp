#pragma once

#include "protocol/approval_policy.hpp"
#include "protocol/result.hpp"

#include <string>
#include <string_view>

namespace gatehouse {

/// An approval policy as it is given on a command line: a name (see approval_policy_from) or JSON:
/// `"never"`, `{"granular": {"rules": true, …}}`. A switch that is left out is off; anything that
/// is not understood is errc::invalid_request.
result<approval_policy> decode_approval_policy(std::string_view name_or_json);

/// `"on-request"` or `{"granular":{…}}` with every switch.
std::string encode_approval_policy(const approval_policy& policy);

} // namespace gatehouse
