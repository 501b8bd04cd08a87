#pragma once

#include "actors/guardian.hpp"
#include "actors/hooked_call.hpp"
#include "actors/judge.hpp"
#include "actors/session_terms.hpp"
#include "actors/shell_runtime.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse::actors {

using rules_result = result<std::shared_ptr<const policy::rule_set>>;

/// The rules at one moment, and what was found when they were last read.
struct rules_now {
  std::shared_ptr<const policy::rule_set> rules; ///< never null
  std::vector<std::string> warnings;             ///< each once
};

struct thread_terms;

/// Other terms for a thread whose configuration has changed.
struct terms_now {
  std::shared_ptr<const thread_terms> terms; ///< never null
  std::vector<std::string> roots;            ///< for people, as the workspace is told
  std::string profile;                       ///< likewise: its name
};

/// Everything that a thread is made of.
struct thread_terms {
  std::string id;
  session_terms session;
  judgement_terms judgement;   ///< its rules are replaced when an amendment is kept (§42)
  shell_terms shell;           ///< `loop` and `on_output` are set by the thread
  std::string patch_program;   ///< absolute path of gatehouse-sandbox-patch
  hook_settings hooks;         ///< `loop` and the turn are set by the thread
  guardian_transport guardian; ///< unset: there is no automatic reviewer (§48a)
  bool auto_review = false;    ///< it answers instead of the user
  std::string boundary;        ///< for it: what the sandbox keeps from commands

  std::string nobody_reason; ///< for refusals: why no person can be asked
  /// How long questions wait for a person to connect when none is; then they are refused.
  std::chrono::milliseconds reviewer_grace{0};
  /// How long a question stands before a person; zero: as long as it takes.
  std::chrono::milliseconds review_limit{0};
  /// How long a terminal session may live, and how long it may neither say nor be told anything;
  /// zero: for ever.
  std::chrono::milliseconds terminal_hard_limit{0};
  std::chrono::milliseconds terminal_idle_limit{0};
  bool session_approvals = false; ///< is "for the session" on offer (§52)?

  /// Looks whether the rule files have changed; asked before each call, so that it costs little
  /// when they have not. An error fails the call: what is in force is not known. Unset: they are
  /// fixed.
  std::function<result<rules_now>()> look_at_rules;

  /// Looks whether the configuration has changed; asked before each call, so that it costs little
  /// when it has not. Unset in the answer: the terms stand as they are. An error fails the call.
  /// Unset: the terms are fixed.
  std::function<result<std::optional<terms_now>>()> look_at_settings;

  /// Keeps an approved rule and answers with all rules as they then are (§42). Blocks: it is called
  /// on a worker, one at a time. Unset: rules are not kept.
  std::function<rules_result(const approved_rule&)> keep_rule;

  /// Keeps a decision about a host for good (§113). Blocks: it is called on a worker. Unset: it is
  /// not kept.
  std::function<result<void>(const host_key&, bool allow)> keep_host;

  std::size_t retained_bytes = 4 * 1024 * 1024; ///< of events, for clients that come back
};

} // namespace gatehouse::actors
