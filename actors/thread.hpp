#pragma once

#include "actors/approval_store.hpp"
#include "actors/grants.hpp"
#include "actors/host_answers.hpp"
#include "protocol/thread_event.hpp"
#include "protocol/tool_request.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The interface of a thread, the long-lived session of an agent: what endpoints, batch runners, an
/// MCP server and tests send to it, and what they hear. No actor library is needed to speak it.
/// Everything happens on the thread of the event loop; answers come later, never inside `send`.
namespace gatehouse::actors {

/// Hears of everything in a thread, each event once and in order. It must not block.
class thread_subscriber {
public:
  virtual ~thread_subscriber() = default;
  virtual void on_event(const thread_event_ptr& event) = 0;
};

/// One terminal session as a person sees it (§127).
struct process_info {
  int session_id = 0;
  std::string call_id;
  std::vector<std::string> argv;
  std::string cwd;
  bool tty = false;
  bool background = false; ///< its exec_command has been answered
  bool running = true;
  bool sandboxed = true;
  std::chrono::milliseconds age{0};
};

/// What a terminal session retained of all its output: beginning and end.
struct process_transcript {
  bool known = false;
  std::string text;
  std::uint64_t total_bytes = 0;
  /// Of read_terminal::after: `text` is what stands between these two counts of bytes. A character
  /// that is not complete waits for the next.
  std::uint64_t from = 0;
  std::uint64_t next = 0;
};

struct thread_terms; // actors/thread_terms.hpp

namespace thread_messages {

/// Runs a call (§6), beside all others that are under way. `done` hears its end; an error
/// (errc::invalid_request) means that there is no such call: the id was used before, or the turn is
/// not the open one. A call without a turn opens one where none is open.
struct begin_call {
  tool_request request;
  std::function<void(const result<call_report_ptr>&)> done; ///< may be unset
};

/// Ends a call; its report still comes. An exec_command that waits takes its process with it, a
/// write_stdin that waits leaves its session alone. Unknown ids are ignored.
struct cancel_call {
  std::string call_id;
};

/// What policy says of a call, and the boundary that its first attempt would get.
struct explained_call {
  exec_evaluation evaluation;
  sandbox_summary sandbox;
  bool strict_review = false; ///< even `skip` would be reviewed (§49)
};
/// Decides about a call as begin_call would at this moment, with the rules, grants and policies of
/// the thread; nothing runs and nobody is asked (§133a). Errors: errc::invalid_request for tools
/// that no policy judges; else why the call could not be judged, and would not run.
struct explain_call {
  tool_arguments arguments;
  std::function<void(const result<explained_call>&)> done; ///< never unset
};

/// A person's answer to a question. It counts when it is the first one that fits: the question
/// stands, the digest is the one that was shown (a no needs none), and the decision was on offer.
/// Else errc::invalid_request, and the question still stands.
struct answer_review {
  std::string review_id;
  std::string digest;
  review_decision decision = review_decision::denied;
  std::string reason;                            ///< for the model; may be empty
  std::function<void(const result<void>&)> done; ///< may be unset
  bool denies_host = false; ///< network_policy_amendment: the rule to add denies the host
  /// To a question of request_permissions: less than was asked, or for longer (§16a).
  std::optional<given_permissions> permissions{};
};

/// A person says yes to an action that the automatic reviewer has just refused: final for exactly
/// this action, once (§48). Errors: errc::invalid_request when it refused no such action.
struct allow_refused {
  std::string digest;                            ///< of the question that was refused
  std::function<void(const result<void>&)> done; ///< may be unset
};

/// Opens a turn. Where the user has spoken, what ended the turn before no longer counts (§51,
/// §48a). Errors: errc::invalid_request when one is open or the id was used before; errc::cancelled
/// when a turn was stopped and it is not the user who speaks.
struct start_turn {
  std::string turn_id;                                  ///< empty: one is made
  std::function<void(const result<std::string>&)> done; ///< the id; may be unset
  bool by_user = true;                                  ///< else by the agent
  std::string
      input; ///< what the user, or the agent, said, for the automatic reviewer; may be empty
};

/// Ends the open turn: its calls are cancelled, its questions withdrawn, its grants end. Terminal
/// sessions that have outlived their calls go on (§127). A turn that has ended, or none where
/// `turn_id` is empty, needs nothing. Errors: errc::not_found when `turn_id` is no turn of this
/// thread, or not the one that the user could stop.
struct end_turn {
  std::string turn_id; ///< empty: the open one
  thread_events::turn_ending how = thread_events::turn_ending::completed;
  std::string reason;
  bool by_user = false; ///< the user stops the agent: calls wait for the user's next start_turn,
                        ///< also where no turn is open
  std::function<void(const result<void>&)> done{}; ///< may be unset
};

/// From now on `subscriber` hears every event. `after` set: first those it has missed since then,
/// as far as they are still kept (a jump of `seq` shows that some are not). Then the questions that
/// stand are offered again, under their ids, with the `seq` they had.
struct subscribe {
  std::shared_ptr<thread_subscriber> subscriber; ///< never null
  bool answers = false; ///< a person is behind it who may be asked; while there is none, questions
                        ///< wait `reviewer_grace` and are refused
  std::optional<std::uint64_t> after;
};
struct unsubscribe {
  std::shared_ptr<thread_subscriber> subscriber;
};

struct thread_status {
  std::string turn_id;         ///< empty: none is open
  std::string stopped_because; ///< not empty: no call runs before the user's next start_turn
  std::uint64_t last_seq = 0;
  std::vector<std::string> running;         ///< call ids
  std::vector<review_request> open_reviews; ///< that a person can answer, oldest first
  std::vector<permission_grant> grants;
  std::vector<approval_store::entry> approvals; ///< for the session (§52)
  std::vector<host_answers::entry> hosts;       ///< answered for the session (§111)
};
struct read_status {
  std::function<void(const thread_status&)> done; ///< never unset
};

/// Takes back a grant, an approval for the session, or an answer about a host. What runs already,
/// and a connection that stands, is not touched.
struct revoke {
  enum class kind : std::uint8_t { grant, approval, host };
  kind what = kind::grant;
  std::uint64_t id = 0;
  std::function<void(bool found)> done; ///< may be unset
};

/// The terminal sessions of the thread (§127), by id: those that run, and those that have ended and
/// whose end no poll has seen.
struct list_terminals {
  std::function<void(const std::vector<process_info>&)> done; ///< never unset
};
struct read_terminal {
  int session_id = 0;
  std::function<void(const process_transcript&)> done; ///< never unset
  /// Only what came after so many bytes, or, where that is no longer kept without a gap, what is.
  std::optional<std::int64_t> after{};
};
/// A person types into a session. Nobody is asked: it is a person who would be. It is recorded
/// first, by its length, since it may be a secret. Errors: errc::not_found, errc::invalid_request
/// when the session has no terminal or has ended, errc::io when it cannot be recorded.
struct write_terminal {
  int session_id = 0;
  std::string chars;                             ///< not empty
  std::function<void(const result<void>&)> done; ///< may be unset
};
/// To one session; it is recorded first. Errors: errc::not_found, errc::io when it cannot be
/// recorded (end_terminal waits for no audit).
struct signal_terminal {
  int session_id = 0;
  int signal = 0;                                ///< to the process group of the command
  std::function<void(const result<void>&)> done; ///< may be unset
};
/// Another size for the terminal of a session. It is recorded first; of those that come while one
/// is being recorded only the newest is, and happens. Errors: errc::not_found, errc::io when it
/// cannot be recorded.
struct resize_terminal {
  int session_id = 0;
  int rows = 24;
  int columns = 80;
  std::function<void(const result<void>&)> done; ///< may be unset
};
/// Ctrl-C, SIGTERM, SIGKILL over the whole tree; `done` comes when nothing is left of it.
struct end_terminal {
  int session_id = 0;
  std::function<void(bool)> done; ///< may be unset
};
/// The same for all that outlived their calls; `done` hears how many they were, at once.
struct clean_terminals {
  std::function<void(int)> done; ///< may be unset
};

/// Other settings for the calls that are still to come (§2a): a reviewer's wish. Calls that run and
/// questions that stand are not touched. Grants, approvals and hosts for the turn or the session
/// end: they were given under the settings before. Errors: errc::invalid_request when the thread is
/// closing, errc::io when it cannot be recorded; then nothing has changed.
struct update_settings {
  std::shared_ptr<const thread_terms> terms; ///< never null; id, hooks, automatic reviewer: unused
  std::vector<std::string> roots;            ///< for people, as the workspace is told
  std::string profile;                       ///< likewise: its name
  std::function<void(const result<void>&)> done; ///< may be unset
};

/// Ends everything; `done` is the last that is heard of the thread.
struct close_thread {
  std::function<void()> done; ///< may be unset
};

} // namespace thread_messages

using thread_message = std::variant<
    thread_messages::begin_call, thread_messages::cancel_call, thread_messages::explain_call,
    thread_messages::answer_review, thread_messages::allow_refused, thread_messages::start_turn,
    thread_messages::end_turn, thread_messages::subscribe, thread_messages::unsubscribe,
    thread_messages::read_status, thread_messages::revoke, thread_messages::list_terminals,
    thread_messages::read_terminal, thread_messages::write_terminal,
    thread_messages::signal_terminal, thread_messages::resize_terminal,
    thread_messages::end_terminal, thread_messages::clean_terminals,
    thread_messages::update_settings, thread_messages::close_thread>;

/// One thread; copies mean the same one. Made by a thread_host, which ends it if nobody has.
class thread_handle {
public:
  /// How messages get to the thread.
  using mailbox = std::function<void(thread_message)>;
  explicit thread_handle(std::string id, mailbox in) : id_{std::move(id)}, in_{std::move(in)} {}

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  /// On the loop's thread, also from inside a handler. After close_thread every message that
  /// expects an answer gets the strictest one.
  void send(thread_message message) const { in_(std::move(message)); }

private:
  std::string id_;
  mailbox in_;
};

} // namespace gatehouse::actors
