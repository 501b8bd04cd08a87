#pragma once

#include "actors/endpoint/app_session.hpp"
#include "actors/endpoint/file_calls.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// What the methods of the app dialect do, one overload each, by what they are about. Every one
/// answers through `done`, once.
namespace gatehouse::actors {

/// Carries out one request of a client, if its authority may (§D13). False: there is no such
/// method, and nothing was answered.
bool perform(app_session& session, const rpc::message& request, const rpc_reply& done);

/// It reads files, so that it had better wait for its turn.
bool takes_time(std::string_view method) noexcept;

struct app_methods_base {
  app_session& session;
  rpc_reply done;

  template <class T>
  void ok(const T& result) const {
    done(rpc::to_json(result));
  }
  /// The thread; without one that is answered.
  [[nodiscard]] std::shared_ptr<thread_entry> need(const std::string& thread_id) const;
};

/// thread/*, turn/*
struct thread_methods : app_methods_base {
  void operator()(rpc::app::methods::thread_start, const rpc::app::thread_start_params& p) const;
  void operator()(rpc::app::methods::thread_resume, const rpc::app::thread_resume_params& p) const;
  void operator()(rpc::app::methods::settings_update,
                  const rpc::app::settings_update_params& p) const;
  void operator()(rpc::app::methods::thread_unsubscribe, const rpc::app::thread_params& p) const;
  void operator()(rpc::app::methods::thread_read, const rpc::app::thread_params& p) const;
  void operator()(rpc::app::methods::thread_list, const rpc::app::nothing&) const;
  void operator()(rpc::app::methods::thread_close, const rpc::app::thread_params& p) const;
  void operator()(rpc::app::methods::turn_start, const rpc::app::turn_start_params& p) const;
  void operator()(rpc::app::methods::turn_complete, const rpc::app::turn_params& p) const;
  void operator()(rpc::app::methods::turn_interrupt,
                  const rpc::app::turn_interrupt_params& p) const;
};

/// tool/*, and what a call would meet
struct tool_methods : app_methods_base {
  void operator()(rpc::app::methods::tool_call, const rpc::app::tool_call_params& p) const;
  void operator()(rpc::app::methods::tool_cancel, const rpc::app::tool_cancel_params& p) const;
  void operator()(rpc::app::methods::policy_explain, const rpc::app::explain_params& p) const;
  void operator()(rpc::app::methods::profile_list, const rpc::app::nothing&) const;

private:
  void explain_question(const rpc::app::explain_params& p) const;
};

/// command/exec and what belongs to it
struct command_methods : app_methods_base {
  void operator()(rpc::app::methods::command_exec, const rpc::app::command_exec_params& p) const;
  void operator()(rpc::app::methods::command_write, const rpc::app::command_write_params& p) const;
  void operator()(rpc::app::methods::command_resize,
                  const rpc::app::command_resize_params& p) const;
  void operator()(rpc::app::methods::command_terminate, const rpc::app::command_params& p) const;
};

/// fs/*
struct file_methods : app_methods_base {
  void operator()(rpc::app::methods::read_file, const rpc::app::file_params& p) const;
  void operator()(rpc::app::methods::write_file, const rpc::app::write_file_params& p) const;
  void operator()(rpc::app::methods::create_directory,
                  const rpc::app::create_directory_params& p) const;
  void operator()(rpc::app::methods::get_metadata, const rpc::app::file_params& p) const;
  void operator()(rpc::app::methods::read_directory, const rpc::app::file_params& p) const;
  void operator()(rpc::app::methods::remove, const rpc::app::remove_params& p) const;
  void operator()(rpc::app::methods::copy, const rpc::app::copy_params& p) const;

private:
  void perform(const std::optional<std::string>& thread_id, exec_server::file_call call,
               std::string base64 = {}) const;
};

/// thread/backgroundTerminals/* (§127)
struct terminal_methods : app_methods_base {
  void operator()(rpc::app::methods::terminals_list, const rpc::app::thread_params& p) const;
  void operator()(rpc::app::methods::terminals_read, const rpc::app::terminal_read_params& p) const;
  void operator()(rpc::app::methods::terminals_write,
                  const rpc::app::terminal_write_params& p) const;
  void operator()(rpc::app::methods::terminals_signal,
                  const rpc::app::terminal_signal_params& p) const;
  void operator()(rpc::app::methods::terminals_resize,
                  const rpc::app::terminal_resize_params& p) const;
  void operator()(rpc::app::methods::terminals_terminate, const rpc::app::terminal_params& p) const;
  void operator()(rpc::app::methods::terminals_clean, const rpc::app::thread_params& p) const;
};

/// approval/*, grant/*: a reviewer's
struct approval_methods : app_methods_base {
  void operator()(rpc::app::methods::approval_list, const rpc::app::approval_list_params& p) const;
  void operator()(rpc::app::methods::approval_resolve,
                  const rpc::app::approval_resolve_params& p) const;
  void operator()(rpc::app::methods::approval_allow_refused,
                  const rpc::app::allow_refused_params& p) const;
  void operator()(rpc::app::methods::grant_revoke, const rpc::app::revoke_params& p) const;

private:
  /// Answers with whether the thread took it.
  [[nodiscard]] std::function<void(const result<void>&)> taken_or_not() const;
};

} // namespace gatehouse::actors
