#pragma once

#include "actors/attempt_result.hpp"
#include "actors/call_flow.hpp"
#include "actors/network_desk.hpp"
#include "actors/thread.hpp"
#include "protocol/attempt.hpp"
#include "protocol/call_report.hpp"
#include "protocol/review.hpp"
#include "protocol/thread_event.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>
#include <caf/fwd.hpp>
#include <caf/replies_to.hpp>
#include <caf/type_id.hpp>
#include <caf/typed_actor.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::reactor {
class unique_fd;
}

/// The catalogue of actors: who may say what to whom. All of them run on the thread of the event
/// loop. What they say is immutable and shared, never serialised.
namespace gatehouse::actors {

struct connection_question; // actors/network_service.hpp
struct network_link;        // actors/network_link.hpp

/// Start of one tool call: what the model proposes, and the terms of the session it belongs to.
struct call_start {
  call_plan plan;
  /// Set when the tool handler could not even make a proposal (login shell forbidden, …): the call
  /// is an item all the same, and ends as refused (§5, §D11).
  std::optional<exec_requirement> handler_refusal;
};

/// A call on its way to the orchestrator: plan and what exec policy said.
struct judged_call {
  call_plan plan;
  exec_evaluation evaluation;
};

/// One attempt asks to use the managed network (§108).
struct network_open {
  std::string call_id;
  int attempt = 1;
  proposal what;
  std::shared_ptr<const call_judgement> judged; ///< for the questions about hosts
  std::string review_nonce;
  gatehouse::approval_policy approval;
  profile_kind enforced_by = profile_kind::managed;
  std::vector<std::string> approved_hosts; ///< hosts a reviewer opened for this attempt (§105)
  bool deferred = false;                   ///< the registration lives with its process (§115)
};

/// Does a patch fit the files as they are? Unset: it does.
struct patch_verdict {
  std::optional<error> failure;
};

using call_start_ptr = std::shared_ptr<const call_start>;
using judged_call_ptr = std::shared_ptr<const judged_call>;
using attempt_result_ptr = std::shared_ptr<const attempt_result>;
using review_request_ptr = std::shared_ptr<const review_request>;
using review_answer_ptr = std::shared_ptr<const review_answer>;
using network_open_ptr = std::shared_ptr<const network_open>;
using network_end_ptr = std::shared_ptr<const network_end>;
using rule_ptr = std::shared_ptr<const approved_rule>;
using connection_question_ptr = std::shared_ptr<const connection_question>;
using network_link_ptr = std::shared_ptr<network_link>;
using listener_ptr = std::shared_ptr<reactor::unique_fd>;
using blocked_ptr = std::shared_ptr<const blocked_connection>;
using patch_verdict_ptr = std::shared_ptr<const patch_verdict>;
using event_body_ptr = std::shared_ptr<const thread_event_body>;
using thread_message_ptr = std::shared_ptr<const thread_message>;

using run_atom = caf::atom_constant<caf::atom("run")>;
using cancel_atom = caf::atom_constant<caf::atom("cancel")>;
using review_atom = caf::atom_constant<caf::atom("review")>;
using withdraw_atom = caf::atom_constant<caf::atom("withdraw")>;
using add_rule_atom = caf::atom_constant<caf::atom("add-rule")>;
using open_atom = caf::atom_constant<caf::atom("open")>;
using close_atom = caf::atom_constant<caf::atom("close")>;
using event_atom = caf::atom_constant<caf::atom("event")>;
using report_atom = caf::atom_constant<caf::atom("report")>;
using message_atom = caf::atom_constant<caf::atom("message")>;
using ended_atom = caf::atom_constant<caf::atom("ended")>;
using expire_atom = caf::atom_constant<caf::atom("expire")>;
using hold_atom = caf::atom_constant<caf::atom("hold")>;
using refuse_atom = caf::atom_constant<caf::atom("refuse")>;
using check_atom = caf::atom_constant<caf::atom("check")>;
inline constexpr run_atom run_v{};
inline constexpr cancel_atom cancel_v{};
inline constexpr review_atom review_v{};
inline constexpr withdraw_atom withdraw_v{};
inline constexpr add_rule_atom add_rule_v{};
inline constexpr open_atom open_v{};
inline constexpr close_atom close_v{};
inline constexpr event_atom event_v{};
inline constexpr report_atom report_v{};
inline constexpr message_atom message_v{};
inline constexpr ended_atom ended_v{};
inline constexpr expire_atom expire_v{};
inline constexpr hold_atom hold_v{};
inline constexpr refuse_atom refuse_v{};
inline constexpr check_atom check_v{};

/// Answers questions, one reply each; the reply carries the question's id and digest (§48).
using reviewer_actor = caf::typed_actor<
    // May take as long as a person does. An error counts as a no.
    caf::replies_to<review_atom, review_request_ptr>::with<review_answer_ptr>,
    // The question with this review id is moot; its reply is ignored.
    caf::reacts_to<withdraw_atom, std::string>>;

/// Carries out attempts and knows nothing else of a call (§45, §46).
using runtime_actor = caf::typed_actor<
    // One reply when the attempt is over and everything it started has ended.
    caf::replies_to<run_atom, attempt_ptr>::with<attempt_result_ptr>,
    // Ends the attempt of the call with this id; its reply still comes.
    caf::reacts_to<cancel_atom, std::string>>;

/// The runtime of patches (§11, §46).
using patch_runtime_actor = runtime_actor::extend<
    // Does the patch of this call fit? Its files are read as the call's profile lets them be read,
    // and nothing is written.
    caf::replies_to<check_atom, judged_call_ptr>::with<patch_verdict_ptr>>;

/// The managed network: one registration for each attempt (§108).
using network_actor = caf::typed_actor<
    // The reply is the registration; an error: nothing may run.
    caf::replies_to<open_atom, network_open_ptr>::with<std::string>,
    // The process of a registration is being ended: nothing is asked or opened for it any more.
    caf::reacts_to<cancel_atom, std::string>,
    // Closes a registration; of a deferred one the reply comes after its grace (§117).
    caf::replies_to<close_atom, std::string>::with<network_end_ptr>>;

/// Makes an approved rule last (§42). What goes wrong is its own business to report: it never
/// changes the call that asked.
using amendment_actor = caf::typed_actor<caf::reacts_to<add_rule_atom, rule_ptr>>;

/// Hears what happens to a call between its start and its end (§D11).
using observer_actor = caf::typed_actor<caf::reacts_to<event_atom, event_body_ptr>>;

/// Drives one call through the two-attempt machine; ends with it (§45).
using orchestrator_actor =
    caf::typed_actor<caf::replies_to<run_atom, judged_call_ptr>::with<call_report_ptr>,
                     caf::reacts_to<cancel_atom>>;

/// One tool call from its arguments to its report; ends with it (§6).
using tool_call_actor =
    caf::typed_actor<caf::replies_to<run_atom, call_start_ptr>::with<call_report_ptr>,
                     caf::reacts_to<cancel_atom>>;

} // namespace gatehouse::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::attempt_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::call_start_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::event_body_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::thread_message_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::judged_call_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::call_report_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::attempt_result_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::review_request_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::review_answer_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::network_open_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::network_end_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::rule_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::connection_question_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::network_link_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::listener_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::blocked_ptr)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(gatehouse::actors::patch_verdict_ptr)

CAF_BEGIN_TYPE_ID_BLOCK(gatehouse, first_custom_type_id)

  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::attempt_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::call_start_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::event_body_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::thread_message_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::judged_call_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::call_report_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::attempt_result_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::review_request_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::review_answer_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::network_open_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::network_end_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::rule_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::connection_question_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::network_link_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::listener_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::blocked_ptr))
  CAF_ADD_TYPE_ID(gatehouse, (gatehouse::actors::patch_verdict_ptr))

CAF_END_TYPE_ID_BLOCK(gatehouse)
