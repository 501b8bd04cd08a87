#pragma once

#include "protocol/rpc/codec.hpp"
#include "protocol/tool_call.hpp"

/// Permissions as the app dialect spells them: `{"network"?:{"enabled"},"fileSystem"?:{"read"?,
/// "write"?} or {"entries","globScanMaxDepth"?}}`.
namespace gatehouse::rpc::app {

raw_json permissions_json(const additional_permissions& permissions);

/// Reads them; also in the spelling of tool arguments (`file_system`). Errors:
/// errc::invalid_profile.
result<additional_permissions> permissions_from(const json_tree& tree);

} // namespace gatehouse::rpc::app
