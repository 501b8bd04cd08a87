#pragma once

#include "protocol/exec_policy.hpp"
#include "protocol/network.hpp"
#include "protocol/sandbox_choice.hpp"
#include "protocol/tool_call.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse {

/// What a reviewer may answer (§51). Denied lets the agent go on; abort waits for the user.
enum class review_decision : std::uint8_t {
  approved,
  approved_execpolicy_amendment, ///< once, and the proposed rule is added (§42)
  approved_for_session,          ///< the only one that is cached (§52)
  network_policy_amendment,
  denied,
  timed_out,
  abort,
};
std::string_view to_string(review_decision d) noexcept;
/// True for the three approvals; a network amendment is judged by its own action.
bool is_approval(review_decision d) noexcept;

/// Who answered (§48).
enum class reviewer_kind : std::uint8_t { hook, guardian, user, none };
/// "hook", "guardian", "user", "none".
std::string_view to_string(reviewer_kind k) noexcept;

/// How long permissions last that a call was given (§16a).
enum class grant_scope : std::uint8_t { turn, session };
/// "turn", "session".
std::string_view to_string(grant_scope s) noexcept;

/// What request_permissions was given; never more than it asked for (§16a).
struct given_permissions {
  additional_permissions permissions;
  grant_scope scope = grant_scope::turn;
  bool strict_auto_review = false; ///< from now on every call of the turn is reviewed (§49)

  bool operator==(const given_permissions&) const = default;
};

/// `{"permissions":…,"scope":…}`, with `"strict_auto_review":true` where it holds: the result that
/// the agent sees.
std::string encode_given_permissions(const given_permissions& given);

/// What made a question necessary.
enum class ask_source : std::uint8_t {
  policy,        ///< the approval policy asks before a call like this one
  rule,          ///< a prompt rule
  danger,        ///< the list of dangerous commands
  unmatched,     ///< no rule and no list knows the command
  escalation,    ///< the call asks to leave the sandbox
  permissions,   ///< the call asks for more permissions
  patch,         ///< a patch, or where it writes
  denial,        ///< the sandbox refused something to the attempt before
  network,       ///< a host that nothing allows
  stdin_write,   ///< input to a process outside of the sandbox
  strict_review, ///< every call is reviewed (§49)
};

struct ask_cause {
  ask_source source = ask_source::policy;
  std::vector<std::string> segment; ///< the part of the command that it is about; empty: all of it
  std::string rule; ///< `rule`, `network`: "FILE:LINE", or the domain rule; may be empty
};

/// What policy made of a call, and the boundary of its first attempt: what it ran by, or will.
struct call_judgement {
  exec_evaluation evaluation;
  sandbox_summary sandbox;
};

/// A question to a reviewer about exactly one attempt of one call.
struct review_request {
  std::string review_id; ///< never the call id; every attempt's review has its own (§50)
  std::string call_id;
  std::string tool = "shell_command";
  int attempt = 1;
  proposal what;               ///< exactly this object runs when approved; request_permissions: its
                               ///< overlay is what is asked for, and there is no argv
  std::string digest;          ///< binds an answer to `what` (argv, cwd, tty, permissions)
  std::string reason;          ///< why it is asked
  std::string will_be_allowed; ///< one sentence: what an approval allows, and what stays forbidden
  /// Files that redirections of the command write; see policy/written_files.hpp.
  std::vector<std::string> write_targets;
  std::vector<std::string> proposed_amendment; ///< empty: "add rule" is not offered
  bool session_offered = false;                ///< is "for the session" on offer?
  bool without_sandbox = false; ///< does an approval cover leaving the sandbox (§D5)?
  bool strict = false; ///< strict review: only the automatic reviewer may say yes unasked (§49)
  std::optional<host_key> network; ///< set: it asks for this host only, while the command runs
  /// A prompt rule decides about the host: it would beat a rule that allows it for good.
  bool prompt_rule_stands = false;
  bool user_may_be_asked = true; ///< false: the approval policy lets no person be asked (§33)
  ask_cause cause;
  /// Of the call that it is about, as it was judged before it was asked; see why_text(). Null:
  /// nothing was judged (request_permissions, write_stdin).
  std::shared_ptr<const call_judgement> judged;
  std::chrono::milliseconds time_limit{0}; ///< how long it stands before a person; zero: no end
};

struct review_answer {
  std::string review_id; ///< of the question that was answered
  std::string digest;    ///< of what the reviewer was shown; another one than asked is a refusal
  review_decision decision = review_decision::denied;
  reviewer_kind reviewer = reviewer_kind::none;
  std::string reason;       ///< the reviewer's words, or why no reviewer could be asked
  bool denies_host = false; ///< network_policy_amendment: the rule to add denies the host
  /// request_permissions only: a yes to this much, for this long. Unset: to what was asked, for the
  /// turn, or for the session when the decision says so.
  std::optional<given_permissions> permissions{};
};

} // namespace gatehouse
