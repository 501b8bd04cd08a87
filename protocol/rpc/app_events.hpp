#pragma once

#include "protocol/review.hpp"
#include "protocol/rpc/app_types.hpp"
#include "protocol/thread_event.hpp"

#include <optional>
#include <string>
#include <string_view>

/// What happens in a thread, as messages of the app dialect.
namespace gatehouse::rpc::app {

struct outgoing {
  std::string_view method;
  std::string params;
  std::string request_id; ///< not empty: a request to reviewers, under this id
};

/// The message about an event; none for a question that is not a person's.
std::optional<outgoing> message_of(const std::string& thread_id, const thread_event& event);

/// Of the event in which a question was asked.
struct asked_at {
  std::string turn_id;
  std::uint64_t seq = 0;
  std::int64_t unix_ms = 0;
};
/// A question as reviewers see it.
approval_request approval_of(const std::string& thread_id, const asked_at& at,
                             const review_request& question);

/// What policy said of a call; none where it was not asked.
std::optional<decision> decision_of(const call_report& report);

/// The result of a tool call.
tool_call_result result_of(const call_report& report);

struct named_decision {
  review_decision what = review_decision::denied;
  bool denies_host = false; ///< network_policy_amendment: the rule to add denies the host
};
/// The decision that a client names: accept, acceptForSession, decline, cancel,
/// {"acceptWithExecpolicyAmendment":{"execpolicy_amendment":[…]}} with exactly the proposed prefix,
/// or {"applyNetworkPolicyAmendment":{"network_policy_amendment":{…}}} with exactly the host that
/// is asked about. None when it is not one of those that were on offer.
std::optional<named_decision> decision_from(const json_tree& decision,
                                            const review_request& question);

/// The decision of an answer to the server's request; what is not one that was on offer declines.
/// One about permissions may do without: those that it gives accept (reference protocol 1.6).
named_decision decision_of(const approval_answer& answer, const review_request& question);

/// What an answer gives beside its decision; see approval_answer.
struct answered_permissions {
  const std::optional<json_tree>& permissions;
  std::optional<grant_scope> scope;
  std::optional<bool> strict_auto_review;
};
/// What a yes to request_permissions gives; nothing where the answer does not say, or is a no.
/// Errors: errc::invalid_profile for permissions that cannot be read, errc::invalid_request for
/// some that are given to a question about something else.
result<std::optional<given_permissions>> given_from(const answered_permissions& said,
                                                    const review_request& question,
                                                    review_decision decision);

} // namespace gatehouse::rpc::app
