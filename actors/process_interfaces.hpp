#pragma once

#include "actors/audit/auditor_interface.hpp"
#include "actors/interfaces.hpp"
#include "protocol/exec_result.hpp"
#include "reactor/output_stream.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// Terminal sessions: what is said to and by the manager of the sessions of one thread (§118–§127).
namespace gatehouse::actors {

/// `exec_command` (§3): a call whose process may outlive it. Its `proposal` says `tty`.
struct exec_request {
  call_start start;
  std::optional<std::chrono::milliseconds> yield; ///< bounds the wait, never the process (§122)
  std::optional<std::chrono::milliseconds> yield_cap; ///< shortens it, or the default
};

/// `write_stdin` (§119, §123): writes when `chars` is not empty, polls when it is.
struct stdin_request {
  std::string call_id; ///< of this write
  int session_id = 0;
  std::string chars;
  std::optional<std::chrono::milliseconds> yield;
  std::optional<std::chrono::milliseconds> yield_cap; ///< shortens it, or the default
};

/// The answer to both. `failure` set: there is no result.
struct exec_reply {
  exec_result result;
  std::optional<error> failure;
  /// exec_command: how the call went. write_stdin: unset.
  call_report_ptr report;
  /// write_stdin: how the call that began the session went; unset: there is no such session.
  call_report_ptr began;
  /// Set when the process has ended: how.
  std::optional<attempt_record> ended;
  std::string message;  ///< to the model, beside the result; may be empty
  bool refused = false; ///< `failure` is the no of whoever was asked
};

struct process_list {
  std::vector<process_info> sessions; ///< by id
};

/// INTERNAL to the manager and its sessions.
struct poll_order {
  std::string call_id;
  std::string chars;
  std::chrono::milliseconds yield{0};
};
/// INTERNAL: what came since the last poll.
struct poll_piece {
  std::string text;
  std::uint64_t total_bytes = 0;
  std::uint64_t omitted_bytes = 0;
  std::chrono::microseconds wall{0};
  std::optional<error> failure;
  std::optional<attempt_record> ended;
};

/// What happens in sessions, for whoever shows it. Called on the loop; must not block.
struct process_event {
  /// Output as it comes, in whole characters, at most 10,000 of them a session (§96).
  struct output {
    reactor::output_stream stream = reactor::output_stream::standard_output;
    std::string bytes;
  };
  /// write_stdin wrote, or polled while the process lived (§125).
  struct interaction {
    std::string chars;
  };
  /// Once: the process has ended.
  struct ended {
    attempt_record how;
    std::string transcript;
  };
  int session_id = 0;
  std::string call_id; ///< of the exec_command
  int attempt = 1;
  std::variant<output, interaction, ended> what;
};

using exec_request_ptr = std::shared_ptr<const exec_request>;
using stdin_request_ptr = std::shared_ptr<const stdin_request>;
using exec_reply_ptr = std::shared_ptr<const exec_reply>;
using process_list_ptr = std::shared_ptr<const process_list>;
using process_transcript_ptr = std::shared_ptr<const process_transcript>;
using poll_order_ptr = std::shared_ptr<const poll_order>;
using poll_piece_ptr = std::shared_ptr<const poll_piece>;

using poll_atom = caf::atom_constant<caf::atom("poll")>;
using list_atom = caf::atom_constant<caf::atom("list")>;
using type_atom = caf::atom_constant<caf::atom("type")>;
using read_atom = caf::atom_constant<caf::atom("read")>;
using signal_atom = caf::atom_constant<caf::atom("signal")>;
using resize_atom = caf::atom_constant<caf::atom("resize")>;
using end_atom = caf::atom_constant<caf::atom("end")>;
using kill_atom = caf::atom_constant<caf::atom("kill")>;
inline constexpr poll_atom poll_v{};
inline constexpr list_atom list_v{};
inline constexpr type_atom type_v{};
inline constexpr read_atom read_v{};
inline constexpr signal_atom signal_v{};
inline constexpr resize_atom resize_v{};
inline constexpr end_atom end_v{};
inline constexpr kill_atom kill_v{};

/// Instead of a count of bytes: beginning and end of all of it.
inline constexpr std::int64_t whole_transcript = -1;

/// One process (§118). As a runtime it answers when the process has ended or its first wait is over
/// (§122), whichever comes first; then it lives until it is told to go.
using process_actor = runtime_actor::extend<
    // Writes, then waits for the end of the process or of the time. One after the other.
    caf::replies_to<poll_atom, poll_order_ptr>::with<poll_piece_ptr>,
    // After so many bytes, or `whole_transcript`.
    caf::replies_to<read_atom, std::int64_t>::with<process_transcript_ptr>,
    // A person types: beside the polls, at once. Only `failure` of the reply means anything.
    caf::replies_to<type_atom, std::string>::with<poll_piece_ptr>,
    // To the process group of the command.
    caf::reacts_to<signal_atom, int>,
    // Rows, columns.
    caf::reacts_to<resize_atom, int, int>,
    // Ctrl-C, SIGTERM, SIGKILL, over the whole tree.
    caf::reacts_to<end_atom>,
    // SIGKILL over the whole tree, and goes.
    caf::reacts_to<kill_atom>,
    // INTERNAL: somebody is asked about a host: the limits stand still, or go on; so much goes off
    // the one of its whole life.
    caf::reacts_to<hold_atom, bool, caf::timespan>,
    // INTERNAL: a reviewer refused a host: the process ends (§116).
    caf::reacts_to<refuse_atom>,
    // INTERNAL: the process has ended, or a wait is over.
    caf::reacts_to<report_atom>>;

/// All sessions of one thread. Also the runtime of the calls that start them.
using process_manager_actor = runtime_actor::extend<
    caf::replies_to<run_atom, exec_request_ptr>::with<exec_reply_ptr>,
    caf::replies_to<run_atom, stdin_request_ptr>::with<exec_reply_ptr>,
    caf::replies_to<list_atom>::with<process_list_ptr>,
    caf::replies_to<read_atom, int, std::int64_t>::with<process_transcript_ptr>,
    caf::replies_to<type_atom, int, std::string>::with<poll_piece_ptr>,
    // False: there is no such session.
    caf::replies_to<signal_atom, int, int>::with<bool>,
    caf::replies_to<resize_atom, int, int, int>::with<bool>,
    // Ends one session; the reply comes when nothing of it is left.
    caf::replies_to<end_atom, int>::with<bool>,
    // Ends all that outlived their calls (§127); the reply is their number.
    caf::replies_to<end_atom>::with<int>,
    // INTERNAL: the process of this session has ended.
    caf::reacts_to<ended_atom, int>,
    // INTERNAL: hooks have spoken about this write.
    caf::reacts_to<report_atom, std::string>>;

} // namespace gatehouse::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::exec_request_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::stdin_request_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::exec_reply_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::process_list_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::process_transcript_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::poll_order_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::poll_piece_ptr)

CAF_BEGIN_TYPE_ID_BLOCK(gatehouse_process, gatehouse_audit_last_type_id + 1)

  CAF_ADD_TYPE_ID(gatehouse_process, (gatehouse::actors::exec_request_ptr))
  CAF_ADD_TYPE_ID(gatehouse_process, (gatehouse::actors::stdin_request_ptr))
  CAF_ADD_TYPE_ID(gatehouse_process, (gatehouse::actors::exec_reply_ptr))
  CAF_ADD_TYPE_ID(gatehouse_process, (gatehouse::actors::process_list_ptr))
  CAF_ADD_TYPE_ID(gatehouse_process, (gatehouse::actors::process_transcript_ptr))
  CAF_ADD_TYPE_ID(gatehouse_process, (gatehouse::actors::poll_order_ptr))
  CAF_ADD_TYPE_ID(gatehouse_process, (gatehouse::actors::poll_piece_ptr))

CAF_END_TYPE_ID_BLOCK(gatehouse_process)
