#pragma once

#include "protocol/rpc/app_types.hpp"

// Words of the app dialect. Included by app_fields.hpp.
namespace gatehouse::rpc {

template <>
struct described_words<app::thread_state> {
  static constexpr std::string_view name = "ThreadState";
  static constexpr std::string_view about = "Idle, or a call runs or waits.";
  static constexpr std::array<std::string_view, 2> words{"idle", "active"};
};

template <>
struct described_words<app::active_flag> {
  static constexpr std::string_view name = "ActiveFlag";
  static constexpr std::string_view about = "Why a thread is active.";
  static constexpr std::array<std::string_view, 1> words{"waitingOnApproval"};
};

template <>
struct described_words<app::approval_kind> {
  static constexpr std::string_view name = "ApprovalKind";
  static constexpr std::string_view about =
      "What is asked for: a command, a patch, a host that a running command wants to reach, "
      "permissions for later commands, or input to a terminal session outside of the sandbox.";
  static constexpr std::array<std::string_view, 5> words{"command", "patch", "network",
                                                         "permissions", "writeStdin"};
};

template <>
struct described_words<ask_source> {
  static constexpr std::string_view name = "AskSource";
  static constexpr std::string_view about =
      "What made a question necessary: policy: the approval policy asks before a call like this "
      "one; rule: a prompt rule; danger: the list of dangerous commands; unmatched: no rule and no "
      "list knows the command; escalation: it asks to leave the sandbox; permissions: it asks for "
      "more permissions; patch: a patch, or where it writes; denial: the sandbox refused something "
      "to the attempt before; network: a host that nothing allows; stdin: input to a process "
      "outside of the sandbox; strictReview: every call is reviewed.";
  static constexpr std::array<std::string_view, 11> words{
      "policy", "rule",   "danger",  "unmatched", "escalation",  "permissions",
      "patch",  "denial", "network", "stdin",     "strictReview"};
};

template <>
struct described_words<app::update_type> {
  static constexpr std::string_view name = "UpdateType";
  static constexpr std::string_view about = "What happens to a file.";
  static constexpr std::array<std::string_view, 3> words{"add", "delete", "update"};
};

template <>
struct described_words<app::item_type> {
  static constexpr std::string_view name = "ItemType";
  static constexpr std::string_view about =
      "A command, input to one or a request for permissions; or a patch.";
  static constexpr std::array<std::string_view, 2> words{"commandExecution", "fileChange"};
};

template <>
struct described_words<grant_scope> {
  static constexpr std::string_view name = "GrantScope";
  static constexpr std::string_view about = "How long permissions last.";
  static constexpr std::array<std::string_view, 2> words{"turn", "session"};
};

template <>
struct described_words<app::grant_kind> {
  static constexpr std::string_view name = "GrantKind";
  static constexpr std::string_view about = "What is taken back.";
  static constexpr std::array<std::string_view, 3> words{"grant", "approval", "host"};
};

template <>
struct described_words<app::turn_state> {
  static constexpr std::string_view name = "TurnState";
  static constexpr std::string_view about = "How a turn stands.";
  static constexpr std::array<std::string_view, 3> words{"inProgress", "completed", "interrupted"};
};

template <>
struct described_words<app::call_status> {
  static constexpr std::string_view name = "CallStatus";
  static constexpr std::string_view about =
      "completed: the command ran and ended by itself, whatever its exit code; failed: nothing "
      "could be run, or a signal ended it; declined: a reviewer said no; rejected: policy, hook or "
      "handler refused.";
  static constexpr std::array<std::string_view, 6> words{"completed", "failed",   "declined",
                                                         "rejected",  "timedOut", "interrupted"};
};

template <>
struct described_words<decision> {
  static constexpr std::string_view name = "Decision";
  static constexpr std::string_view about =
      "What policy said before anybody was asked: it may run, somebody must be asked, it may not.";
  static constexpr std::array<std::string_view, 3> words{"allow", "prompt", "forbidden"};
};

template <>
struct described_words<app::output_mode> {
  static constexpr std::string_view name = "OutputMode";
  static constexpr std::string_view about =
      "What becomes of output while the client reads too slowly: lossy: the oldest is left out and "
      "thread/events/missed says so; lossless: the command waits.";
  static constexpr std::array<std::string_view, 2> words{"lossy", "lossless"};
};

template <>
struct described_words<app::item_status> {
  static constexpr std::string_view name = "ItemStatus";
  static constexpr std::string_view about = "How an item stands; the call's result says more.";
  static constexpr std::array<std::string_view, 4> words{"inProgress", "completed", "failed",
                                                         "declined"};
};

template <>
struct described_words<app::stream_name> {
  static constexpr std::string_view name = "StreamName";
  static constexpr std::string_view about = "Which stream.";
  static constexpr std::array<std::string_view, 2> words{"stdout", "stderr"};
};

} // namespace gatehouse::rpc
