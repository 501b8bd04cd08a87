#pragma once

#include "actors/attempt_result.hpp"
#include "actors/network_desk.hpp"
#include "actors/real_places.hpp"
#include "protocol/approval_policy.hpp"
#include "protocol/attempt.hpp"
#include "protocol/call_report.hpp"
#include "protocol/digest.hpp"
#include "protocol/review.hpp"
#include "sandbox/choose_backend.hpp"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gatehouse::actors {

/// What a runtime says about itself (§46); the flow knows no runtime (§45).
struct runtime_traits {
  sandbox::sandbox_preference preference = sandbox::sandbox_preference::automatic;
  bool escalates_on_failure = true;
  /// May on-request ask about leaving the sandbox after a denial? Patches: yes; commands: never
  /// (§101).
  bool asks_after_denial_on_request = false;
  /// Its process may outlive the call: the network registration goes with it (§115).
  bool outlives_the_call = false;
};

/// Everything that is fixed before a call moves: the flow's only input besides its events.
struct call_plan {
  std::string call_id;
  std::string tool = "shell_command"; ///< as hooks, reviewers and people know it
  std::string review_nonce;           ///< unguessable; review ids are made from it (§50)
  proposal what;
  gatehouse::approval_policy approval;
  permission_profile profile; ///< of the session, without this call's overlay
  /// `profile` with the overlay of this call merged in (§65); used only when the overlay is
  /// approved, pre-approved, or the command may leave the sandbox anyway. Unset: no overlay.
  std::optional<permission_profile> widened_profile;
  bool permissions_preapproved = false; ///< the overlay lies wholly inside a sticky grant (§15)
  std::string policy_cwd;
  std::string home; ///< what `~` means, for questions; empty: unknown
  std::vector<std::string> workspace_roots;
  real_folders real_roots; ///< of the session; where one leads elsewhere now, nothing runs
  std::vector<std::string> opens_protected; ///< what its overlay opens of it, in words (§63)
  sandbox_backend backend = sandbox_backend::none; ///< what this platform would use (§68)
  bool managed_network = false;
  bool strict_review = false; ///< even `skip` is reviewed (§49)
  runtime_traits runtime;
};

/// A rule that a reviewer wants kept (§42).
struct approved_rule {
  std::vector<std::string> prefix;
  /// The question was about a run inside the sandbox: so are the runs that the rule allows (§D4).
  bool keeps_sandbox = false;
};

namespace flow {

// Events.
struct requirement_known {
  exec_evaluation evaluation;
};
struct review_answered {
  review_answer answer;
};
/// `registration` empty: the managed network could not be set up, `failure` says why.
struct network_registered {
  int attempt = 1;
  std::string registration;
  std::optional<error> failure;
};
struct attempt_finished {
  attempt_result result;
};
/// The registration is closed; `context` is what it saw refused (§100, §114).
struct network_finished {
  std::string registration;
  network_end seen;
};
struct cancelled {};
using event = std::variant<requirement_known, review_answered, network_registered, attempt_finished,
                           network_finished, cancelled>;

// Effects, to be carried out in order.
struct ask_review {
  review_request request;
};
/// The question is moot; a late answer is ignored.
struct withdraw_review {
  std::string review_id;
};
/// The reviewer wants the rule that was proposed added (§42); its failure never changes the call.
struct add_rule {
  approved_rule rule;
};
struct register_network {
  int attempt = 1;
  std::vector<std::string> approved_hosts;
};
struct unregister_network {
  std::string registration;
};
struct start_attempt {
  attempt_ptr what;
};
/// The runtime still answers with attempt_finished.
struct cancel_attempt {
  int attempt = 1;
  std::string network_registration; ///< of it; empty: none
};
struct finish {
  call_report report;
};
using effect = std::variant<ask_review, withdraw_review, add_rule, register_network,
                            unregister_network, start_attempt, cancel_attempt, finish>;
using effects = std::vector<effect>;

} // namespace flow

/// The two-attempt machine (§47): a value without clock, thread or actor. Feed it events, carry out
/// the effects. Events that are late, repeated or not for the open step change nothing. It runs a
/// command at most twice (§106), and a second time only after a denial and a fresh approval whose
/// question said what it lifts (§100, §D5); `finish` comes exactly once, and last except for the
/// unregister_network of a registration that arrives late.
class call_flow {
public:
  explicit call_flow(call_plan plan);

  flow::effects step(flow::event event);

  [[nodiscard]] bool finished() const noexcept { return state_ == state::done; }
  [[nodiscard]] const call_plan& plan() const noexcept { return plan_; }

  /// The boundary a first attempt would get if the requirement is met: `policy explain` (§133a).
  static sandbox_summary first_boundary(const call_plan& plan, const exec_requirement& requirement);
  /// For the questions about this call, once its requirement is known.
  [[nodiscard]] std::shared_ptr<const call_judgement> judgement() const;

private:
  enum class state : std::uint8_t {
    waiting_for_requirement,
    asking,
    registering_network,
    running,
    closing_network,
    done,
  };

  struct boundary {
    bool sandboxed = true;
    permission_profile profile;
    network_mode network = network_mode::isolated;
    std::vector<std::string> approved_hosts;
  };

  void on(flow::requirement_known& event);
  void on(flow::review_answered& event);
  void on(flow::network_registered& event);
  void on(flow::attempt_finished& event);
  void on(flow::network_finished& event);
  void on(flow::cancelled& event);

  static boundary first(const call_plan& plan, const exec_requirement& requirement, bool reviewed);
  static bool unsandboxed_allowed(const call_plan& plan);
  [[nodiscard]] bool may_ask_to_leave_sandbox() const;
  void ask(ask_cause cause, std::string reason, std::string will_be_allowed,
           const digest_terms& terms, std::vector<std::string> amendment);
  void prepare(boundary wanted);
  void start();
  void classify();
  void offer_retry(ask_cause cause, std::string reason, std::string allows, boundary wanted,
                   const digest_terms& terms);
  void end(call_ending ending, std::string message, std::optional<error> failure = {});
  void end_after_last_attempt();

  call_plan plan_;
  state state_ = state::waiting_for_requirement;
  call_report report_;
  int attempt_ = 1;
  bool cancelled_ = false;
  std::optional<review_request> question_; ///< the one that is open
  std::optional<boundary> boundary_;       ///< of the attempt in preparation or under way
  std::optional<approved> approval_;
  std::string registration_;
  std::optional<network_context> network_;
  bool stopped_by_network_ = false; ///< whoever was asked about a host stopped the turn
  patch_progress patch_done_;       ///< what a second attempt need not do again (§107)
  flow::effects out_;
};

} // namespace gatehouse::actors
