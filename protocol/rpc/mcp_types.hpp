#pragma once

#include "protocol/call_report.hpp"
#include "protocol/review.hpp"
#include "protocol/rpc/codec.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The Model Context Protocol as a shell server speaks it, both eras: *legacy* (2025-06-18,
/// 2025-11-25: a handshake, the server asks by requests of its own) and *modern* (2026-07-28: every
/// request stands for itself, questions are results that the client answers by calling again).
namespace gatehouse::rpc::mcp {

inline constexpr std::string_view modern_version = "2026-07-28";
inline constexpr std::array<std::string_view, 2> legacy_versions{"2025-11-25", "2025-06-18"};

/// Error codes of the protocol's own.
inline constexpr int unsupported_version = -32022;

struct client_capabilities {
  std::optional<json_tree> elicitation; ///< set: it can ask its user (an object)
};

struct request_meta {
  std::optional<std::string> protocol_version; ///< set: a modern request
  std::optional<client_capabilities> capabilities;
  std::optional<json_tree> progress_token; ///< a string or a number, given back as it came
};

struct initialize_params {
  std::string protocol_version;
  client_capabilities capabilities;
};

/// Of any request: what stands beside its own parameters.
struct any_params {
  std::optional<request_meta> meta;
};

/// What a user answered.
struct elicit_result {
  std::string action; ///< accept, decline or cancel
  std::optional<json_tree> content;
};

struct input_responses {
  std::optional<elicit_result> approval;
};

struct call_params {
  std::string name;
  std::optional<json_tree> arguments;
  std::optional<request_meta> meta;
  std::optional<input_responses> responses;
  std::optional<std::string> request_state;
};

struct cancelled_params {
  json_tree request_id;
};

/// Can the client ask its user by a form?
bool can_ask(const client_capabilities& client);

/// The result of `initialize` or `server/discover`.
std::string server_facts(bool modern, std::string_view version_for_client,
                         std::string_view program_version);
/// Is there a tool of this name?
bool is_tool(std::string_view name);
/// The result of `tools/list`; the order never changes.
std::string tool_list(bool modern);
/// The result of a call that is over. What could not run or was refused is an error to the client,
/// an exit code is not.
std::string call_result(bool modern, const call_report& report);
/// The result of a call whose arguments cannot be read.
std::string call_error(bool modern, std::string_view message);
/// Parameters of `elicitation/create`: a form with one choice.
std::string question(const review_request& asked);
/// The result that asks: the client calls again with the answer and this state.
std::string input_required(const review_request& asked, std::string_view request_state);
/// What the user's answer to `question` means; nothing where it is none of what was on offer (§48).
std::optional<review_decision> decision_of(const elicit_result& answer,
                                           const review_request& asked);
std::string progress(const json_tree& token, int step, std::string_view message);

} // namespace gatehouse::rpc::mcp

namespace gatehouse::rpc {

template <>
struct described<mcp::client_capabilities> {
  static constexpr std::string_view name = "McpClientCapabilities";
  static constexpr std::string_view about = "What the client can do.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("elicitation", &mcp::client_capabilities::elicitation, "");
  }
};
template <>
struct described<mcp::request_meta> {
  static constexpr std::string_view name = "McpRequestMeta";
  static constexpr std::string_view about = "What stands in _meta.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("io.modelcontextprotocol/protocolVersion", &mcp::request_meta::protocol_version, "");
    v.field("io.modelcontextprotocol/clientCapabilities", &mcp::request_meta::capabilities, "");
    v.field("progressToken", &mcp::request_meta::progress_token, "");
  }
};
template <>
struct described<mcp::initialize_params> {
  static constexpr std::string_view name = "McpInitializeParams";
  static constexpr std::string_view about = "The handshake of the legacy era.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("protocolVersion", &mcp::initialize_params::protocol_version, "");
    v.field("capabilities", &mcp::initialize_params::capabilities, "");
  }
};
template <>
struct described<mcp::any_params> {
  static constexpr std::string_view name = "McpAnyParams";
  static constexpr std::string_view about = "Of any request.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("_meta", &mcp::any_params::meta, "");
  }
};
template <>
struct described<mcp::elicit_result> {
  static constexpr std::string_view name = "McpElicitResult";
  static constexpr std::string_view about = "What a user answered.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("action", &mcp::elicit_result::action, "");
    v.field("content", &mcp::elicit_result::content, "");
  }
};
template <>
struct described<mcp::input_responses> {
  static constexpr std::string_view name = "McpInputResponses";
  static constexpr std::string_view about = "Answers to the questions of a result.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("approval", &mcp::input_responses::approval, "");
  }
};
template <>
struct described<mcp::call_params> {
  static constexpr std::string_view name = "McpCallParams";
  static constexpr std::string_view about = "A call of a tool.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("name", &mcp::call_params::name, "");
    v.field("arguments", &mcp::call_params::arguments, "");
    v.field("_meta", &mcp::call_params::meta, "");
    v.field("inputResponses", &mcp::call_params::responses, "");
    v.field("requestState", &mcp::call_params::request_state, "");
  }
};
template <>
struct described<mcp::cancelled_params> {
  static constexpr std::string_view name = "McpCancelledParams";
  static constexpr std::string_view about = "A request that is no longer wanted.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("requestId", &mcp::cancelled_params::request_id, "");
  }
};

} // namespace gatehouse::rpc
