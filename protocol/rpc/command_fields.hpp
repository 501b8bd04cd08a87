#pragma once

#include "protocol/rpc/app_words.hpp"

// Commands of a client's own (`command/exec`) in the app dialect. Included by app_fields.hpp.
namespace gatehouse::rpc {

namespace app {

struct terminal_size {
  std::int64_t rows = 24;
  std::int64_t columns = 80;
};

struct command_exec_params {
  std::optional<std::string> thread_id;
  std::vector<std::string> command;
  std::optional<std::string> process_id;
  std::optional<std::string> cwd;
  std::optional<bool> tty;
  std::optional<terminal_size> size;
  std::optional<bool> stream_stdin;
  std::optional<bool> stream_stdout_stderr;
  std::optional<std::int64_t> output_bytes_cap;
  std::optional<bool> disable_output_cap;
  std::optional<std::int64_t> timeout_ms;
  std::optional<bool> disable_timeout;
  std::optional<bool> detachable;
  std::optional<json_tree> env;
  std::optional<json_tree> sandbox_policy;
  std::optional<json_tree> permission_profile;
};

struct command_exec_result {
  std::int64_t exit_code = 0;
  std::string standard_output;
  std::string standard_error;
  std::string call_id;
  call_status status = call_status::failed;
  bool output_truncated = false;
  bool sandbox_denied = false;
  std::string message;
};

struct command_write_params {
  std::string process_id;
  std::optional<std::string> delta_base64;
  std::optional<bool> close_stdin;
};
struct command_write_result {
  std::optional<call_status> status;
  std::optional<std::string> message;
};
struct command_resize_params {
  std::string process_id;
  terminal_size size;
};
struct command_params {
  std::string process_id;
};

struct command_output {
  std::string process_id;
  std::int64_t seq = 0;
  stream_name stream = stream_name::standard_output;
  std::string delta_base64;
  bool cap_reached = false;
  std::optional<std::int64_t> dropped_bytes;
};

} // namespace app

template <>
struct described<app::terminal_size> {
  static constexpr std::string_view name = "TerminalSize";
  static constexpr std::string_view about = "The size of a terminal.";
  template <class V>
  static void fields(V& v) {
    v.field("rows", &app::terminal_size::rows, "1 to 1000");
    v.field("cols", &app::terminal_size::columns, "1 to 1000");
  }
};

template <>
struct described<app::command_exec_params> {
  static constexpr std::string_view name = "CommandExecParams";
  static constexpr std::string_view about =
      "A command that a client runs for itself. It is a call of the thread.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::command_exec_params::thread_id,
            "must be given: a command is judged by the policy of a thread");
    v.field("command", &app::command_exec_params::command, "its words; run as they are");
    v.field("processId", &app::command_exec_params::process_id,
            "of the client's choice, 1 to 128 bytes, for write, resize, terminate and the output: "
            "must be given with `tty` and `streamStdoutStderr`. Free again when the command has "
            "ended. The id of the call is `command:PROCESSID:` and something new each time");
    v.field("cwd", &app::command_exec_params::cwd, "left out: the folder of the thread");
    v.field("tty", &app::command_exec_params::tty,
            "a terminal session of the thread; what it says is all `stdout`");
    v.field("size", &app::command_exec_params::size,
            "with `tty` only; set right after the start, before it the size is 24 × 80");
    v.field("streamStdin", &app::command_exec_params::stream_stdin,
            "with `tty` only: what has no terminal has no input");
    v.field("streamStdoutStderr", &app::command_exec_params::stream_stdout_stderr,
            "command/exec/outputDelta to this connection; what was sent so is not in the result");
    v.field("outputBytesCap", &app::command_exec_params::output_bytes_cap,
            "of each stream, 0 to 1048576; left out: 1048576");
    v.field("disableOutputCap", &app::command_exec_params::disable_output_cap, "true is refused");
    v.field("timeoutMs", &app::command_exec_params::timeout_ms,
            "1 to 86400000; left out: as for shell_command. Not with `tty`");
    v.field(
        "disableTimeout", &app::command_exec_params::disable_timeout,
        "with `tty` only, where it changes nothing: a terminal session has no limit of its own");
    v.field("detachable", &app::command_exec_params::detachable,
            "true: goes on when its connection is lost; else it ends then");
    v.field("env", &app::command_exec_params::env,
            "refused unless it is empty: the environment is the thread's");
    v.field("sandboxPolicy", &app::command_exec_params::sandbox_policy,
            "refused: the profile of the thread decides");
    v.field("permissionProfile", &app::command_exec_params::permission_profile,
            "refused: the profile of the thread decides");
  }
};

template <>
struct described<app::command_exec_result> {
  static constexpr std::string_view name = "CommandExecResult";
  static constexpr std::string_view about =
      "How a command ended. A refusal is a result, not an error.";
  template <class V>
  static void fields(V& v) {
    v.field("exitCode", &app::command_exec_result::exit_code,
            "as of `gatehouse run`: the command's own; 128+n after a signal, 124 time-out, 125 "
            "refused, 126 and 127 not executable and not found, 120 stopped by the user, 121 no "
            "boundary");
    v.field("stdout", &app::command_exec_result::standard_output, "empty where it was streamed");
    v.field("stderr", &app::command_exec_result::standard_error, "empty where it was streamed");
    v.field("callId", &app::command_exec_result::call_id, "of its item in the thread");
    v.field("status", &app::command_exec_result::status, "");
    v.field("outputTruncated", &app::command_exec_result::output_truncated,
            "what is here, or was streamed, is not all of it");
    v.field("sandboxDenied", &app::command_exec_result::sandbox_denied,
            "the boundary refused something");
    v.field("message", &app::command_exec_result::message,
            "why it was refused or denied and the safer path; else empty");
  }
};

template <>
struct described<app::command_write_params> {
  static constexpr std::string_view name = "CommandWriteParams";
  static constexpr std::string_view about = "Input for a command with a terminal.";
  template <class V>
  static void fields(V& v) {
    v.field("processId", &app::command_write_params::process_id, "");
    v.field("deltaBase64", &app::command_write_params::delta_base64, "UTF-8 text without NUL");
    v.field("closeStdin", &app::command_write_params::close_stdin,
            "true is refused: a terminal stays open; Ctrl-D (BA==) tells its reader the end");
  }
};

template <>
struct described<app::command_write_result> {
  static constexpr std::string_view name = "CommandWriteResult";
  static constexpr std::string_view about =
      "Empty when it was written. A refusal is a result, not an error.";
  template <class V>
  static void fields(V& v) {
    v.field("status", &app::command_write_result::status, "set: it was not written");
    v.field("message", &app::command_write_result::message, "then: why");
  }
};

template <>
struct described<app::command_resize_params> {
  static constexpr std::string_view name = "CommandResizeParams";
  static constexpr std::string_view about = "The new size of a command's terminal.";
  template <class V>
  static void fields(V& v) {
    v.field("processId", &app::command_resize_params::process_id, "");
    v.field("size", &app::command_resize_params::size, "");
  }
};

template <>
struct described<app::command_params> {
  static constexpr std::string_view name = "CommandParams";
  static constexpr std::string_view about = "Names a command that runs.";
  template <class V>
  static void fields(V& v) {
    v.field("processId", &app::command_params::process_id, "");
  }
};

template <>
struct described<app::command_output> {
  static constexpr std::string_view name = "CommandOutput";
  static constexpr std::string_view about = "Output of a command of this client, as it comes.";
  template <class V>
  static void fields(V& v) {
    v.field("processId", &app::command_output::process_id, "");
    v.field("seq", &app::command_output::seq, "counts from 1 without a gap, over both streams");
    v.field("stream", &app::command_output::stream, "");
    v.field("deltaBase64", &app::command_output::delta_base64,
            "whole characters of UTF-8; bytes that are none are U+FFFD");
    v.field("capReached", &app::command_output::cap_reached,
            "of this stream nothing more is sent, and there was more");
    v.field("droppedBytes", &app::command_output::dropped_bytes,
            "left out before this one, since the client read too slowly");
  }
};

} // namespace gatehouse::rpc
