#pragma once

#include "protocol/rpc/app_words.hpp"

// Tool calls and terminal sessions of the app dialect. Included by app_fields.hpp.
namespace gatehouse::rpc {

template <>
struct described<app::tool_call_params> {
  static constexpr std::string_view name = "ToolCallParams";
  static constexpr std::string_view about =
      "A tool call that an agent proposes. It carries no authority.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::tool_call_params::thread_id, "");
    v.field("turnId", &app::tool_call_params::turn_id, "");
    v.field("callId", &app::tool_call_params::call_id,
            "of the agent's choice, never used twice in a thread; the same id again answers with "
            "the same call");
    v.field("tool", &app::tool_call_params::tool, "");
    v.field("arguments", &app::tool_call_params::arguments, "of the tool");
    v.field("timeoutMs", &app::tool_call_params::timeout_ms,
            "a limit of the client's: it shortens the time of a command or patch, or the wait of "
            "exec_command and write_stdin, and never lengthens it; not for request_permissions");
  }
};

template <>
struct described<app::tool_call_result> {
  static constexpr std::string_view name = "ToolCallResult";
  static constexpr std::string_view about =
      "How a call ended. A refusal is a result, not an error.";
  template <class V>
  static void fields(V& v) {
    v.field("callId", &app::tool_call_result::call_id, "");
    v.field("status", &app::tool_call_result::status, "");
    v.field("exitCode", &app::tool_call_result::exit_code, "");
    v.field("output", &app::tool_call_result::output,
            "both streams in the order of arrival, as text");
    v.field("outputTruncated", &app::tool_call_result::output_truncated,
            "`output` is not all of it");
    v.field("outputOmittedBytes", &app::tool_call_result::output_omitted_bytes,
            "not kept in `output`");
    v.field("outputDropped", &app::tool_call_result::output_dropped,
            "true: the call ended before, this is how, and its output is no longer kept. Asking "
            "under another id would run it a second time");
    v.field("sandboxType", &app::tool_call_result::sandbox_type,
            "of the last attempt: none, linux, landlock");
    v.field("sandboxDenied", &app::tool_call_result::sandbox_denied,
            "the boundary refused something");
    v.field("decision", &app::tool_call_result::decision,
            "of policy, before anybody was asked; left out where it was not asked");
    v.field("message", &app::tool_call_result::message,
            "to the model: why it was refused or denied and the safer path");
    v.field("sessionId", &app::tool_call_result::session_id,
            "exec_command and write_stdin: the terminal session that goes on, for write_stdin");
    v.field("report", &app::tool_call_result::report, "the document of `gatehouse run --json`");
  }
};

template <>
struct described<app::terminal_params> {
  static constexpr std::string_view name = "TerminalParams";
  static constexpr std::string_view about = "Names a terminal session of a thread.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::terminal_params::thread_id, "");
    v.field("sessionId", &app::terminal_params::session_id, "");
  }
};

template <>
struct described<app::terminal_read_params> {
  static constexpr std::string_view name = "TerminalReadParams";
  static constexpr std::string_view about = "Which output of a terminal session to read.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::terminal_read_params::thread_id, "");
    v.field("sessionId", &app::terminal_read_params::session_id, "");
    v.field("afterByte", &app::terminal_read_params::after_byte,
            "only what came after so many bytes, without a gap; left out: beginning and end");
  }
};

template <>
struct described<app::terminal_write_params> {
  static constexpr std::string_view name = "TerminalWriteParams";
  static constexpr std::string_view about = "What a person types into a terminal session.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::terminal_write_params::thread_id, "");
    v.field("sessionId", &app::terminal_write_params::session_id, "");
    v.field("text", &app::terminal_write_params::text, "1 to 65536 bytes of UTF-8 without NUL");
  }
};

template <>
struct described<app::terminal_signal_params> {
  static constexpr std::string_view name = "TerminalSignalParams";
  static constexpr std::string_view about = "A signal for the process group of a session.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::terminal_signal_params::thread_id, "");
    v.field("sessionId", &app::terminal_signal_params::session_id, "");
    v.field("signal", &app::terminal_signal_params::signal,
            "its number: 1 (HUP), 2 (INT), 3 (QUIT), 9 (KILL), 10 (USR1), 12 (USR2), 15 (TERM), 18 "
            "(CONT) or 28 (WINCH)");
  }
};

template <>
struct described<app::terminal_resize_params> {
  static constexpr std::string_view name = "TerminalResizeParams";
  static constexpr std::string_view about = "The new size of a terminal.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::terminal_resize_params::thread_id, "");
    v.field("sessionId", &app::terminal_resize_params::session_id, "");
    v.field("rows", &app::terminal_resize_params::rows, "1 to 1000");
    v.field("columns", &app::terminal_resize_params::columns, "1 to 1000");
  }
};

template <>
struct described<app::terminal_info> {
  static constexpr std::string_view name = "TerminalInfo";
  static constexpr std::string_view about = "A terminal session.";
  template <class V>
  static void fields(V& v) {
    v.field("sessionId", &app::terminal_info::session_id, "");
    v.field("itemId", &app::terminal_info::item_id, "id of the call that started it");
    v.field("command", &app::terminal_info::command, "as people read it");
    v.field("cwd", &app::terminal_info::cwd, "");
    v.field("tty", &app::terminal_info::tty, "has a terminal, else pipes");
    v.field("background", &app::terminal_info::background, "has outlived its call");
    v.field("running", &app::terminal_info::running, "false: ended, and no poll has seen it");
    v.field("sandboxed", &app::terminal_info::sandboxed, "");
    v.field("ageMs", &app::terminal_info::age_ms, "");
  }
};

template <>
struct described<app::terminal_list_result> {
  static constexpr std::string_view name = "TerminalListResult";
  static constexpr std::string_view about = "The terminal sessions of a thread.";
  template <class V>
  static void fields(V& v) {
    v.field("data", &app::terminal_list_result::data, "");
  }
};

template <>
struct described<app::terminal_read_result> {
  static constexpr std::string_view name = "TerminalReadResult";
  static constexpr std::string_view about =
      "What is kept of all the output of a session; reading it is no poll.";
  template <class V>
  static void fields(V& v) {
    v.field("output", &app::terminal_read_result::output,
            "beginning and end, with a line about what is missing between them; with `afterByte` "
            "what stands from `fromByte` to `nextByte`");
    v.field("totalBytes", &app::terminal_read_result::total_bytes, "as they came");
    v.field("fromByte", &app::terminal_read_result::from_byte,
            "with `afterByte`: that number, or a later one where the bytes between are no longer "
            "kept");
    v.field(
        "nextByte", &app::terminal_read_result::next_byte,
        "with `afterByte`: the next `afterByte`; a character that is not complete waits for it");
  }
};

template <>
struct described<app::terminal_found_result> {
  static constexpr std::string_view name = "TerminalFoundResult";
  static constexpr std::string_view about = "Whether there was such a session.";
  template <class V>
  static void fields(V& v) {
    v.field("found", &app::terminal_found_result::found, "");
  }
};

template <>
struct described<app::terminal_clean_result> {
  static constexpr std::string_view name = "TerminalCleanResult";
  static constexpr std::string_view about = "How many sessions are being ended.";
  template <class V>
  static void fields(V& v) {
    v.field("ended", &app::terminal_clean_result::ended, "");
  }
};

template <>
struct described<app::tool_cancel_params> {
  static constexpr std::string_view name = "ToolCancelParams";
  static constexpr std::string_view about = "Ends a call; its result still comes.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::tool_cancel_params::thread_id, "");
    v.field("callId", &app::tool_cancel_params::call_id, "");
  }
};

template <>
struct described<app::explain_params> {
  static constexpr std::string_view name = "ExplainParams";
  static constexpr std::string_view about = "Asks what would be decided; nothing runs.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::explain_params::thread_id, "");
    v.field("tool", &app::explain_params::tool, "left out: shell_command");
    v.field("arguments", &app::explain_params::arguments, "of the tool");
    v.field("requestId", &app::explain_params::request_id,
            "from a reviewer, with `threadId` and without `tool` and `arguments`: of a question "
            "that stands; told is how its call was judged when it was asked");
  }
};

} // namespace gatehouse::rpc
