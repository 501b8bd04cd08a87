#pragma once

#include "protocol/rpc/app_words.hpp"

// Notifications of the app dialect. Included by app_fields.hpp.
namespace gatehouse::rpc {

template <>
struct described<app::status_changed> {
  static constexpr std::string_view name = "StatusChanged";
  static constexpr std::string_view about =
      "A thread became idle or active, or waits for an approval.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::status_changed::thread_id, "");
    v.field("status", &app::status_changed::status, "");
  }
};

template <>
struct described<app::turn_event> {
  static constexpr std::string_view name = "TurnEvent";
  static constexpr std::string_view about = "A turn started or ended.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::turn_event::thread_id, "");
    v.field("seq", &app::turn_event::seq, "counts every event of the thread from 1 without a gap");
    v.field("turn", &app::turn_event::turn, "");
    v.field("reason", &app::turn_event::reason, "why it was interrupted");
  }
};

template <>
struct described<app::update_kind> {
  static constexpr std::string_view name = "UpdateKind";
  static constexpr std::string_view about = "What happens to a file.";
  template <class V>
  static void fields(V& v) {
    v.field("type", &app::update_kind::type, "");
    v.field("move_path", &app::update_kind::move_path, "of `update`: the file's new place");
  }
};

template <>
struct described<app::file_update> {
  static constexpr std::string_view name = "FileUpdate";
  static constexpr std::string_view about = "One file of a patch.";
  template <class V>
  static void fields(V& v) {
    v.field("path", &app::file_update::path, "absolute, links not followed");
    v.field("kind", &app::file_update::kind, "");
    v.field("diff", &app::file_update::diff,
            "of `update` the chunks as the patch spells them, of `add` the new file");
  }
};

template <>
struct described<app::command_item> {
  static constexpr std::string_view name = "CommandItem";
  static constexpr std::string_view about = "A call as an item of its thread.";
  template <class V>
  static void fields(V& v) {
    v.field("type", &app::command_item::type, "the same from start to end");
    v.field("id", &app::command_item::id, "");
    v.field("tool", &app::command_item::tool, "");
    v.field("command", &app::command_item::command, "as people read it");
    v.field("cwd", &app::command_item::cwd, "");
    v.field("status", &app::command_item::status, "");
    v.field("changes", &app::command_item::changes, "of `fileChange`: what the patch says");
    v.field("aggregatedOutput", &app::command_item::aggregated_output, "");
    v.field("outputDropped", &app::command_item::output_dropped,
            "true: the event comes again, and the output was left out since it is no longer kept");
    v.field("exitCode", &app::command_item::exit_code, "");
    v.field("durationMs", &app::command_item::duration_ms, "");
    v.field("message", &app::command_item::message, "");
    v.field("report", &app::command_item::report, "the document of `gatehouse run --json`");
  }
};

template <>
struct described<app::item_event> {
  static constexpr std::string_view name = "ItemEvent";
  static constexpr std::string_view about =
      "An item started or ended; every call has both, also a refused one.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::item_event::thread_id, "");
    v.field("turnId", &app::item_event::turn_id, "");
    v.field("seq", &app::item_event::seq, "counts every event of the thread from 1 without a gap");
    v.field("item", &app::item_event::item, "");
    v.field("startedAtMs", &app::item_event::started_at_ms, "of item/started");
    v.field("completedAtMs", &app::item_event::completed_at_ms, "of item/completed");
  }
};

template <>
struct described<app::output_delta> {
  static constexpr std::string_view name = "OutputDelta";
  static constexpr std::string_view about =
      "Output as it came. At most 10,000 for one call; the item at its end is the truth.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::output_delta::thread_id, "");
    v.field("turnId", &app::output_delta::turn_id, "");
    v.field("itemId", &app::output_delta::item_id, "id of the call");
    v.field("seq", &app::output_delta::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("attempt", &app::output_delta::attempt, "1 or 2");
    v.field("stream", &app::output_delta::stream, "");
    v.field("delta", &app::output_delta::delta,
            "as text; bytes that are no UTF-8 appear as U+FFFD");
    v.field("deltaBase64", &app::output_delta::delta_base64, "the bytes, where they are no UTF-8");
  }
};

template <>
struct described<app::terminal_interaction> {
  static constexpr std::string_view name = "TerminalInteraction";
  static constexpr std::string_view about =
      "write_stdin wrote to a session, or polled it while it lived.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::terminal_interaction::thread_id, "");
    v.field("turnId", &app::terminal_interaction::turn_id, "");
    v.field("itemId", &app::terminal_interaction::item_id, "id of the call that started it");
    v.field("seq", &app::terminal_interaction::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("sessionId", &app::terminal_interaction::session_id, "");
    v.field("stdin", &app::terminal_interaction::characters, "what was written; empty: a poll");
  }
};

template <>
struct described<app::terminal_ended> {
  static constexpr std::string_view name = "TerminalEnded";
  static constexpr std::string_view about =
      "The process of a session that had outlived its call has ended.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::terminal_ended::thread_id, "");
    v.field("turnId", &app::terminal_ended::turn_id, "");
    v.field("itemId", &app::terminal_ended::item_id, "id of the call that started it");
    v.field("seq", &app::terminal_ended::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("sessionId", &app::terminal_ended::session_id, "");
    v.field("exitCode", &app::terminal_ended::exit_code,
            "124 after a time-out, 128+n after a signal");
    v.field("timedOut", &app::terminal_ended::timed_out, "");
    v.field("sandboxDenied", &app::terminal_ended::sandbox_denied,
            "the boundary refused something");
  }
};

template <>
struct described<app::attempt_event> {
  static constexpr std::string_view name = "AttemptEvent";
  static constexpr std::string_view about = "An attempt began; a call has at most two.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::attempt_event::thread_id, "");
    v.field("turnId", &app::attempt_event::turn_id, "");
    v.field("itemId", &app::attempt_event::item_id, "id of the call");
    v.field("seq", &app::attempt_event::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("attempt", &app::attempt_event::attempt, "1 or 2");
    v.field("sandboxType", &app::attempt_event::sandbox_type,
            "of the last attempt: none, linux, landlock");
    v.field("network", &app::attempt_event::network, "full, isolated or proxy_only");
  }
};

template <>
struct described<app::denial_event> {
  static constexpr std::string_view name = "DenialEvent";
  static constexpr std::string_view about =
      "The boundary refused something that the attempt needed.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::denial_event::thread_id, "");
    v.field("turnId", &app::denial_event::turn_id, "");
    v.field("itemId", &app::denial_event::item_id, "id of the call");
    v.field("seq", &app::denial_event::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("attempt", &app::denial_event::attempt, "1 or 2");
    v.field("kind", &app::denial_event::kind, "");
    v.field("path", &app::denial_event::path, "");
    v.field("host", &app::denial_event::host, "");
    v.field("entry", &app::denial_event::entry, "the profile entry that refused it");
    v.field("remedy", &app::denial_event::remedy, "which request would allow it");
  }
};

template <>
struct described<app::connection_event> {
  static constexpr std::string_view name = "ConnectionEvent";
  static constexpr std::string_view about =
      "The managed network refused a connection, at the moment when it did. Of one command the "
      "first 200 are told.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::connection_event::thread_id, "");
    v.field("turnId", &app::connection_event::turn_id, "");
    v.field("itemId", &app::connection_event::item_id, "id of the call");
    v.field("seq", &app::connection_event::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("attempt", &app::connection_event::attempt, "1 or 2");
    v.field("host", &app::connection_event::host,
            "protocol, name and port; absent: none could be read");
    v.field("method", &app::connection_event::method, "of a plain HTTP request");
    v.field("reason", &app::connection_event::reason, "not_listed, denied_by_rule, ...");
    v.field("rule", &app::connection_event::rule, "the rule that decided, as it was written");
    v.field("message", &app::connection_event::message, "what the command was told");
  }
};

template <>
struct described<app::request_resolved> {
  static constexpr std::string_view name = "RequestResolved";
  static constexpr std::string_view about =
      "A question is answered or withdrawn; late answers are ignored.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::request_resolved::thread_id, "");
    v.field("seq", &app::request_resolved::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("requestId", &app::request_resolved::request_id,
            "id of the question; the same after a reconnect");
    v.field("itemId", &app::request_resolved::item_id, "id of the call");
    v.field("decision", &app::request_resolved::decision, "");
    v.field("reviewer", &app::request_resolved::reviewer,
            "who answered: hook, guardian, user, none");
    v.field("reason", &app::request_resolved::reason, "");
    v.field("actionDigest", &app::request_resolved::action_digest, "of the question");
  }
};

template <>
struct described<app::missed_events> {
  static constexpr std::string_view name = "MissedEvents";
  static constexpr std::string_view about =
      "Events that a slow or absent client missed and that are no longer kept: pieces of output "
      "first, which item/completed says again as a whole. thread/read tells what is so now.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::missed_events::thread_id, "");
    v.field("afterSeq", &app::missed_events::after_seq, "the newest that was sent before");
    v.field("beforeSeq", &app::missed_events::before_seq, "the next that is sent");
  }
};

template <>
struct described<app::settings_event> {
  static constexpr std::string_view name = "SettingsEvent";
  static constexpr std::string_view about =
      "From here on the calls of the thread are judged and run under these settings. What was "
      "granted or approved for the turn or the session has ended.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::settings_event::thread_id, "");
    v.field("seq", &app::settings_event::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("cwd", &app::settings_event::cwd, "");
    v.field("runtimeWorkspaceRoots", &app::settings_event::runtime_workspace_roots, "");
    v.field("approvalPolicy", &app::settings_event::approval_policy, "");
    v.field("sandbox", &app::settings_event::sandbox,
            "name of the profile, `custom` for an object");
  }
};

template <>
struct described<app::warning_event> {
  static constexpr std::string_view name = "WarningEvent";
  static constexpr std::string_view about = "For the user; it changes nothing.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::warning_event::thread_id, "");
    v.field("seq", &app::warning_event::seq,
            "counts every event of the thread from 1 without a gap");
    v.field("message", &app::warning_event::message, "");
  }
};

} // namespace gatehouse::rpc
