#pragma once

#include "protocol/exec_policy.hpp"
#include "protocol/review.hpp"
#include "protocol/rpc/codec.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The messages of the app dialect, for IDE extensions and other clients (§201): what stands in
/// `params` and `result` of each method. Times are Unix milliseconds, `…Ms` durations are
/// milliseconds, paths are absolute, ids are opaque. The texts beside the fields are published in
/// the JSON schema and in docs/protocol.md.
namespace gatehouse::rpc::app {

/// Of calls and requests that answer with nothing: `{}`.
struct nothing {};

struct client_info {
  std::string name;
  std::optional<std::string> title;
  std::optional<std::string> version;
};

enum class output_mode : std::uint8_t { lossy, lossless };

struct gatehouse_capabilities {
  std::optional<bool> approvals;
  std::optional<rpc::app::output_mode> output_mode;
  std::optional<std::int64_t> max_in_flight;
};

struct client_capabilities {
  std::optional<gatehouse_capabilities> gatehouse;
};

struct initialize_params {
  rpc::app::client_info client_info;
  std::optional<client_capabilities> capabilities;
  std::optional<std::string> resume_session_id;
  std::optional<bool> takeover;
};

struct limits {
  std::int64_t frame_bytes = 0;
  std::int64_t max_in_flight = 0;
  std::int64_t retained_event_bytes = 0;
  std::int64_t session_grace_ms = 0;
};

struct server_facts {
  std::string version;
  std::int64_t protocol = 1;
  std::string authority;
  std::vector<std::string> tools;
  std::vector<std::string> sandboxes;
  rpc::app::limits limits;
};

struct initialize_result {
  std::string user_agent;
  std::string platform_family;
  std::string platform_os;
  std::string session_id;
  bool resumed = false;
  server_facts gatehouse;
};

enum class thread_state : std::uint8_t { idle, active };
enum class active_flag : std::uint8_t { waiting_on_approval };

struct thread_status {
  thread_state type = thread_state::idle;
  std::vector<active_flag> active_flags;
};

/// The machine that the calls of a thread run on.
struct thread_environment {
  std::string environment_id;
  std::optional<std::string> cwd;
};

/// A thread as clients see it.
struct thread_info {
  std::string id;
  thread_status status;
  std::vector<thread_environment> environments;
  std::string cwd;
  std::vector<std::string> runtime_workspace_roots;
  raw_json approval_policy;
  std::string sandbox;
  std::string open_turn_id;
  std::int64_t last_seq = 0;
};

struct thread_start_params {
  std::vector<thread_environment> environments;
  std::optional<std::string> cwd;
  std::vector<std::string> runtime_workspace_roots;
  std::optional<json_tree> approval_policy;
  std::optional<std::string> sandbox;
  std::optional<json_tree> permissions;
};

struct settings_update_params {
  std::string thread_id;
  std::optional<std::string> cwd;
  std::vector<std::string> runtime_workspace_roots;
  std::optional<json_tree> approval_policy;
  std::optional<std::string> sandbox;
  std::optional<json_tree> permissions;
};

struct thread_result {
  thread_info thread;
};

struct thread_resume_params {
  std::string thread_id;
  std::optional<std::int64_t> after_seq;
};

struct thread_params {
  std::string thread_id;
};

struct thread_list_result {
  std::vector<thread_info> data;
};

struct granted {
  std::int64_t id = 0;
  std::string scope;
  std::string turn_id;
  raw_json permissions;
};

struct remembered {
  std::int64_t id = 0;
  std::string action;
};

struct remembered_host {
  std::int64_t id = 0;
  std::string host;
  bool allowed = false;
};

struct thread_read_result {
  thread_info thread;
  std::vector<std::string> running;
  std::vector<granted> grants;
  std::vector<remembered> approvals;
  std::vector<remembered_host> hosts;
  std::optional<std::string> stopped_because;
};

enum class grant_kind : std::uint8_t { grant, approval, host };
struct revoke_params {
  std::string thread_id;
  grant_kind kind = grant_kind::grant;
  std::int64_t id = 0;
};
struct revoke_result {
  bool found = false;
};

struct turn_start_params {
  std::string thread_id;
  std::optional<std::string> turn_id;
  std::optional<std::string> input;
};
enum class turn_state : std::uint8_t { in_progress, completed, interrupted };
struct turn_info {
  std::string id;
  turn_state status = turn_state::in_progress;
};
struct turn_result {
  turn_info turn;
};
struct turn_params {
  std::string thread_id;
  std::optional<std::string> turn_id;
};

struct turn_interrupt_params {
  std::string thread_id;
  std::optional<std::string> turn_id;
  std::optional<bool> keep_running;
};

struct tool_call_params {
  std::string thread_id;
  std::optional<std::string> turn_id;
  std::string call_id;
  std::string tool;
  json_tree arguments;
  std::optional<std::int64_t> timeout_ms;
};

enum class call_status : std::uint8_t {
  completed,
  failed,
  declined,
  rejected,
  timed_out,
  interrupted
};

struct tool_call_result {
  std::string call_id;
  call_status status = call_status::failed;
  std::optional<std::int64_t> exit_code;
  std::string output;
  bool output_truncated = false;
  std::int64_t output_omitted_bytes = 0;
  std::optional<bool> output_dropped;
  std::string sandbox_type;
  bool sandbox_denied = false;
  std::optional<gatehouse::decision> decision;
  std::string message;
  std::optional<std::int64_t> session_id;
  raw_json report;
};

struct terminal_params {
  std::string thread_id;
  std::int64_t session_id = 0;
};
struct terminal_read_params {
  std::string thread_id;
  std::int64_t session_id = 0;
  std::optional<std::int64_t> after_byte;
};
struct terminal_write_params {
  std::string thread_id;
  std::int64_t session_id = 0;
  std::string text;
};
struct terminal_signal_params {
  std::string thread_id;
  std::int64_t session_id = 0;
  std::int64_t signal = 0;
};
struct terminal_resize_params {
  std::string thread_id;
  std::int64_t session_id = 0;
  std::int64_t rows = 24;
  std::int64_t columns = 80;
};
struct terminal_info {
  std::int64_t session_id = 0;
  std::string item_id;
  std::string command;
  std::string cwd;
  bool tty = false;
  bool background = false;
  bool running = true;
  bool sandboxed = true;
  std::int64_t age_ms = 0;
};
struct terminal_list_result {
  std::vector<terminal_info> data;
};
struct terminal_read_result {
  std::string output;
  std::int64_t total_bytes = 0;
  std::optional<std::int64_t> from_byte;
  std::optional<std::int64_t> next_byte;
};
struct terminal_found_result {
  bool found = false;
};
struct terminal_clean_result {
  std::int64_t ended = 0;
};

struct tool_cancel_params {
  std::string thread_id;
  std::string call_id;
};

struct explain_params {
  std::optional<std::string> thread_id;
  std::optional<std::string> tool;
  std::optional<json_tree> arguments;
  std::optional<std::string> request_id;
};

struct approval_list_params {
  std::optional<std::string> thread_id;
};

enum class approval_kind : std::uint8_t { command, patch, network, permissions, write_stdin };

struct asked_because {
  ask_source source = ask_source::policy;
  std::optional<std::string> rule;
  std::optional<std::vector<std::string>> segment;
};

/// The question about one attempt of one call: `params` of the server's requests and an entry of
/// `approval/list`.
struct approval_request {
  std::string request_id;
  std::int64_t seq = 0;
  std::string thread_id;
  std::string turn_id;
  std::string item_id;
  approval_kind kind = approval_kind::command;
  std::int64_t attempt = 1;
  std::string environment_id;
  std::string command;
  std::vector<std::string> argv;
  std::string cwd;
  std::int64_t started_at_ms = 0;
  std::optional<std::int64_t> expires_at_ms;
  std::string reason;
  asked_because why;
  std::string justification;
  std::string will_be_allowed;
  bool without_sandbox = false;
  std::string action_digest;
  std::vector<std::string> write_targets;
  std::optional<std::string> network_target;
  std::optional<raw_json> additional_permissions;
  std::optional<raw_json> permissions;
  std::optional<std::vector<std::string>> proposed_execpolicy_amendment;
  std::vector<raw_json> available_decisions;
};

struct approval_list_result {
  std::vector<approval_request> data;
};

struct approval_resolve_params {
  std::string thread_id;
  std::string request_id;
  json_tree decision;
  std::string action_digest;
  std::optional<std::string> reason;
  std::optional<json_tree> permissions;
  std::optional<grant_scope> scope;
  std::optional<bool> strict_auto_review;
};

struct allow_refused_params {
  std::string thread_id;
  std::string action_digest;
};

/// The answer to a server's request for an approval.
struct approval_answer {
  std::optional<json_tree> decision;
  std::optional<std::string> reason;
  std::optional<json_tree> permissions;
  std::optional<grant_scope> scope;
  std::optional<bool> strict_auto_review;
};

struct profile_summary {
  std::string id;
  std::string about;
  raw_json profile;
};
struct profile_list_result {
  std::vector<profile_summary> data;
};

// Notifications ---------------------------------------------------------------------------------

struct status_changed {
  std::string thread_id;
  thread_status status;
};

struct turn_event {
  std::string thread_id;
  std::int64_t seq = 0;
  turn_info turn;
  std::optional<std::string> reason;
};

enum class item_status : std::uint8_t { in_progress, completed, failed, declined };

enum class update_type : std::uint8_t { add, remove, update };
struct update_kind {
  update_type type = update_type::update;
  std::optional<std::string> move_path;
};
struct file_update {
  std::string path;
  update_kind kind;
  std::string diff;
};

enum class item_type : std::uint8_t { command_execution, file_change };

struct command_item {
  item_type type = item_type::command_execution;
  std::string id;
  std::string tool;
  std::string command;
  std::string cwd;
  item_status status = item_status::in_progress;
  std::optional<std::vector<file_update>> changes;
  std::optional<std::string> aggregated_output;
  std::optional<bool> output_dropped;
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> duration_ms;
  std::optional<std::string> message;
  std::optional<raw_json> report;
};

struct item_event {
  std::string thread_id;
  std::string turn_id;
  std::int64_t seq = 0;
  command_item item;
  std::optional<std::int64_t> started_at_ms;
  std::optional<std::int64_t> completed_at_ms;
};

enum class stream_name : std::uint8_t { standard_output, standard_error };

struct output_delta {
  std::string thread_id;
  std::string turn_id;
  std::string item_id;
  std::int64_t seq = 0;
  std::int64_t attempt = 1;
  stream_name stream = stream_name::standard_output;
  std::string delta;
  std::optional<std::string> delta_base64;
};

struct terminal_interaction {
  std::string thread_id;
  std::string turn_id;
  std::string item_id;
  std::int64_t seq = 0;
  std::int64_t session_id = 0;
  std::string characters;
};

struct terminal_ended {
  std::string thread_id;
  std::string turn_id;
  std::string item_id;
  std::int64_t seq = 0;
  std::int64_t session_id = 0;
  std::optional<std::int64_t> exit_code;
  bool timed_out = false;
  bool sandbox_denied = false;
};

struct attempt_event {
  std::string thread_id;
  std::string turn_id;
  std::string item_id;
  std::int64_t seq = 0;
  std::int64_t attempt = 1;
  std::string sandbox_type;
  std::string network;
};

struct denial_event {
  std::string thread_id;
  std::string turn_id;
  std::string item_id;
  std::int64_t seq = 0;
  std::int64_t attempt = 1;
  std::string kind;
  std::string path;
  std::string host;
  std::string entry;
  std::string remedy;
};

struct connection_event {
  std::string thread_id;
  std::string turn_id;
  std::string item_id;
  std::int64_t seq = 0;
  std::int64_t attempt = 1;
  std::optional<std::string> host;
  std::optional<std::string> method;
  std::string reason;
  std::optional<std::string> rule;
  std::string message;
};

struct request_resolved {
  std::string thread_id;
  std::int64_t seq = 0;
  std::string request_id;
  std::string item_id;
  std::string decision;
  std::string reviewer;
  std::string reason;
  std::string action_digest;
};

struct missed_events {
  std::string thread_id;
  std::int64_t after_seq = 0;
  std::int64_t before_seq = 0;
};

struct settings_event {
  std::string thread_id;
  std::int64_t seq = 0;
  std::string cwd;
  std::vector<std::string> runtime_workspace_roots;
  raw_json approval_policy;
  std::string sandbox;
};

struct warning_event {
  std::string thread_id;
  std::int64_t seq = 0;
  std::string message;
};

} // namespace gatehouse::rpc::app
