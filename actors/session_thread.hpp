#pragma once

#include "actors/audit/program_audit.hpp"
#include "actors/event_log.hpp"
#include "actors/id_memory.hpp"
#include "actors/open_reviews.hpp"
#include "actors/orchestrator.hpp"
#include "actors/process_manager.hpp"
#include "actors/review_desk.hpp"
#include "actors/thread.hpp"
#include "actors/thread_terms.hpp"
#include "reactor/timer.hpp"
#include "reactor/worker_pool.hpp"

#include <caf/actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// The thread is the user of its own review desk: it holds the questions until a client answers.
/// It hears what its calls do, and keeps the rules that are approved.
using session_thread_actor = caf::typed_actor<caf::reacts_to<message_atom, thread_message_ptr>,
                                              // INTERNAL: the rules have been read anew.
                                              caf::reacts_to<report_atom, std::string>,
                                              // INTERNAL: no reviewer has come back in time.
                                              caf::reacts_to<expire_atom>>::
    extend_with<reviewer_actor>::extend_with<observer_actor>::extend_with<amendment_actor>;

/// See actors/thread.hpp. Decides nothing about calls: it plans them, spawns a tool_call for each,
/// numbers what happens, and keeps what the session remembers.
class session_thread : public session_thread_actor::base {
public:
  /// `loop` and `workers` outlive the actor.
  session_thread(caf::actor_config& config, thread_terms terms, reactor::event_loop& loop,
                 reactor::worker_pool& workers, program_audit audit = {});

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.thread"; }

private:
  /// What events about a call say and count.
  struct told_of_call {
    std::string turn;
    std::size_t deltas = 0;
    /// A PostToolUse hook may take the output away: nobody hears it before (§124).
    bool output_withheld = false;
    thread_events::planned_patch_ptr patch{}; ///< set: the call is one
  };
  struct running_call {
    tool_call_actor actor; ///< unset: request_permissions, or of a terminal session
    std::string review_id; ///< request_permissions: of its question
    told_of_call told;
    std::string tool;
    std::function<void(const result<call_report_ptr>&)> done;
    bool terminal = false; ///< run by the manager of the terminal sessions
    bool input = false;    ///< it is to write something to one
    bool stopped = false;  ///< before it went to the terminal sessions: it goes to none
    std::uint64_t max_output_tokens = 0;
    std::optional<thread_events::terminal_ended> session_end; ///< came before the call's own answer
  };
  /// What the review desk looks at whenever it is asked something.
  struct now {
    session_terms session;
    hook_payload hooks;
    std::vector<transcript_entry> transcript;
    std::string turn; ///< the open one, or the last
    std::uint64_t rules_generation = 0;
    std::shared_ptr<const policy::domain_policy> network; ///< of attempts that begin from now on
    std::string boundary;                                 ///< for the automatic reviewer
    sandbox::program_search search;
    bool reviewer_present = false;
  };

  /// The session's context with what was found on this host; blocks as a walk over it does.
  [[nodiscard]] policy::access_context found_here() const;
  /// What sticky grants give to a call now (§15): grants whose paths lead elsewhere end here.
  additional_permissions granted_now();

  void on(const thread_messages::begin_call& m);
  void on(const thread_messages::cancel_call& m);
  void on(const thread_messages::explain_call& m);
  void on(const thread_messages::answer_review& m);
  void on(const thread_messages::allow_refused& m);
  void on(const thread_messages::start_turn& m);
  void on(const thread_messages::end_turn& m);
  void on(const thread_messages::subscribe& m);
  void on(const thread_messages::unsubscribe& m);
  void on(const thread_messages::read_status& m);
  void on(const thread_messages::revoke& m);
  void on(const thread_messages::list_terminals& m);
  void on(const thread_messages::read_terminal& m);
  void on(const thread_messages::write_terminal& m);
  void on(const thread_messages::signal_terminal& m);
  void on(const thread_messages::resize_terminal& m);
  void on(const thread_messages::end_terminal& m);
  void on(const thread_messages::clean_terminals& m);
  void on(const thread_messages::update_settings& m);
  void on(const thread_messages::close_thread& m);

  void ask_permissions(const tool_request& asked, const permissions_request& wish,
                       std::function<void(const result<call_report_ptr>&)> on_end);
  void permissions_answered(const review_request& question, const review_answer& said);
  [[nodiscard]] call_report permissions_report(const review_request& question,
                                               const review_answer& said);
  running_call& begin_item(const std::string& id, const std::string& tool, const proposal& what,
                           std::function<void(const result<call_report_ptr>&)> on_end);
  bool refuse_after_stop(const std::string& id);
  [[nodiscard]] review_desk_terms desk_terms();
  /// What carries out calls under the settings that hold now.
  void begin_runtimes();
  void add_network();
  void adopt(const thread_messages::update_settings& m);
  /// Adopts what the configuration has come to say (§44); why that cannot be: settings_error_.
  void look_at_settings();
  audit_record settings_entry(const thread_terms& terms);
  void retire();
  void dismiss_retired();
  [[nodiscard]] std::optional<error> cannot_begin(const tool_request& asked);
  [[nodiscard]] planned_call plan_of(const tool_arguments& asked);
  [[nodiscard]] std::optional<error> cannot_judge();
  [[nodiscard]] result<thread_messages::explained_call> explain(const tool_arguments& asked);
  void open_turn(std::string turn_id);
  void stop_turn(const std::string& why);
  void close_turn(thread_events::turn_ending how, const std::string& reason);
  void run(const tool_request& asked, planned_call planned,
           std::function<void(const result<call_report_ptr>&)> on_end);
  void exec_command(const std::string& call_id, const terminal_request& asked,
                    planned_call planned);
  void write_stdin(const std::string& call_id, const stdin_arguments& asked);
  template <class Order>
  void to_terminals(const std::string& call_id, Order order);
  /// What a client does to a terminal session that runs.
  struct terminal_effect {
    int session_id = 0;
    std::string audit;                             ///< its entry
    std::string_view undone;                       ///< how a failure begins when there is none
    std::function<void(const result<void>&)> tell; ///< errc::not_found, errc::io
    std::function<void()> happen;                  ///< in place of `tell`, when it is recorded
    std::function<void()> ended;                   ///< in place of both: it runs no longer
  };
  void do_recorded(terminal_effect what);
  void resize_next(int session_id);
  void terminal_answered(const std::string& call_id, const exec_reply& reply);
  void terminal_ended(const thread_events::terminal_ended& over);
  template <class Answer, class... What>
  void order_terminals(std::function<void(Answer)> hearer, What... what);
  [[nodiscard]] process_manager_actor& terminals();
  [[nodiscard]] process_terms process_terms_now();
  /// A call with its hooks, if there are any. A patch is heard of by the hooks of patches, and,
  /// where it came as a command, also by those of `tool`.
  tool_call_actor spawn_call(orchestrator_partners partners, hook_tool tool);
  void cancel(const std::string& call_id, running_call& call);
  void ended(const std::string& call_id, const call_report_ptr& given);
  void conclude(const std::string& call_id, const call_report_ptr& report);
  void begin_audit();
  /// @param go_on hears nothing when the entry stands, else why it does not
  void when_recorded(audit_record what, const std::function<void(const std::string&)>& go_on);
  [[nodiscard]] audit_record entry(audit_kind kind, std::string call_id, std::string body) const;
  void note(transcript_entry entry);

  caf::result<review_answer_ptr> hold(const review_request_ptr& question);
  void reply(const std::string& review_id, review_answer answer);
  void look_for_reviewers();
  [[nodiscard]] std::optional<error> look_at_rules();
  /// The end of a call that cannot be judged.
  void end_unjudged(const std::string& call_id, const error& why);
  void keep_next_rule();
  void rules_read();
  void use(std::shared_ptr<const policy::rule_set> rules);

  void heard(const thread_event_body& what);
  thread_event_ptr publish(thread_event_body what, const std::string& turn);
  void finish_closing();

  thread_terms terms_;
  program_audit audit_;
  reactor::event_loop& loop_;
  reactor::worker_pool& workers_;
  std::shared_ptr<now> now_ = std::make_shared<now>();
  std::shared_ptr<review_memory> memory_ = std::make_shared<review_memory>();
  grant_store grants_;
  event_log log_;
  open_reviews open_;
  std::deque<std::string> refused_; ///< digests of what the automatic reviewer refused last
  std::map<std::string, caf::typed_response_promise<review_answer_ptr>> promises_; ///< by review id
  reactor::timer grace_;

  std::vector<thread_messages::subscribe> subscribers_;
  orchestrator_partners partners_;
  std::function<void(bool interrupted)> turn_over_; ///< tells the managed network, if any (§112)
  std::vector<caf::actor> retired_; ///< of settings before; calls that run may still need them
  std::vector<std::function<void(bool interrupted)>> retired_turns_; ///< as turn_over_, of theirs
  /// Sizes of one terminal: one is being recorded, the others wait.
  struct resizes {
    std::vector<thread_messages::resize_terminal> waiting;
    bool under_way = false;
  };
  std::map<int, resizes> resizes_;  ///< by session id
  process_manager_actor terminals_; ///< made with the first terminal session
  std::map<std::string, told_of_call>
      background_;                              ///< by id of the exec_command: sessions that live
  std::map<std::string, running_call> running_; ///< by call id
  std::optional<error> settings_error_; ///< why the configuration as it is now cannot hold here
  id_memory used_ids_;                  ///< of calls and turns
  id_memory turn_ids_;                  ///< of these
  std::string turn_;                    ///< empty: none is open
  std::string stopped_because_;         ///< not empty: calls wait for the user's next turn
  std::string stopped_turn_;

  std::deque<rule_ptr> rules_to_keep_;
  bool keeping_ = false;
  std::shared_ptr<std::optional<rules_result>> kept_;

  std::optional<thread_messages::close_thread> closing_;
};

} // namespace gatehouse::actors
