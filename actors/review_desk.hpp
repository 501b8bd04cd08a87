#pragma once

#include "actors/approval_store.hpp"
#include "actors/circuit_breaker.hpp"
#include "actors/hook_round.hpp"
#include "actors/hook_rules.hpp"
#include "actors/host_answers.hpp"
#include "actors/interfaces.hpp"
#include "actors/review_route.hpp"
#include "protocol/guardian_prompt.hpp"
#include "reactor/timer.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What the reviews of one session remember. Used on the loop only; the host may list and revoke.
struct review_memory {
  approval_store approvals;
  std::shared_ptr<host_answers> hosts = std::make_shared<host_answers>();
  user_overrides overrides;
  circuit_breaker breaker; ///< the host resets it at the start of a turn
};

/// Who reviews in one session, and what they are told.
struct review_desk_terms {
  reactor::event_loop* loop = nullptr; ///< outlives the actor
  hook_rules hooks;
  /// What a hook is told besides the question: session, turn, transcript, model, permission mode.
  std::function<hook_payload()> hook_context; ///< may be unset
  program_place hook_place;

  guardian_transport guardian; ///< unset: there is no automatic reviewer
  bool auto_review = false;    ///< it answers instead of the user; in strict review it always does
  std::function<approval_policy()> approval; ///< decides whether it may; unset: the default one
  std::function<std::vector<transcript_entry>()> transcript; ///< may be unset
  /// For the automatic reviewer: what the sandbox keeps from commands. May be unset.
  std::function<std::string()> boundary;

  reviewer_actor user;                ///< unset: no person can be asked
  std::function<bool()> user_present; ///< may be unset: always
  std::string no_user_reason;
  std::chrono::milliseconds user_limit{0}; ///< for a person; zero: as long as it takes

  std::shared_ptr<review_memory> memory; ///< never null
  /// Is "for the session" on offer (§52)? Then `policy` is the policy_stamp of the session now.
  bool session_scope = false;
  std::function<std::string()> policy;
  /// A file that the command runs or reads and that commands inside the sandbox may change; empty:
  /// none is known. May be unset.
  std::function<std::string(const proposal&)> changeable;

  std::function<void(const std::string&)> warn; ///< to the user; may be unset
  /// Hears who else than a person is asked, and every answer; may be unset.
  observer_actor observer;
};

/// INTERNAL: a hook or the automatic reviewer has answered the question with this id; it has stood
/// for its time.
using review_desk_actor = reviewer_actor::extend<caf::reacts_to<report_atom, std::string>,
                                                 caf::reacts_to<expire_atom, std::string>>;

/// Answers every question by sending it along its review_route; decides nothing itself.
class review_desk : public review_desk_actor::base {
public:
  review_desk(caf::actor_config& config, review_desk_terms terms);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.review-desk"; }

private:
  struct open_question {
    open_question(review_route r, reactor::event_loop& loop) : way{std::move(r)}, limit{loop} {}

    review_route way;
    caf::typed_response_promise<review_answer_ptr> promise;
    std::vector<std::string> keys; ///< under which an approval for the session is remembered
    bool at_user = false;
    std::optional<route::event> arrived; ///< what report_atom announces
    std::unique_ptr<hook_round> hooks;
    std::shared_ptr<void> guardian;
    reactor::timer limit;
  };
  using question_ptr = std::shared_ptr<open_question>;

  caf::result<review_answer_ptr> take(const review_request_ptr& question);
  [[nodiscard]] hook_tool tool_of(const review_request& question) const;
  void feed(const std::string& id, route::event event);
  void carry_out(const question_ptr& open, route::effects effects);
  void carry_out(const question_ptr& open, route::ask_hooks& effect);
  void carry_out(const question_ptr& open, route::ask_guardian& effect);
  void carry_out(const question_ptr& open, route::ask_user& effect);
  void carry_out(const question_ptr& open, route::withdraw& effect);
  void carry_out(const question_ptr& open, route::warn_user& effect);
  void carry_out(const question_ptr& open, route::reply& effect);
  [[nodiscard]] route::event weigh(const guardian_reply& reply);
  void warn(const std::string& text) const;
  void tell(thread_event_body what);

  review_desk_terms terms_;
  std::map<std::string, question_ptr> open_; ///< by review id
};

} // namespace gatehouse::actors
