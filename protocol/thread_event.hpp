#pragma once

#include "protocol/call_report.hpp"
#include "protocol/denial.hpp"
#include "protocol/network.hpp"
#include "protocol/output_stream.hpp"
#include "protocol/review.hpp"
#include "protocol/tool_call.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace gatehouse {

/// What happens in a thread, for whoever watches it (§D11). A call is an item: one item_started, at
/// last one item_ended, whatever becomes of it; all else about it lies between them.
namespace thread_events {

struct turn_started {};

enum class turn_ending : std::uint8_t { completed, interrupted };
struct turn_ended {
  turn_ending how = turn_ending::completed;
  std::string reason; ///< interrupted: why
};

/// The patch that a call is, as planned.
struct planned_patch {
  std::string text;
  std::string folder; ///< absolute: base of its relative paths
};
using planned_patch_ptr = std::shared_ptr<const planned_patch>;

struct item_started {
  std::string call_id;
  std::string tool;
  proposal what; ///< as planned; a hook may still rewrite it, then the questions show the new one
  planned_patch_ptr patch{}; ///< set: it is one
};
/// Somebody is being asked. `who` user: it stands until review_resolved, and answers are welcome.
struct review_asked {
  review_request question;
  reviewer_kind who = reviewer_kind::user;
};
struct review_resolved {
  std::string call_id;
  int attempt = 1;
  review_answer answer; ///< who said what, and why
};
struct attempt_began {
  std::string call_id;
  int number = 1;
  sandbox_backend sandbox = sandbox_backend::none;
  network_mode network = network_mode::isolated;
};
/// Bytes as they came; at most 10,000 of these for one call (§96). What follows is in the report.
/// Those of a terminal session go on after the end of its item.
struct output_delta {
  std::string call_id;
  int attempt = 1;
  output_stream stream = output_stream::standard_output;
  std::string bytes;
};
/// The boundary refused something that the attempt needed (§D10).
struct attempt_denied {
  std::string call_id;
  int number = 1;
  denial what;
};
/// The managed network refused a connection (§143): told at once, of one attempt the first 200.
/// Those of a terminal session go on after the end of its item.
struct connection_blocked {
  blocked_connection what;
};
struct item_ended {
  std::shared_ptr<const call_report> report; ///< never null
  planned_patch_ptr patch{};                 ///< as in item_started
};
/// write_stdin wrote to a terminal session, or polled it while its process lived (§125).
struct terminal_interaction {
  std::string call_id; ///< of the exec_command that started it
  int session_id = 0;
  std::string chars; ///< empty: a poll
};
/// The process of a session that had outlived its call has ended (§122).
struct terminal_ended {
  std::string call_id; ///< of the exec_command that started it
  int session_id = 0;
  attempt_record how;
};
/// From here on calls are judged and run under these settings.
struct settings_changed {
  std::string cwd;
  std::vector<std::string> roots;
  std::string approval_json;
  std::string profile; ///< name, or "custom"
};
/// For the user; it changes nothing.
struct warning {
  std::string text;
};

} // namespace thread_events

using thread_event_body = std::variant<
    thread_events::turn_started, thread_events::turn_ended, thread_events::item_started,
    thread_events::review_asked, thread_events::review_resolved, thread_events::attempt_began,
    thread_events::output_delta, thread_events::attempt_denied, thread_events::connection_blocked,
    thread_events::item_ended, thread_events::terminal_interaction, thread_events::terminal_ended,
    thread_events::settings_changed, thread_events::warning>;

struct thread_event {
  std::uint64_t seq = 0; ///< counts from 1 without a gap within a thread
  std::string turn_id;   ///< that was open; empty: none
  thread_event_body what;
  std::int64_t unix_ms = 0; ///< when
};

using thread_event_ptr = std::shared_ptr<const thread_event>;

} // namespace gatehouse
