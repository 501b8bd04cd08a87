#pragma once

#include "actors/attempt_result.hpp"
#include "actors/hidden_wait.hpp"
#include "actors/host_answers.hpp"
#include "policy/domain_policy.hpp"
#include "protocol/denial.hpp"
#include "protocol/network.hpp"
#include "protocol/review.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gatehouse::actors {

/// One attempt that uses the managed network (§108).
struct network_terms {
  std::string call_id;
  int attempt = 1;
  proposal what;                                ///< shown to whoever is asked
  std::shared_ptr<const call_judgement> judged; ///< likewise, to "why?"
  std::string review_nonce;                     ///< unguessable; review ids are made from it (§50)
  std::shared_ptr<const policy::domain_policy> policy;
  std::vector<std::string> approved_hosts; ///< to_string(host_key): opened for this attempt (§105)
  std::string nobody;                      ///< set: nobody may be asked, and why (§112)
  bool session_offered = false;            ///< "for the session" may be answered
  bool deferred = false; ///< lives with its process and has a grace after its exit (§115)
};

/// What a registration saw, when it is over (§114).
struct network_end {
  /// A host that was refused for good or left open; set together with `denied`.
  std::optional<network_context> refused;
  std::optional<denial> denied;
  std::vector<blocked_connection> blocked; ///< the first of them
  std::size_t blocked_total = 0;
  std::vector<review_record> reviews; ///< the answers that this attempt waited for
  bool ended_the_process = false;     ///< by a reviewer's no (§116)
  bool stop = false;                  ///< the reviewer stopped the turn
};

namespace desk {

/// The answer to one wish, exactly once. A process that is being ended gets none before its end.
struct answer_wish {
  std::uint64_t wish = 0;
  bool allowed = false;
  std::string host;                       ///< allowed: canonical
  network_refusal reason{};               ///< refused
  std::optional<blocked_connection> what; ///< refused: for the text
};
struct ask_review {
  review_request request;
};
struct withdraw_review {
  std::string review_id;
};
/// A question is withdrawn while the commands that it is about go on: for whoever watches.
struct tell_withdrawn {
  host_key key;
};
/// Nobody waits for the answer: `unwanted` is due after the patience.
struct start_patience {
  std::string review_id;
};
/// Another command waits for the answer to a question that shows it not (§110), for whoever
/// watches.
struct tell_shared {
  std::string review_id;
  host_key key;
  std::string call_id;
  proposal what;
};
/// The process waits for this answer, or does no longer: its time limit stands still meanwhile.
struct hold {
  std::string registration;
  host_key about;
  host_wait what{};
};
/// A reviewer refused what the process waits for: it ends (§116).
struct end_process {
  std::string registration;
};
/// `network_rule` for good (§113).
struct keep_rule {
  host_key key;
  bool allow = false;
};
/// A connection was refused, for whoever watches (§143); of one call most_blocked are told.
struct tell_blocked {
  blocked_connection what;
};
struct start_grace {
  std::string registration;
};
struct closed {
  std::string registration;
  network_end end;
};
using effect =
    std::variant<answer_wish, ask_review, withdraw_review, tell_withdrawn, start_patience,
                 tell_shared, hold, end_process, keep_rule, tell_blocked, start_grace, closed>;
using effects = std::vector<effect>;

} // namespace desk

/// The network decisions of one session (§108–§117): who is registered, which hosts are being asked
/// about, what has been answered for the session. A value without clock, socket or actor; carry out
/// the effects in order. Late, repeated and foreign events change nothing.
///
/// One question for a host key at a time (§109, §110), whichever calls want it; its answer is that
/// of all of them, each noted for its own call. "Once" means the commands that asked, for as long
/// as they run. When the command that a question shows is over, it is asked anew for the next one
/// that waits, since nobody can answer for what was not shown. A question is withdrawn when the
/// last call that asked is over, and when for a while no connection has waited for its answer: a
/// client that gives up and tries again soon finds it, a person is not asked for one that has gone.
class network_desk {
public:
  static constexpr std::size_t most_questions = 16; ///< open at once, of one call
  static constexpr std::size_t most_blocked = 200;  ///< noted, of one call; so many answers too

  /// @param answers for the session; never null. What is revoked there is asked about again.
  explicit network_desk(std::shared_ptr<host_answers> answers = std::make_shared<host_answers>())
      : answers_{std::move(answers)} {}

  /// False when the registration exists already.
  bool open(const std::string& registration, network_terms terms);
  /// A connection is wanted. `wish`: never used before.
  desk::effects want(const std::string& registration, std::uint64_t wish,
                     const policy::connection_wish& what);
  /// The connection has gone: it waits for no answer any more.
  desk::effects gone(std::uint64_t wish);
  /// The patience with this question is over. Nothing, when somebody waits for it again.
  desk::effects unwanted(const std::string& review_id);
  desk::effects answered(const review_answer& answer);
  /// Refused after its host was allowed (its address, its TLS name), or not even readable.
  desk::effects blocked(const std::string& registration, blocked_connection what);
  /// The process is about to be ended by somebody else: its questions are withdrawn, and from here
  /// on nothing is opened for it.
  desk::effects stop(const std::string& registration);
  /// The turn is over: nobody may be asked any more for what is open now (§112). Interrupted: what
  /// is being asked is withdrawn, too.
  desk::effects turn_over(bool interrupted);
  /// The attempt is over. `closed` follows at once, or, for a deferred one that somebody is still
  /// asked about, with the answer or after `grace_over` (§117).
  desk::effects close(const std::string& registration);
  desk::effects grace_over(const std::string& registration);

  [[nodiscard]] bool idle() const noexcept { return calls_.empty() && questions_.empty(); }
  [[nodiscard]] const network_terms* find(const std::string& registration) const;

private:
  struct open_call {
    network_terms terms;
    std::set<host_key> allowed;
    network_end seen;
    bool settled = false; ///< a reviewer's word stands in `seen`; nothing lesser replaces it
    bool closing = false;
    bool ending = false; ///< its process is being ended
    /// Refused wishes of a process that is being ended. Answered, it could go on with the answer
    /// before the signal comes (§116).
    std::map<std::uint64_t, blocked_connection> held;
    int questions = 0;
    int asked = 0; ///< questions ever, for their ids
  };
  struct question {
    review_request request;
    std::string owner; ///< the registration whose command the question shows
    std::string rule;  ///< that asks, if one does
    std::set<std::string> registrations;
    std::map<std::uint64_t, std::string> waiters; ///< wish, registration
  };
  using questions = std::map<host_key, question>;

  void tell(open_call& of, const blocked_connection& what);
  void note(open_call& of, const blocked_connection& what, bool may_ask, bool final);
  void refuse(open_call& of, std::uint64_t wish, blocked_connection what, bool may_ask);
  void ask(const std::string& registration, open_call& of, std::uint64_t wish, const host_key& key,
           const std::string& rule);
  void put(question& of, const host_key& key);
  void settle(const std::string& registration, std::uint64_t wish, blocked_connection what);
  void leave(const std::string& registration, const host_key& key, question& open,
             std::string_view why = {});
  void withdraw_questions(const std::string& registration);
  [[nodiscard]] questions::iterator find_question(const std::string& review_id);
  /// A connection of it waits for the answer.
  static bool waits(const std::string& registration, const question& open);
  [[nodiscard]] bool is_asked_about(const std::string& registration) const;
  void finish(const std::string& registration);

  std::map<std::string, open_call> calls_;
  questions questions_;
  std::map<std::uint64_t, host_key> wishes_;  ///< that wait
  std::map<std::uint64_t, std::string> held_; ///< by wish: its registration
  std::shared_ptr<host_answers> answers_;
  desk::effects out_;
};

} // namespace gatehouse::actors
