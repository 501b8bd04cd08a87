#pragma once

#include "policy/requirement.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// Who is the cause of a question or refusal; decides which granular switch must be on (§34).
enum class cause_kind : std::uint8_t { rule, danger, override_request, unmatched };

/// One ground on which a command is not simply run.
struct cause {
  cause_kind kind = cause_kind::unmatched;
  gatehouse::decision decision = gatehouse::decision::prompt; ///< prompt or forbidden
  std::string why;             ///< justification, or why it is dangerous; may be empty
  std::size_t specificity = 0; ///< length of the matched prefix; 0: no rule of the user's
  std::vector<std::string> matched_prefix;
};

/// §D7, as a reason.
inline constexpr std::string_view unreadable_file_why =
    "a rule file could not be read, so a rule about this command may be missing";

/// What is settled about the whole request before any segment is judged.
struct judge_context {
  approval_mode mode = approval_mode::on_request;
  bool we_enforce = true;       ///< managed profile (§33, §D21)
  bool asks_override = false;   ///< the call asks for a wider boundary and may ask for it
  bool sandboxed = true;        ///< what is not let out runs in a sandbox of ours
  bool plain = false;           ///< command_analysis::plain
  bool from_script = false;     ///< a shell reads the plain commands: builtins win over programs
  bool trusted_shell = true;    ///< the shell that reads the script is not the agent's own
  bool unreadable_file = false; ///< §D7
};

struct segment_judgement {
  judged_segment shown;
  std::vector<cause> causes;
  /// An allow or the safe list may settle it: it is one of the plain commands.
  bool settles = false;
  bool allowed_by_rule = false; ///< settles, and the strictest matching rule allows
  bool lifts_sandbox = false;   ///< allowed_by_rule, and every matching allow says so (§36, §D4)
  /// Does not settle, and is not more than an allow speaks of: it has an allow of its own that
  /// lifts the sandbox.
  bool covered = false;
  std::size_t allowed_words = 0; ///< allowed_by_rule: words of the longest matching pattern
  bool matched = false;          ///< any rule matched
};

/// Judges one segment by rules, danger list, safe list and approval mode (§26–§33).
segment_judgement judge_segment(const command_segment& segment, bool settles,
                                const judge_context& context, const rule_set& rules,
                                const program_facts& facts);

/// Judges a file that runs as a program by the restrictive rules alone; nothing when none speaks.
std::optional<segment_judgement> judge_run_file(const run_file& file, const rule_set& rules,
                                                const program_facts& facts);

/// True when a program word may be trusted to be what its name says (§D22): a bare name unless it
/// resolves into a writable root; a path only when the trusted PATH leads to the same file.
bool is_trusted_program(std::string_view word, const program_facts& facts);

} // namespace gatehouse::policy
