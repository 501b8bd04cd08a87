#pragma once

#include "protocol/rpc/app_words.hpp"

// Initialization, threads and turns of the app dialect. Included by app_fields.hpp.
namespace gatehouse::rpc {

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
      "What the client can do with this server's own messages. What cannot be had is an error.";
  template <class V>
  static void fields(V& v) {
    v.field("approvals", &app::gatehouse_capabilities::approvals,
            "true: a person answers behind this connection, and is asked about every thread "
            "(reviewers only); false: nobody does, and it is asked nothing; left out: about the "
            "threads that it follows");
    v.field("outputMode", &app::gatehouse_capabilities::output_mode,
            "only `lossy` can be had: no command waits for a client that reads slowly");
    v.field("maxInFlight", &app::gatehouse_capabilities::max_in_flight,
            "calls of this session under way, 1 to `limits.maxInFlight` of the server; left out: "
            "as many as that");
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
    v.field("maxInFlight", &app::limits::max_in_flight, "calls of this session under way");
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
    v.field("sandboxes", &app::server_facts::sandboxes,
            "what commands are confined by here, as in `sandboxType`; empty: nothing on this "
            "platform. `gatehouse doctor` tries whether it works");
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
struct described<app::thread_environment> {
  static constexpr std::string_view name = "ThreadEnvironment";
  static constexpr std::string_view about = "The machine that the calls of a thread run on.";
  template <class V>
  static void fields(V& v) {
    v.field("environmentId", &app::thread_environment::environment_id,
            "`local`, or a name of the user's configuration");
    v.field("cwd", &app::thread_environment::cwd,
            "the folder of the thread there; left out: the configured one");
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
    v.field("environments", &app::thread_info::environments, "always one");
    v.field("cwd", &app::thread_info::cwd, "of that machine");
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
    v.field("environments", &app::thread_start_params::environments,
            "at most one; left out: the daemon's own (`serve --environment`)");
    v.field("cwd", &app::thread_start_params::cwd,
            "the folder, where `environments` is left out or names `local` without one");
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
struct described<app::settings_update_params> {
  static constexpr std::string_view name = "SettingsUpdateParams";
  static constexpr std::string_view about =
      "Other settings for the calls of a thread that are still to come. What is left out stays.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::settings_update_params::thread_id, "");
    v.field("cwd", &app::settings_update_params::cwd, "");
    v.field("runtimeWorkspaceRoots", &app::settings_update_params::runtime_workspace_roots,
            "left out: as they are; a workspace that is the folder alone goes with it");
    v.field("approvalPolicy", &app::settings_update_params::approval_policy,
            "name or {\"granular\":{…}}");
    v.field("sandbox", &app::settings_update_params::sandbox, "name of a profile");
    v.field("permissions", &app::settings_update_params::permissions,
            "name of a profile or a profile object");
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
            "events after this one are sent again, as far as they are kept; a number that this "
            "thread has not reached is an error");
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
    v.field("stoppedBecause", &app::thread_read_result::stopped_because,
            "calls are refused until a reviewer's turn/start, since a turn was stopped");
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
  static constexpr std::string_view about = "Opens a turn.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::turn_start_params::thread_id, "");
    v.field("turnId", &app::turn_start_params::turn_id, "left out: one is made");
    v.field("input", &app::turn_start_params::input,
            "for the automatic reviewer: from a reviewer the user's words, from an agent its own");
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
struct described<app::turn_interrupt_params> {
  static constexpr std::string_view name = "TurnInterruptParams";
  static constexpr std::string_view about = "Names a turn; without `turnId` the open one.";
  template <class V>
  static void fields(V& v) {
    v.field("threadId", &app::turn_interrupt_params::thread_id, "");
    v.field("turnId", &app::turn_interrupt_params::turn_id, "");
    v.field("keepRunning", &app::turn_interrupt_params::keep_running,
            "false: terminal sessions that have outlived their calls are ended, too; left out or "
            "true: they go on (§127)");
  }
};

} // namespace gatehouse::rpc
