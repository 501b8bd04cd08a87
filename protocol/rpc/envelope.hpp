#pragma once

#include "protocol/json_tree.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace gatehouse::rpc {

/// The id of a request: an integer or a string of at most 1 KiB, given back as it came.
using request_id = std::variant<std::int64_t, std::string>;

/// Error codes of JSON-RPC and ours (reference protocol 5.4).
enum class code : int {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal = -32603,
  overloaded = -32001, ///< retryable
  not_found = -32004,
  attached = -32010, ///< the session has a live connection
};

/// An error toward a client. `kind` is the stable discriminator; `data` holds further fields of
/// `data` as JSON members without braces ("\"retryAfterMs\":50"), may be empty.
struct failure {
  rpc::code code = rpc::code::internal;
  std::string message;
  std::string kind;
  std::string data;
};

/// Bad parameters as an answer: `e.message` names the JSON pointer.
failure invalid_params(const error& e);
/// A text that is no message at all; it has no id to answer to.
failure parse_failure(std::string message);

/// One message of a peer, read but for its parameters.
class message {
public:
  enum class kind : std::uint8_t { request, notification, response };

  [[nodiscard]] kind what() const noexcept { return kind_; }
  /// Empty for a response.
  [[nodiscard]] const std::string& method() const noexcept { return method_; }
  /// Of a request or response.
  [[nodiscard]] const request_id& id() const noexcept { return id_; }
  /// Did the peer write a `jsonrpc` member? Answers then have it too.
  [[nodiscard]] bool has_version() const noexcept { return has_version_; }
  /// The parameters; an empty object when there are none. Borrows this message.
  [[nodiscard]] json_node params() const;
  /// The result of a response; unset when it is an error.
  [[nodiscard]] std::optional<json_node> result_value() const;

private:
  friend struct envelope_reader;
  kind kind_ = kind::notification;
  std::string method_;
  request_id id_{std::int64_t{0}};
  bool has_version_ = false;
  std::shared_ptr<const json_tree> root_;
  std::shared_ptr<const json_source> source_;
};

/// What is wrong with a text that is no message, and the id to answer with, where it could be read.
struct unreadable {
  std::optional<request_id> id;
  failure why;
};

/// Reads one JSON-RPC 2.0 message. Batches, other versions than "2.0", ids of other types, a
/// message that is both request and response, and members beside the known ones (jsonrpc, id,
/// method, params, result, error, trace, emittedAtMs) are refused.
std::variant<message, unreadable> read_message(std::string_view text,
                                               std::size_t max_bytes = 16U << 20U);

/// One line of JSON without a newline. `version` writes the `jsonrpc` member.
std::string write_request(const request_id& id, std::string_view method, std::string_view params,
                          bool version);
/// `emitted_at_ms` below 0 is left out.
std::string write_notification(std::string_view method, std::string_view params, bool version,
                               std::int64_t emitted_at_ms);
std::string write_result(const request_id& id, std::string_view result, bool version);
/// Without an id: null. A long message is abridged: it may quote what the peer sent.
std::string write_failure(const std::optional<request_id>& id, const failure& why, bool version);

} // namespace gatehouse::rpc
