#pragma once

#include "protocol/rpc/app_fields.hpp"
#include "protocol/rpc/envelope.hpp"

#include <string>
#include <string_view>
#include <tuple>

/// The methods of the app dialect, each once: dispatch, the published schema and docs/protocol.md
/// follow this list.
namespace gatehouse::rpc::app {

/// Who may call a method (§D13).
enum class caller : std::uint8_t { anyone, agent, reviewer };

namespace methods {

struct initialize {
  static constexpr std::string_view name = "initialize";
  static constexpr std::string_view about =
      "The first request. With `resumeSessionId` the session of a lost connection goes on: its "
      "subscriptions stand, and the questions that stand are asked again under their ids.";
  static constexpr caller who = caller::anyone;
  using params = initialize_params;
  using result = initialize_result;
};
struct thread_start {
  static constexpr std::string_view name = "thread/start";
  static constexpr std::string_view about =
      "Opens a thread and subscribes to it. It lives until thread/close or the end of the daemon.";
  static constexpr caller who = caller::anyone;
  using params = thread_start_params;
  using result = thread_result;
};
struct thread_resume {
  static constexpr std::string_view name = "thread/resume";
  static constexpr std::string_view about =
      "Subscribes to a thread: missed events come first, then the questions that stand.";
  static constexpr caller who = caller::anyone;
  using params = thread_resume_params;
  using result = thread_result;
};
struct settings_update {
  static constexpr std::string_view name = "thread/settings/update";
  static constexpr std::string_view about =
      "Changes folder, workspace, approval policy or profile for the calls that are still to come; "
      "what runs, and what is being asked, is not touched. Grants, approvals and hosts for the "
      "turn "
      "or the session end. It is recorded, and everyone who follows the thread hears it.";
  static constexpr caller who = caller::reviewer;
  using params = settings_update_params;
  using result = thread_result;
};
struct thread_unsubscribe {
  static constexpr std::string_view name = "thread/unsubscribe";
  static constexpr std::string_view about = "Ends the subscription; the thread goes on.";
  static constexpr caller who = caller::anyone;
  using params = thread_params;
  using result = nothing;
};
struct thread_read {
  static constexpr std::string_view name = "thread/read";
  static constexpr std::string_view about =
      "What runs in a thread, and what was granted or approved for its session.";
  static constexpr caller who = caller::anyone;
  using params = thread_params;
  using result = thread_read_result;
};
struct thread_list {
  static constexpr std::string_view name = "thread/loaded/list";
  static constexpr std::string_view about =
      "The threads: for an agent those of its session, for a reviewer all.";
  static constexpr caller who = caller::anyone;
  using params = nothing;
  using result = thread_list_result;
};
struct thread_close {
  static constexpr std::string_view name = "thread/close";
  static constexpr std::string_view about =
      "Ends a thread with all its calls, questions, grants and approvals. Everyone who follows it "
      "hears thread/closed after its last event.";
  static constexpr caller who = caller::anyone;
  using params = thread_params;
  using result = nothing;
};
struct turn_start {
  static constexpr std::string_view name = "turn/start";
  static constexpr std::string_view about =
      "Opens a turn. A tool call without a turn opens one, too. After a turn was stopped by a "
      "reviewer (a decision `cancel`, turn/interrupt) only a reviewer's turn/start opens the next.";
  static constexpr caller who = caller::anyone;
  using params = turn_start_params;
  using result = turn_result;
};
struct turn_complete {
  static constexpr std::string_view name = "turn/complete";
  static constexpr std::string_view about = "Ends the turn; grants of turn scope end with it.";
  static constexpr caller who = caller::anyone;
  using params = turn_params;
  using result = nothing;
};
struct turn_interrupt {
  static constexpr std::string_view name = "turn/interrupt";
  static constexpr std::string_view about =
      "Stops the turn: its calls are ended, its questions withdrawn. From a reviewer it is the "
      "user's stop, also between turns: calls are refused until a reviewer's turn/start. Terminal "
      "sessions that have outlived their calls go on (§127), unless `keepRunning` says otherwise.";
  static constexpr caller who = caller::anyone;
  using params = turn_interrupt_params;
  using result = nothing;
};
struct tool_call {
  static constexpr std::string_view name = "tool/call";
  static constexpr std::string_view about =
      "Proposes a call; the answer comes at its end. Many may be under way at once.";
  static constexpr caller who = caller::agent;
  using params = tool_call_params;
  using result = tool_call_result;
};
struct tool_cancel {
  static constexpr std::string_view name = "tool/cancel";
  static constexpr std::string_view about = "Ends a call; its result still comes.";
  static constexpr caller who = caller::anyone;
  using params = tool_cancel_params;
  using result = nothing;
};
struct command_exec {
  static constexpr std::string_view name = "command/exec";
  static constexpr std::string_view about =
      "Runs a command of a client's own as a call of a thread: the same judges, approvals, "
      "sandbox, "
      "audit and events as `tool/call`. The answer comes at its end. It ends with its connection, "
      "unless it is `detachable`.";
  static constexpr caller who = caller::agent;
  using params = command_exec_params;
  using result = command_exec_result;
};
struct command_write {
  static constexpr std::string_view name = "command/exec/write";
  static constexpr std::string_view about =
      "Types into the terminal of a command of this client. It is a call of the thread, like "
      "write_stdin.";
  static constexpr caller who = caller::agent;
  using params = command_write_params;
  using result = command_write_result;
};
struct command_resize {
  static constexpr std::string_view name = "command/exec/resize";
  static constexpr std::string_view about = "Sets the size of the terminal of a command.";
  static constexpr caller who = caller::agent;
  using params = command_resize_params;
  using result = nothing;
};
struct command_terminate {
  static constexpr std::string_view name = "command/exec/terminate";
  static constexpr std::string_view about =
      "Ends a command of this client; its result still comes.";
  static constexpr caller who = caller::agent;
  using params = command_params;
  using result = nothing;
};
struct read_file {
  static constexpr std::string_view name = "fs/readFile";
  static constexpr std::string_view about =
      "Reads a file inside the boundary of a thread. All of fs/* happens there, as commands do: "
      "what "
      "the profile denies cannot be read, and what it protects cannot be written. A thread without "
      "a boundary is refused. A missing file is -32004, one above 11 MiB `tooLarge`.";
  static constexpr caller who = caller::anyone;
  using params = file_params;
  using result = read_file_result;
};
struct write_file {
  static constexpr std::string_view name = "fs/writeFile";
  static constexpr std::string_view about =
      "Writes a file. Whatever changes files is judged before as a patch of that path is, and "
      "refused (`refused`) where a reviewer would have to be asked: nobody is asked here. It is "
      "recorded before it happens.";
  static constexpr caller who = caller::anyone;
  using params = write_file_params;
  using result = nothing;
};
struct create_directory {
  static constexpr std::string_view name = "fs/createDirectory";
  static constexpr std::string_view about = "Makes a folder; judged as fs/writeFile is.";
  static constexpr caller who = caller::anyone;
  using params = create_directory_params;
  using result = nothing;
};
struct get_metadata {
  static constexpr std::string_view name = "fs/getMetadata";
  static constexpr std::string_view about = "What stands at a path. Nothing is -32004.";
  static constexpr caller who = caller::anyone;
  using params = file_params;
  using result = metadata_result;
};
struct read_directory {
  static constexpr std::string_view name = "fs/readDirectory";
  static constexpr std::string_view about = "The names in a folder.";
  static constexpr caller who = caller::anyone;
  using params = file_params;
  using result = read_directory_result;
};
struct remove {
  static constexpr std::string_view name = "fs/remove";
  static constexpr std::string_view about =
      "Removes a file or an empty folder, or with `recursive` all of a folder; judged as "
      "fs/writeFile is.";
  static constexpr caller who = caller::anyone;
  using params = remove_params;
  using result = nothing;
};
struct copy {
  static constexpr std::string_view name = "fs/copy";
  static constexpr std::string_view about =
      "Copies a file or folder; what is there is written over, links are copied as links. The "
      "destination is judged as by fs/writeFile.";
  static constexpr caller who = caller::anyone;
  using params = copy_params;
  using result = nothing;
};
struct terminals_list {
  static constexpr std::string_view name = "thread/backgroundTerminals/list";
  static constexpr std::string_view about = "The terminal sessions of a thread (§127).";
  static constexpr caller who = caller::anyone;
  using params = thread_params;
  using result = terminal_list_result;
};
struct terminals_read {
  static constexpr std::string_view name = "thread/backgroundTerminals/read";
  static constexpr std::string_view about =
      "What is kept of all the output of a session; it takes nothing from the polls.";
  static constexpr caller who = caller::anyone;
  using params = terminal_read_params;
  using result = terminal_read_result;
};
struct terminals_write {
  static constexpr std::string_view name = "thread/backgroundTerminals/write";
  static constexpr std::string_view about =
      "Types into the terminal of a session: a person's own input, so that nobody is asked. It is "
      "recorded before it happens, by its length; agents use write_stdin.";
  static constexpr caller who = caller::reviewer;
  using params = terminal_write_params;
  using result = nothing;
};
struct terminals_signal {
  static constexpr std::string_view name = "thread/backgroundTerminals/signal";
  static constexpr std::string_view about = "Sends a signal to the process group of a session.";
  static constexpr caller who = caller::anyone;
  using params = terminal_signal_params;
  using result = terminal_found_result;
};
struct terminals_resize {
  static constexpr std::string_view name = "thread/backgroundTerminals/resize";
  static constexpr std::string_view about = "Sets the size of a terminal.";
  static constexpr caller who = caller::anyone;
  using params = terminal_resize_params;
  using result = terminal_found_result;
};
struct terminals_terminate {
  static constexpr std::string_view name = "thread/backgroundTerminals/terminate";
  static constexpr std::string_view about =
      "Ends a session; the answer comes when nothing is left of it.";
  static constexpr caller who = caller::anyone;
  using params = terminal_params;
  using result = terminal_found_result;
};
struct terminals_clean {
  static constexpr std::string_view name = "thread/backgroundTerminals/clean";
  static constexpr std::string_view about = "Ends every session that has outlived its call.";
  static constexpr caller who = caller::anyone;
  using params = thread_params;
  using result = terminal_clean_result;
};
struct policy_explain {
  static constexpr std::string_view name = "policy/explain";
  static constexpr std::string_view about =
      "The whole decision about a call: segments, judges, requirement, sandbox (§133a). Nothing "
      "runs.";
  static constexpr caller who = caller::anyone;
  using params = explain_params;
  using result = raw_json;
};
struct approval_list {
  static constexpr std::string_view name = "approval/list";
  static constexpr std::string_view about = "The questions that stand.";
  static constexpr caller who = caller::reviewer;
  using params = approval_list_params;
  using result = approval_list_result;
};
struct approval_resolve {
  static constexpr std::string_view name = "approval/resolve";
  static constexpr std::string_view about =
      "Answers a question. The first valid answer counts; one with another digest, for a question "
      "that no longer stands, or with a decision that was not on offer is an error.";
  static constexpr caller who = caller::reviewer;
  using params = approval_resolve_params;
  using result = nothing;
};
struct approval_allow_refused {
  static constexpr std::string_view name = "approval/allowRefused";
  static constexpr std::string_view about =
      "Lets an action pass that the automatic reviewer has just refused: exactly this one, once, "
      "when the agent asks for it again. An action that it did not refuse is an error.";
  static constexpr caller who = caller::reviewer;
  using params = allow_refused_params;
  using result = nothing;
};
struct grant_revoke {
  static constexpr std::string_view name = "grant/revoke";
  static constexpr std::string_view about =
      "Takes back a grant or an approval for the session. What runs already is not touched.";
  static constexpr caller who = caller::reviewer;
  using params = revoke_params;
  using result = revoke_result;
};
struct profile_list {
  static constexpr std::string_view name = "permissionProfile/list";
  static constexpr std::string_view about = "The permission profiles that can be named.";
  static constexpr caller who = caller::anyone;
  using params = nothing;
  using result = profile_list_result;
};

} // namespace methods

using method_list =
    std::tuple<methods::initialize, methods::thread_start, methods::thread_resume,
               methods::settings_update, methods::thread_unsubscribe, methods::thread_read,
               methods::thread_list, methods::thread_close, methods::turn_start,
               methods::turn_complete, methods::turn_interrupt, methods::tool_call,
               methods::tool_cancel, methods::command_exec, methods::command_write,
               methods::command_resize, methods::command_terminate, methods::read_file,
               methods::write_file, methods::create_directory, methods::get_metadata,
               methods::read_directory, methods::remove, methods::copy, methods::terminals_list,
               methods::terminals_read, methods::terminals_write, methods::terminals_signal,
               methods::terminals_resize, methods::terminals_terminate, methods::terminals_clean,
               methods::policy_explain, methods::approval_list, methods::approval_resolve,
               methods::approval_allow_refused, methods::grant_revoke, methods::profile_list>;

/// The requests of the server: questions to reviewers, by what they are about.
namespace server_requests {

struct approval {
  using params = approval_request;
  using result = approval_answer;
};
struct command_approval : approval {
  static constexpr std::string_view name = "item/commandExecution/requestApproval";
  static constexpr std::string_view about =
      "A question about a command, a host that it wants to reach, or input to a terminal session. "
      "Sent to every connected reviewer under the same id; the first valid answer counts.";
};
struct patch_approval : approval {
  static constexpr std::string_view name = "item/fileChange/requestApproval";
  static constexpr std::string_view about = "The same about a patch (`kind` patch).";
};
struct permissions_approval : approval {
  static constexpr std::string_view name = "item/permissions/requestApproval";
  static constexpr std::string_view about =
      "The same about permissions for later commands (`kind` permissions).";
};

} // namespace server_requests

using server_request_list =
    std::tuple<server_requests::command_approval, server_requests::patch_approval,
               server_requests::permissions_approval>;

constexpr std::string_view request_name(approval_kind kind) noexcept {
  switch (kind) {
  case approval_kind::patch: return server_requests::patch_approval::name;
  case approval_kind::permissions: return server_requests::permissions_approval::name;
  case approval_kind::command:
  case approval_kind::network:
  case approval_kind::write_stdin: break;
  }
  return server_requests::command_approval::name;
}

/// Is this one of the server's requests?
constexpr bool asks_approval(std::string_view method) noexcept {
  return std::apply([&](auto... request) { return ((method == request.name) || ...); },
                    server_request_list{});
}

namespace notifications {

template <class Params>
struct notification {
  using params = Params;
};
struct thread_status_changed : notification<status_changed> {
  static constexpr std::string_view name = "thread/status/changed";
};
struct thread_closed : notification<thread_params> {
  static constexpr std::string_view name = "thread/closed";
};
struct turn_started : notification<turn_event> {
  static constexpr std::string_view name = "turn/started";
};
struct turn_completed : notification<turn_event> {
  static constexpr std::string_view name = "turn/completed";
};
struct item_started : notification<item_event> {
  static constexpr std::string_view name = "item/started";
};
struct item_completed : notification<item_event> {
  static constexpr std::string_view name = "item/completed";
};
struct attempt_started : notification<attempt_event> {
  static constexpr std::string_view name = "item/attempt/started";
};
struct attempt_denied : notification<denial_event> {
  static constexpr std::string_view name = "item/attempt/denied";
};
struct connection_blocked : notification<connection_event> {
  static constexpr std::string_view name = "item/network/blocked";
};
struct output : notification<app::output_delta> {
  static constexpr std::string_view name = "item/commandExecution/outputDelta";
};
struct command_output : notification<app::command_output> {
  static constexpr std::string_view name = "command/exec/outputDelta";
};
struct terminal_interaction : notification<app::terminal_interaction> {
  static constexpr std::string_view name = "item/commandExecution/terminalInteraction";
};
struct terminal_ended : notification<app::terminal_ended> {
  static constexpr std::string_view name = "item/commandExecution/terminalEnded";
};
struct resolved : notification<request_resolved> {
  static constexpr std::string_view name = "serverRequest/resolved";
};
struct events_missed : notification<missed_events> {
  static constexpr std::string_view name = "thread/events/missed";
};
struct settings_updated : notification<settings_event> {
  static constexpr std::string_view name = "thread/settings/updated";
};
struct warning : notification<warning_event> {
  static constexpr std::string_view name = "warning";
};

} // namespace notifications

using notification_list = std::tuple<
    notifications::thread_status_changed, notifications::thread_closed, notifications::turn_started,
    notifications::turn_completed, notifications::item_started, notifications::item_completed,
    notifications::attempt_started, notifications::attempt_denied,
    notifications::connection_blocked, notifications::output, notifications::command_output,
    notifications::terminal_interaction, notifications::terminal_ended, notifications::resolved,
    notifications::events_missed, notifications::settings_updated, notifications::warning>;

/// Calls `handle(Method{}, params)` for the method of `request`. False when there is no such
/// method. Parameters that cannot be read: `refuse(failure)`.
template <class Handle, class Refuse>
bool dispatch(const message& request, Handle&& handle, Refuse&& refuse) {
  const auto try_one = [&]<class Method>(Method method) {
    if (request.method() != Method::name) return false;
    auto params = codec<typename Method::params>::decode(request.params());
    if (params)
      handle(method, *std::move(params));
    else
      refuse(invalid_params(params.error()));
    return true;
  };
  return std::apply([&](auto... method) { return (try_one(method) || ...); }, method_list{});
}

} // namespace gatehouse::rpc::app
