#pragma once

#include <string>

namespace gatehouse::rpc::app {

/// The JSON schema (draft 2020-12) of every message of the app dialect: `$defs` holds the types,
/// `methods`, `serverRequests` and `notifications` name the types of each message.
std::string schema();

/// The same for people: docs/protocol.md, generated.
std::string schema_as_markdown();

} // namespace gatehouse::rpc::app
