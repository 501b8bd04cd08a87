#pragma once

#include "actors/guardian.hpp"
#include "protocol/hook_json.hpp"
#include "protocol/review.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gatehouse::actors {

/// Who can be asked about one question, known before it is asked.
struct review_terms {
  bool hooks = false;    ///< some PermissionRequest hook hears of this tool
  bool guardian = false; ///< the automatic reviewer is in charge and can be reached
  bool user = false;     ///< a person is connected
  /// A person has approved this for the session (§52). Counts for a first attempt only, never in
  /// strict review (§103, §D5).
  bool settled = false;
  /// A person has approved exactly this question after the automatic reviewer had refused it:
  /// final.
  bool overridden = false;
  std::string no_user_reason; ///< why `user` is false, for the refusal
};

namespace route {

// Events.
struct hooks_answered {
  hook_verdict verdict = hook_verdict::none;
  std::string reason;
};
struct guardian_answered {
  guardian_result result;
  /// Set when this refusal tripped the circuit breaker, or it was open before: why (§48a).
  std::string tripped;
};
struct user_answered {
  review_answer answer;
};
/// The last person who could answer is gone.
struct user_gone {};
/// The question has stood long enough.
struct expired {};
/// The call was taken back.
struct withdrawn {};
using event =
    std::variant<hooks_answered, guardian_answered, user_answered, user_gone, expired, withdrawn>;

// Effects, to be carried out in order.
struct ask_hooks {};
struct ask_guardian {};
struct ask_user {};
/// Whoever is being asked need not answer any more.
struct withdraw {};
struct warn_user {
  std::string text;
};
struct reply {
  review_answer answer;
};
using effect = std::variant<ask_hooks, ask_guardian, ask_user, withdraw, warn_user, reply>;
using effects = std::vector<effect>;

} // namespace route

/// The way of one question through its reviewers (§48): hooks (not in strict review, §49), then
/// what a person has settled before, then the automatic reviewer, then the user. A value without
/// clock or actor. The first valid answer of whoever is being asked is the only one that counts;
/// late, repeated and foreign ones change nothing. `reply` comes exactly once. Whoever fails is
/// passed over, and where nobody is left the answer is no.
class review_route {
public:
  review_route(review_request question, review_terms terms);

  /// The first effects. Call it once, before any event.
  route::effects begin();
  route::effects step(route::event event);

  [[nodiscard]] bool finished() const noexcept { return stage_ == stage::done; }
  [[nodiscard]] const review_request& question() const noexcept { return question_; }

private:
  enum class stage : std::uint8_t { hooks, guardian, user, done };

  void on(route::hooks_answered& event);
  void on(route::guardian_answered& event);
  void on(route::user_answered& event);
  void on(route::user_gone& event);
  void on(route::expired& event);
  void on(route::withdrawn& event);

  void after_hooks();
  void go_to_user(review_decision without_user, const std::string& why);
  void answer(review_decision decision, reviewer_kind reviewer, std::string reason,
              bool denies_host = false, std::optional<given_permissions> permissions = {});

  review_request question_;
  review_terms terms_;
  stage stage_ = stage::hooks;
  route::effects out_;
};

} // namespace gatehouse::actors
