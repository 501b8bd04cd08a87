#pragma once

#include "protocol/exec_server.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The other side of protocol/exec_server.hpp: what a client says and hears (§120). Paths are of
/// the server's machine and follow the POSIX convention.
namespace gatehouse::exec_client {

// Parameters of requests, as JSON.
/// Asks for binary output, which a server that does not know it leaves out of its greeting.
std::string initialize_params(std::string_view client_name, std::string_view resume_session_id);
/// `policy` and `managed_network` of `what` are passed on, too.
std::string start_params(const exec_server::process_start& what);
std::string read_params(std::string_view process_id, std::uint64_t after_seq);
std::string write_params(std::string_view process_id, std::string_view bytes,
                         std::string_view write_id);
std::string signal_params(std::string_view process_id);
std::string process_params(std::string_view process_id);

// Whole messages.
std::string encode_request(std::uint64_t id, std::string_view method, std::string_view params);
std::string encode_notification(std::string_view method);

/// One event of a process; all of one process share a `seq` from 1 without a gap.
struct process_event {
  std::string process_id;
  std::uint64_t seq = 0;
  struct output {
    std::string stream; ///< "stdout", "stderr", "pty"
    std::string bytes;
  };
  struct exited {
    int exit_code = 0;
    bool sandbox_denied = false;
  };
  struct closed {};
  std::variant<output, exited, closed> what;
};

/// The answer to a request of ours.
struct answer {
  std::uint64_t id = 0;
  json_tree result; ///< when `failed` is unset
  std::optional<exec_server::failure> failed;
};

/// A binary message. Error as of `decode_message`.
result<process_event> decode_output(std::string_view message);

/// Anything that is not for us (other notifications, requests) is ignored.
struct other {};

/// Error: `invalid_request` not a message of this protocol; the connection is of no use any more.
result<std::variant<process_event, answer, other>> decode_message(std::string_view text);

/// The answer to process/read.
struct read_result {
  std::vector<process_event> chunks; ///< outputs, ascending `seq`
  std::uint64_t next_seq = 1;
  std::optional<int> exit_code;
  bool exited = false;
  bool closed = false;
  bool sandbox_denied = false;
  std::uint64_t lost_bytes = 0; ///< of output that stood between and was no longer kept
};
result<read_result> decode_read(std::string_view process_id, const json_tree& result);
/// The answer to initialize.
struct greeting {
  std::string session_id;
  bool binary_output = false; ///< output comes in binary messages
};
/// Also an error: binary output of a version that was not asked for.
result<greeting> decode_greeting(const json_tree& result);
/// `running` of the answer to process/terminate: there was something to end.
result<bool> decode_running(const json_tree& result);
/// `status` of the answer to process/write.
result<std::string> decode_write(const json_tree& result);

} // namespace gatehouse::exec_client
