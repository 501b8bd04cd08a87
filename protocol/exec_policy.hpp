#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse {

/// Command authority (§2a, §24). Ordered by strictness: the greatest of all matches wins.
enum class decision : std::uint8_t { allow = 0, prompt = 1, forbidden = 2 };

std::string_view to_string(decision d) noexcept;
std::optional<decision> decision_from(std::string_view text) noexcept;

/// How a segment was found in the command (§18, §18a, §20).
enum class segment_origin : std::uint8_t {
  plain,      ///< a plain command: the only kind that an allow or the safe list may judge
  nested,     ///< inside a construct (loop, substitution, here-document, nested shell, …)
  wrapper,    ///< behind a wrapper (`env`, `timeout`, `xargs`, `sudo`, …)
  powershell, ///< lowered from `pwsh -Command`
  opaque,     ///< not understood: the whole argv as it is
};
std::string_view to_string(segment_origin o) noexcept;

/// Who judged a segment (§26).
enum class segment_judge : std::uint8_t { rule, safe, danger, unmatched };
std::string_view to_string(segment_judge j) noexcept;

/// The rule that judged a segment, for people: `pattern` holds one list of alternatives per token.
struct rule_citation {
  std::vector<std::vector<std::string>> pattern;
  std::string file;
  int line = 0; ///< 1-based
  std::string justification;

  bool operator==(const rule_citation&) const = default;
};

struct judged_segment {
  std::vector<std::string> argv;
  segment_origin origin = segment_origin::plain;
  segment_judge judge = segment_judge::unmatched;
  gatehouse::decision decision = gatehouse::decision::allow;
  std::optional<rule_citation> rule;
  std::string why; ///< one line; empty where there is nothing to add

  bool operator==(const judged_segment&) const = default;
};

/// What must happen before a command may run (§35).
enum class requirement_kind : std::uint8_t { skip, needs_approval, forbidden };
std::string_view to_string(requirement_kind k) noexcept;

/// Who refused: exec policy, or, before any rule was asked, the tool handler (§D19) or a PreToolUse
/// hook (§D8).
enum class refused_by : std::uint8_t { policy, handler, hook };
/// "policy", "handler", "hook".
std::string_view to_string(refused_by r) noexcept;

struct exec_requirement {
  requirement_kind kind = requirement_kind::forbidden;
  /// Only with skip, and only from an explicit allow on every segment (§36, §37).
  bool bypass_sandbox = false;
  /// needs_approval, forbidden: why (§38, §39); may be empty for a heuristic prompt.
  std::string reason;
  /// A rule the reviewer may add (§40); empty: none.
  std::vector<std::string> proposed_amendment;
  bool amendment_exact = false;         ///< the rule would be for the whole command only
  bool amendment_keeps_sandbox = false; ///< it would stay inside the sandbox wherever it is added
  gatehouse::refused_by refused_by = gatehouse::refused_by::policy; ///< forbidden only

  bool operator==(const exec_requirement&) const = default;
};

/// True when the proposed rule, as it would be saved, lets the command run inside the sandbox only:
/// a question about a sandboxed attempt never offers more; one that a denial raises later does.
inline bool amendment_stays_inside(const exec_requirement& requirement, bool sandboxed) noexcept {
  return requirement.amendment_keeps_sandbox ||
         (sandboxed && requirement.kind == requirement_kind::needs_approval);
}

/// The whole answer of exec policy to one request.
struct exec_evaluation {
  std::vector<judged_segment> segments; ///< in source order, duplicates too
  bool complex = false; ///< no plain commands: safe list and amendments are off (§19)
  exec_requirement requirement;
  std::string
      unread; ///< what of the command cannot be read before it runs, and why; empty: nothing

  bool operator==(const exec_evaluation&) const = default;
};

} // namespace gatehouse
