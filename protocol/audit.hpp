#pragma once

#include "protocol/call_report.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/review.hpp"
#include "protocol/sandbox_choice.hpp"
#include "protocol/thread_event.hpp"
#include "protocol/tool_call.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse {

/// What an entry of the audit tells (§205).
enum class audit_kind : std::uint8_t {
  session,     ///< a program of ours has begun, under these terms
  request,     ///< a call has come, as it was proposed
  decision,    ///< what exec policy said about it, and which rule
  question,    ///< somebody is asked
  review,      ///< the answer
  attempt,     ///< it is about to run, within this boundary
  denial,      ///< the boundary refused something
  attempt_end, ///< how the attempt ended
  end,         ///< how the call ended
  grant,       ///< what the session gives to later calls, or takes back
  amendment,   ///< a rule is about to be added for good
  pruned,      ///< older entries were taken out (retention)
  lost,        ///< so many could not be written, nor kept until they could be
};
/// "session", "request", …
std::string_view to_string(audit_kind k) noexcept;
std::optional<audit_kind> audit_kind_from(std::string_view word) noexcept;
/// All of them, for people: "session, request, …".
std::string audit_kind_list();

/// One entry before it is written. What is secret in it is redacted by whoever writes it.
struct audit_record {
  audit_kind kind = audit_kind::session;
  std::string session; ///< thread, or session of an exec server
  std::string turn;    ///< empty: none
  std::string call;    ///< empty: it is about none
  int attempt = 0;     ///< 0: it is about none
  std::string body;    ///< one JSON object
};
using audit_record_ptr = std::shared_ptr<const audit_record>;

// The bodies.

/// @param program "run", "serve", …
std::string audit_session(std::string_view program, std::string_view version, std::string_view cwd,
                          std::string_view approval_json, std::string_view profile_json,
                          sandbox_backend backend);
std::string audit_request(std::string_view tool, const proposal& what);
/// Also a record for `policy replay`: {"request": …, "decision": …}. Decisions that rules alone do
/// not make (a patch, a hook's refusal) have `"replay": false`.
std::string audit_decision(const proposal& what, std::string_view approval_json,
                           std::string_view profile_json, const exec_evaluation& evaluation,
                           const sandbox_summary& first);
std::string audit_question(const review_request& asked);
std::string audit_review(const review_answer& answer);
/// @param review_id of the approval; empty: policy allowed it without a question
std::string audit_attempt(const proposal& what, sandbox_backend sandbox, network_mode network,
                          std::string_view profile_json, std::string_view review_id);
/// Of write_stdin, to a terminal session.
std::string audit_stdin(int session_id);
/// A person typed so many bytes into a terminal session; not which, since they may be a secret.
std::string audit_typed(int session_id, std::size_t bytes);
/// The processes of a session get a signal.
std::string audit_signalled(int session_id, int signal);
/// The terminal of a session gets another size.
std::string audit_resized(int session_id, int rows, int columns);
/// Of an exec server: a call about files.
/// @param profile_json empty: no boundary
std::string audit_file_call(std::string_view method, std::string_view path,
                            std::string_view destination, std::size_t bytes,
                            std::string_view profile_json);
std::string audit_denial(const denial& what);
/// Of the managed network.
std::string audit_denial(const blocked_connection& what);
std::string audit_attempt_end(const attempt_record& ended);
std::string audit_end(const call_report& report);
/// @param what "rule" or "host", @param text the line that is added
std::string audit_amendment(std::string_view what, std::string_view text);
/// @param change "given" or "revoked"
/// @param what "turn", "session"; revoked: "grant", "approval", "host"
/// @param which the permissions as JSON; revoked: the id
std::string audit_grant(std::string_view change, std::string_view what, std::string_view which);

} // namespace gatehouse
