#pragma once

#include "protocol/rpc/app_types.hpp"

/// The field lists of the app dialect: names on the wire, and what the schema says about them.
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

template <>
struct described<app::nothing> {
  static constexpr std::string_view name = "Nothing";
  static constexpr std::string_view about = "No members.";
  template <class V>
  static void fields(V&) {}
};

template <>
struct described<app::client_info> {
  static constexpr std::string_view name = "ClientInfo";
  static constexpr std::string_view about = "Who the client is.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("name", &app::client_info::name, "");
    v.field("title", &app::client_info::title, "");
    v.field("version", &app::client_info::version, "");
  }
};

template <>
struct described<app::gatehouse_capabilities> {
  static constexpr std::string_view name = "GatehouseCapabilities";
  static constexpr std::string_view about =
      "What the client can do with this server's own messages.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field(
        "approvals", &app::gatehouse_capabilities::approvals,
        "a person answers behind this connection: it is asked about every thread (reviewers only)");
  }
};

template <>
struct described<app::client_capabilities> {
  static constexpr std::string_view name = "ClientCapabilities";
  static constexpr std::string_view about = "What the client can do.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("gatehouse", &app::client_capabilities::gatehouse, "");
  }
};

template <>
struct described<app::initialize_params> {
  static constexpr std::string_view name = "InitializeParams";
  static constexpr std::string_view about = "The first request of a connection.";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("clientInfo", &app::initialize_params::client_info, "");
    v.field("capabilities", &app::initialize_params::capabilities, "");
    v.field("resumeSessionId", &app::initialize_params::resume_session_id,
            "the session of a connection that was lost");
    v.field("takeover", &app::initialize_params::takeover,
            "end the connection that the session still has");
  }
};

template <>
struct described<app::limits> {
  static constexpr std::string_view name = "Limits";
  static constexpr std::string_view about = "Limits of this server.";
  template <class V>
  static void fields(V& v) {
    v.field("frameBytes", &app::limits::frame_bytes, "largest message");
    v.field("maxInFlight", &app::limits::max_in_flight, "requests of one connection under way");
    v.field("retainedEventBytes", &app::limits::retained_event_bytes,
            "events kept for each thread");
    v.field("sessionGraceMs", &app::limits::session_grace_ms,
            "how long a session outlives its connection");
  }
};

template <>
struct described<app::server_facts> {
  static constexpr std::string_view name = "ServerFacts";
  static constexpr std::string_view about = "What this server is and what the connection may do.";
  template <class V>
  static void fields(V& v) {
    v.field("version", &app::server_facts::version, "of the program");
    v.field("protocol", &app::server_facts::protocol, "of this surface");
    v.field("authority", &app::server_facts::authority,
            "`agent`: may propose; `reviewer`: may answer and change policy");
    v.field("tools", &app::server_facts::tools, "that tool/call takes");
    v.field("limits", &app::server_facts::limits, "");
  }
};

template <>
struct described<app::initialize_result> {
  static constexpr std::string_view name = "InitializeResult";
  static constexpr std::string_view about = "The session of this connection.";
  template <class V>
  static void fields(V& v) {
    v.field("userAgent", &app::initialize_result::user_agent, "");
    v.field("platformFamily", &app::initialize_result::platform_family, "");
    v.field("platformOs", &app::initialize_result::platform_os, "");
    v.field("sessionId", &app::initialize_result::session_id, "for resume_session_id");
    v.field("resumed", &app::initialize_result::resumed, "");
    v.field("gatehouse", &app::initialize_result::gatehouse, "");
  }
};

template <>
struct described<app::thread_status> {
  static constexpr std::string_view name = "ThreadStatus";
  static constexpr std::string_view about = "Whether work goes on in a thread.";
  template <class V>
  static void fields(V& v) {
    v.field("type", &app::thread_status::type, "");
    v.field("activeFlags", &app::thread_status::active_flags, "");
  }
};

template <>
struct described<app::thread_info> {
  static constexpr std::string_view name = "ThreadInfo";
  static constexpr std::string_view about = "A thread: the long-lived session of an agent.";
  template <class V>
  static void fields(V& v) {
    v.field("id", &app::thread_info::id, "");
    v.field("status", &app::thread_info::status, "");
    v.field("cwd", &app::thread_info::cwd, "");
    v.field("runtimeWorkspaceRoots", &app::thread_info::runtime_workspace_roots,
            "folders that count as the workspace; left out: the folder");
    v.field("approvalPolicy", &app::thread_info::approval_policy, "name or {\"granular\":{…}}");
    v.field("sandbox", &app::thread_info::sandbox, "name of the profile, `custom` for an object");
    v.field("openTurnId", &app::thread_info::open_turn_id, "empty: none");
    v.field("lastSeq", &app::thread_info::last_seq, "of the thread's events");
  }
};

template <>
struct described<app::thread_start_params> {
  static constexpr std::string_view name = "ThreadStartParams";
  static constexpr std::string_view about =
      "Terms of a new thread. What is left out is as configured.";
  template <class V>
  static void fields(V& v) {
    v.field("cwd", &app::thread_start_params::cwd, "");
    v.field("runtimeWorkspaceRoots", &app::thread_start_params::runtime_workspace_roots,
            "folders that count as the workspace; left out: the folder");
    v.field("approvalPolicy", &app::thread_start_params::approval_policy,
            "name or {\"granular\":{…}}; an agent may only name one that asks no less");
    v.field("sandbox", &app::thread_start_params::sandbox,
            "name of a profile; an agent may only name a narrower one");
    v.field("permissions", &app::thread_start_params::permissions,
            "name of a profile or a profile object (reviewers only)");
  }
};

template <>
struct described<app::thread_result> {
  static constexpr std::string_view name = "ThreadResult";
  static constexpr std::string_view about = "A thread.";
  template <class V>
  static void fields(V& v) {
    v.field("thread", &app::thread_result::thread, "");
  }
};

template <>
struct described<app::thread_resume_params> {
  static constexpr std::string_view name = "ThreadResumeParams";
  static constexpr std::string_view about = "Subscribes to the events of a thread.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::thread_resume_params::thread_id, "");
    v.field("afterSeq", &app::thread_resume_params::after_seq,
            "events after this one are sent again, as far as they are kept");
  }
};

template <>
struct described<app::thread_params> {
  static constexpr std::string_view name = "ThreadParams";
  static constexpr std::string_view about = "Names a thread.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::thread_params::thread_id, "");
  }
};

template <>
struct described<app::thread_list_result> {
  static constexpr std::string_view name = "ThreadListResult";
  static constexpr std::string_view about = "The threads that the connection may see.";
  template <class V>
  static void fields(V& v) {
    v.field("data", &app::thread_list_result::data, "");
  }
};

template <>
struct described<app::granted> {
  static constexpr std::string_view name = "Granted";
  static constexpr std::string_view about =
      "A permission that a reviewer gave for a turn or the session.";
  template <class V>
  static void fields(V& v) {
    v.field("id", &app::granted::id, "");
    v.field("scope", &app::granted::scope, "`turn` or `session`");
    v.field("turnId", &app::granted::turn_id, "");
    v.field("permissions", &app::granted::permissions, "");
  }
};

template <>
struct described<app::remembered> {
  static constexpr std::string_view name = "Remembered";
  static constexpr std::string_view about = "An action that was approved for the session.";
  template <class V>
  static void fields(V& v) {
    v.field("id", &app::remembered::id, "");
    v.field("action", &app::remembered::action, "as people read it");
  }
};

template <>
struct described<app::remembered_host> {
  static constexpr std::string_view name = "RememberedHost";
  static constexpr std::string_view about = "An answer about a host, for the session.";
  template <class V>
  static void fields(V& v) {
    v.field("id", &app::remembered_host::id, "");
    v.field("host", &app::remembered_host::host, "protocol, name and port");
    v.field("allowed", &app::remembered_host::allowed, "");
  }
};

template <>
struct described<app::thread_read_result> {
  static constexpr std::string_view name = "ThreadReadResult";
  static constexpr std::string_view about = "A thread, what runs in it and what was granted.";
  template <class V>
  static void fields(V& v) {
    v.field("thread", &app::thread_read_result::thread, "");
    v.field("running", &app::thread_read_result::running, "ids of calls");
    v.field("grants", &app::thread_read_result::grants, "");
    v.field("approvals", &app::thread_read_result::approvals, "");
    v.field("hosts", &app::thread_read_result::hosts, "");
  }
};

template <>
struct described<app::revoke_params> {
  static constexpr std::string_view name = "RevokeParams";
  static constexpr std::string_view about =
      "Takes back a grant, an approval for the session, or an answer about a host.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::revoke_params::thread_id, "");
    v.field("kind", &app::revoke_params::kind, "");
    v.field("id", &app::revoke_params::id, "");
  }
};

template <>
struct described<app::revoke_result> {
  static constexpr std::string_view name = "RevokeResult";
  static constexpr std::string_view about = "Whether there was such a grant.";
  template <class V>
  static void fields(V& v) {
    v.field("found", &app::revoke_result::found, "");
  }
};

template <>
struct described<app::turn_start_params> {
  static constexpr std::string_view name = "TurnStartParams";
  static constexpr std::string_view about = "Opens a turn: the user has spoken.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::turn_start_params::thread_id, "");
    v.field("turnId", &app::turn_start_params::turn_id, "left out: one is made");
    v.field("input", &app::turn_start_params::input,
            "what the user said, for the automatic reviewer");
  }
};

template <>
struct described<app::turn_info> {
  static constexpr std::string_view name = "TurnInfo";
  static constexpr std::string_view about = "A turn of a thread.";
  template <class V>
  static void fields(V& v) {
    v.field("id", &app::turn_info::id, "");
    v.field("status", &app::turn_info::status, "");
  }
};

template <>
struct described<app::turn_result> {
  static constexpr std::string_view name = "TurnResult";
  static constexpr std::string_view about = "A turn.";
  template <class V>
  static void fields(V& v) {
    v.field("turn", &app::turn_result::turn, "");
  }
};

template <>
struct described<app::turn_params> {
  static constexpr std::string_view name = "TurnParams";
  static constexpr std::string_view about = "Names a turn; without `turnId` the open one.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::turn_params::thread_id, "");
    v.field("turnId", &app::turn_params::turn_id, "");
  }
};

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
    v.field("outputOmittedBytes", &app::tool_call_result::output_omitted_bytes,
            "not kept in `output`");
    v.field("sandboxType", &app::tool_call_result::sandbox_type,
            "of the last attempt: none, linux, landlock");
    v.field("sandboxDenied", &app::tool_call_result::sandbox_denied,
            "the boundary refused something");
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
struct described<app::terminal_signal_params> {
  static constexpr std::string_view name = "TerminalSignalParams";
  static constexpr std::string_view about = "A signal for the process group of a session.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::terminal_signal_params::thread_id, "");
    v.field("sessionId", &app::terminal_signal_params::session_id, "");
    v.field("signal", &app::terminal_signal_params::signal, "its number, 1 to 64");
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
    v.field("output", &app::terminal_read_result::output, "beginning and end");
    v.field("totalBytes", &app::terminal_read_result::total_bytes, "as they came");
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
  }
};

template <>
struct described<app::approval_list_params> {
  static constexpr std::string_view name = "ApprovalListParams";
  static constexpr std::string_view about = "Which questions to list; without `threadId` all.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::approval_list_params::thread_id, "");
  }
};

template <>
struct described<app::approval_request> {
  static constexpr std::string_view name = "ApprovalRequest";
  static constexpr std::string_view about =
      "A question to a reviewer about exactly one attempt of one call.";
  template <class V>
  static void fields(V& v) {
    v.field("requestId", &app::approval_request::request_id,
            "id of the question; the same after a reconnect");
    v.field("seq", &app::approval_request::seq,
            "number of the event with which it was first asked; agents are not sent it");
    v.field("threadId", &app::approval_request::thread_id, "");
    v.field("turnId", &app::approval_request::turn_id, "");
    v.field("itemId", &app::approval_request::item_id, "id of the call");
    v.field("kind", &app::approval_request::kind, "");
    v.field("attempt", &app::approval_request::attempt, "1 or 2");
    v.field("environmentId", &app::approval_request::environment_id, "");
    v.field("command", &app::approval_request::command, "as people read it");
    v.field("argv", &app::approval_request::argv, "what runs; of `permissions` empty");
    v.field("cwd", &app::approval_request::cwd, "");
    v.field("reason", &app::approval_request::reason, "why it is asked");
    v.field("justification", &app::approval_request::justification, "the model's words");
    v.field("willBeAllowed", &app::approval_request::will_be_allowed,
            "what a yes allows, and what stays forbidden");
    v.field("withoutSandbox", &app::approval_request::without_sandbox,
            "a yes covers leaving the sandbox");
    v.field("actionDigest", &app::approval_request::action_digest,
            "binds the answer to argv, cwd, environment change, tty and permissions");
    v.field("writeTargets", &app::approval_request::write_targets,
            "files that redirections of the command write: absolute where known, else as written");
    v.field("networkTarget", &app::approval_request::network_target,
            "of `network`: protocol, host and port");
    v.field("additionalPermissions", &app::approval_request::additional_permissions,
            "of `permissions`: what is asked for");
    v.field("proposedExecpolicyAmendment", &app::approval_request::proposed_execpolicy_amendment,
            "the rule that `acceptWithExecpolicyAmendment` adds");
    v.field("availableDecisions", &app::approval_request::available_decisions, "");
  }
};

template <>
struct described<app::approval_list_result> {
  static constexpr std::string_view name = "ApprovalListResult";
  static constexpr std::string_view about = "The questions that stand, oldest first.";
  template <class V>
  static void fields(V& v) {
    v.field("data", &app::approval_list_result::data, "");
  }
};

template <>
struct described<app::approval_resolve_params> {
  static constexpr std::string_view name = "ApprovalResolveParams";
  static constexpr std::string_view about =
      "Answers a question by its id; the first valid answer counts.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::approval_resolve_params::thread_id, "");
    v.field("requestId", &app::approval_resolve_params::request_id,
            "id of the question; the same after a reconnect");
    v.field("decision", &app::approval_resolve_params::decision, "one of availableDecisions");
    v.field("actionDigest", &app::approval_resolve_params::action_digest,
            "of the question that was shown");
    v.field("reason", &app::approval_resolve_params::reason, "for the model");
    v.field(
        "permissions", &app::approval_resolve_params::permissions,
        "to a question of the kind `permissions`: give this much and never more than was asked; "
        "left out: all of it");
    v.field("scope", &app::approval_resolve_params::scope,
            "likewise: how long; left out: the turn, or the session with `acceptForSession`");
    v.field("strictAutoReview", &app::approval_resolve_params::strict_auto_review,
            "likewise: the automatic reviewer sees every later call of the turn");
  }
};

template <>
struct described<app::allow_refused_params> {
  static constexpr std::string_view name = "AllowRefusedParams";
  static constexpr std::string_view about =
      "A person says yes to an action that the automatic reviewer has just refused.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::allow_refused_params::thread_id, "");
    v.field("actionDigest", &app::allow_refused_params::action_digest,
            "of the action, from serverRequest/resolved");
  }
};

template <>
struct described<app::approval_answer> {
  static constexpr std::string_view name = "ApprovalAnswer";
  static constexpr std::string_view about = "A client's answer to a request for approval.";
  template <class V>
  static void fields(V& v) {
    v.field("decision", &app::approval_answer::decision,
            "one of availableDecisions; anything else declines");
    v.field("reason", &app::approval_answer::reason, "");
    v.field(
        "permissions", &app::approval_answer::permissions,
        "to a question of the kind `permissions`: give this much and never more than was asked; "
        "left out: all of it");
    v.field("scope", &app::approval_answer::scope,
            "likewise: how long; left out: the turn, or the session with `acceptForSession`");
    v.field("strictAutoReview", &app::approval_answer::strict_auto_review,
            "likewise: the automatic reviewer sees every later call of the turn");
  }
};

template <>
struct described<app::profile_summary> {
  static constexpr std::string_view name = "ProfileSummary";
  static constexpr std::string_view about = "A permission profile that can be named.";
  template <class V>
  static void fields(V& v) {
    v.field("id", &app::profile_summary::id, "");
    v.field("about", &app::profile_summary::about, "");
    v.field("profile", &app::profile_summary::profile, "");
  }
};

template <>
struct described<app::profile_list_result> {
  static constexpr std::string_view name = "ProfileListResult";
  static constexpr std::string_view about = "The permission profiles.";
  template <class V>
  static void fields(V& v) {
    v.field("data", &app::profile_list_result::data, "");
  }
};

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
struct described<app::command_item> {
  static constexpr std::string_view name = "CommandItem";
  static constexpr std::string_view about = "A call as an item of its thread.";
  template <class V>
  static void fields(V& v) {
    v.field("type", &app::command_item::type, "`commandExecution`");
    v.field("id", &app::command_item::id, "");
    v.field("tool", &app::command_item::tool, "");
    v.field("command", &app::command_item::command, "as people read it");
    v.field("cwd", &app::command_item::cwd, "");
    v.field("status", &app::command_item::status, "");
    v.field("aggregatedOutput", &app::command_item::aggregated_output, "");
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
    v.field("exitCode", &app::terminal_ended::exit_code, "128+n after a signal");
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
