#pragma once

#include "actors/host_approval.hpp"
#include "actors/interfaces.hpp"
#include "actors/network_desk.hpp"
#include "actors/network_link.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/fd_receiver.hpp"
#include "reactor/network_proxy.hpp"
#include "reactor/ports.hpp"
#include "reactor/timer.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::actors {

/// What the managed network of one session is made of.
struct network_service_terms {
  reactor::event_loop* loop = nullptr; ///< outlives the actor
  /// In force for registrations that are opened now; never null. On the loop.
  std::function<std::shared_ptr<const policy::domain_policy>()> policy;
  reviewer_actor reviewer;                          ///< unset: nobody can be asked
  std::shared_ptr<reactor::host_resolver> resolver; ///< unset: the system's
  reactor::proxy_limits limits;
  bool session_offered = false; ///< "for the session" outlives a call
  /// Whose answers for the session these are; unset: the actor's own.
  std::shared_ptr<host_answers> answers;
  /// Keeps `network_rule` for good (§113); may be unset. On the loop, must not block.
  std::function<void(const host_key&, bool allow)> keep_rule;
  /// Hears of refused connections (§143), see desk::tell_blocked; may be unset. On the loop.
  std::function<void(const blocked_connection&)> on_blocked;
  /// Hears of what whoever is asked should know: commands that wait for the answer to a question
  /// that does not show them (§110), questions that are withdrawn while their commands go on. May
  /// be unset. On the loop.
  std::function<void(const std::string& text)> warn;
  std::chrono::milliseconds grace{100}; ///< after a process, for a late denial (§117)
  /// So long a question stands for which no connection waits: for a client that tries again.
  std::chrono::milliseconds patience{2000};
  hidden_wait::duration most_hidden = hidden_wait::usual_most; ///< of a process, unanswered (§95)
};

/// A connection that waits for its verdict, and the link of an attempt, as messages.
struct connection_question {
  std::string registration;
  std::uint64_t wish = 0;
  policy::connection_wish what;
  reactor::network_gate::reply answer;
};
using attach_atom = caf::atom_constant<caf::atom("attach")>;
using listen_atom = caf::atom_constant<caf::atom("listen")>;
using want_atom = caf::atom_constant<caf::atom("want")>;
using gone_atom = caf::atom_constant<caf::atom("gone")>;
using blocked_atom = caf::atom_constant<caf::atom("blocked")>;
using unwanted_atom = caf::atom_constant<caf::atom("unwanted")>;
using turn_over_atom = caf::atom_constant<caf::atom("turn-over")>;
inline constexpr attach_atom attach_v{};
inline constexpr listen_atom listen_v{};
inline constexpr want_atom want_v{};
inline constexpr gone_atom gone_v{};
inline constexpr blocked_atom blocked_v{};
inline constexpr unwanted_atom unwanted_v{};
inline constexpr turn_over_atom turn_over_v{};

/// See network_actor.
using network_service_actor = network_actor::extend<
    // An attempt is about to start under this registration.
    caf::reacts_to<attach_atom, std::string, network_link_ptr>,
    // The turn is over, interrupted or not: nobody is asked any more for registrations that are
    // open now (§112).
    caf::reacts_to<turn_over_atom, bool>,
    // INTERNAL: a socket that listens inside its sandbox, and the port it stands for.
    caf::reacts_to<listen_atom, std::string, listener_ptr, int>,
    // INTERNAL: a connection waits; nobody waits for it any more.
    caf::reacts_to<want_atom, connection_question_ptr>, caf::reacts_to<gone_atom, std::uint64_t>,
    // INTERNAL: refused after its host was allowed.
    caf::reacts_to<blocked_atom, std::string, blocked_ptr>,
    // INTERNAL: a host_approval has its answer.
    caf::reacts_to<report_atom, review_answer_ptr>,
    // INTERNAL: the grace of a registration is over; the patience with a question; the most is
    // hidden of what a registration waits.
    caf::reacts_to<expire_atom, std::string>, caf::reacts_to<unwanted_atom, std::string>,
    caf::reacts_to<hold_atom, std::string>>;

/// The managed network of one session (§108–§117): carries out what network_desk decides. One proxy
/// for each registration, on listeners that come from inside its sandbox; a host_approval for each
/// host that is being asked about.
class network_service : public network_service_actor::base {
public:
  network_service(caf::actor_config& config, network_service_terms terms);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.network-service"; }

private:
  struct registration {
    std::unique_ptr<reactor::fd_receiver> channel;
    std::vector<std::unique_ptr<reactor::network_proxy>> proxies;
    limit_holder hold;
    hidden_wait waited;
    std::unique_ptr<reactor::timer> held; ///< until the most is hidden
    std::function<void()> end;
    std::unique_ptr<reactor::timer> grace;
    caf::typed_response_promise<network_end_ptr> closing;
  };

  struct asked_question {
    host_approval_actor actor;
    std::unique_ptr<reactor::timer> patience; ///< runs while no connection waits
  };

  caf::result<std::string> open(const network_open& what);
  void hold(const std::string& id, registration& of, const hidden_wait::change& change);
  void listen(const std::string& registration, reactor::unique_fd listener, std::uint16_t port);
  void carry_out(desk::effects effects);
  void carry_out(desk::answer_wish& effect);
  void carry_out(desk::ask_review& effect);
  void carry_out(desk::withdraw_review& effect);
  void carry_out(desk::tell_withdrawn& effect);
  void carry_out(desk::start_patience& effect);
  void carry_out(desk::tell_shared& effect);
  void carry_out(desk::hold& effect);
  void carry_out(desk::end_process& effect);
  void carry_out(desk::keep_rule& effect);
  void carry_out(desk::tell_blocked& effect);
  void carry_out(desk::start_grace& effect);
  void carry_out(desk::closed& effect);

  network_service_terms terms_;
  network_desk desk_;
  std::uint64_t opened_ = 0;
  std::map<std::string, registration> open_;
  std::map<std::uint64_t, reactor::network_gate::reply> waiting_; ///< by wish
  std::map<std::string, asked_question> asking_;                  ///< by review id
};

/// What the sandbox of an attempt must know of the policy.
network_view view_of(const policy::domain_policy& policy);

} // namespace gatehouse::actors
