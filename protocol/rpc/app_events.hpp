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

/// A question as reviewers see it. `seq` is that of the event in which it was asked.
approval_request approval_of(const std::string& thread_id, const std::string& turn_id,
                             std::uint64_t seq, const review_request& question);

/// The result of a tool call.
tool_call_result result_of(const call_report& report);

/// The decision that a client names: accept, acceptForSession, decline, cancel, or
/// {"acceptWithExecpolicyAmendment":{"execpolicy_amendment":[…]}} with exactly the proposed prefix.
/// None when it is not one of those that were on offer.
std::optional<review_decision> decision_from(const json_tree& decision,
                                             const review_request& question);

} // namespace gatehouse::rpc::app
