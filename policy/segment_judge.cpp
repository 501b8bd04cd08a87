#include "policy/segment_judge.hpp"

#include "policy/git_commands.hpp"
#include "policy/global_options.hpp"
#include "policy/safety.hpp"
#include "policy/shell_builtins.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

bool is_safe(const command_segment& segment, const judge_context& context,
             const program_facts& facts) {
  const auto& argv = segment.argv;
  if (!context.trusted_shell || segment.has_assignment || segment.has_redirection ||
      segment.unknown_words > 0 || !is_trusted_program(argv[0], facts))
    return false;
  if (segment.origin == segment_origin::powershell) return is_known_safe_powershell(argv);
  if (!is_known_safe(argv)) return false;
  // Even a reading git starts what the repository configures; the agent may have written that.
  if (!context.sandboxed && runs_configured_programs(argv[0])) return false;
  if (!is_shell_wrapper(argv)) return true;
  const auto inner = plain_commands(argv[2]);
  return inner && std::ranges::all_of(*inner, [&](const auto& command) {
           return is_trusted_program(command[0], facts) &&
                  (context.sandboxed || !runs_configured_programs(command[0]));
         });
}

cause cause_of(const rule_match& match) {
  return {cause_kind::rule, match.rule->decision, match.rule->justification,
          match.matched_prefix.size(), match.matched_prefix};
}

void ask(segment_judgement& result, cause_kind kind, std::string why) {
  result.shown.decision = decision::prompt;
  result.shown.why = why;
  result.causes.push_back({kind, decision::prompt, std::move(why), 0, {}});
}

/// A word that only shows when the command runs may complete a restrictive rule (§18a).
void judge_unknown_words(segment_judgement& result, const command_segment& segment,
                         const rule_set& rules, const program_facts& facts) {
  if (segment.first_unknown < 0) return;
  const auto known_words = static_cast<std::size_t>(segment.first_unknown);
  if (const auto* rule = rules.restrictive_rule_beyond(segment.argv, known_words, facts)) {
    ask(result, cause_kind::rule, "a word of it is only known when it runs, and a rule may match");
    result.shown.judge = segment_judge::rule;
    result.shown.rule = cite(*rule);
  }
}

/// Every rule that matches the command, and every restrictive one that matches it without its
/// global options, which change nothing about what the subcommand does.
std::vector<rule_match> find_matches(const std::vector<std::string>& argv, const rule_set& rules,
                                     const program_facts& facts) {
  auto matches = rules.match_at_run_time(argv, facts);
  if (!rules.has_restrictive_rules()) return matches;
  if (const auto shorter = without_global_options(argv))
    for (auto& match : rules.match_at_run_time(*shorter, facts)) {
      const bool known =
          std::ranges::any_of(matches, [&](const auto& other) { return other.rule == match.rule; });
      if (match.rule->decision != decision::allow && !known) matches.push_back(std::move(match));
    }
  return matches;
}

/// Git starts what its repository configures; only a reading git in a repository whose
/// configuration is out of reach does what its words say.
bool runs_what_others_wrote(const std::vector<std::string>& argv, const program_facts& facts) {
  if (!runs_configured_programs(argv[0])) return false;
  const auto known = facts.find(argv[0]);
  return program_name(argv[0]) != "git" || !is_read_only_git(argv) || known == facts.end() ||
         known->second.in_writable_repository;
}

/// Rules come first (§26). Returns false when they leave the segment to the heuristics.
bool judge_by_rules(segment_judgement& result, const std::vector<rule_match>& matches,
                    bool is_builtin, const program_facts& facts) {
  result.matched = !matches.empty();
  if (matches.empty()) return false;
  const auto verdict = strictest(matches);
  const bool needs_word = runs_what_others_wrote(result.shown.argv, facts);
  const bool may_lift = std::ranges::all_of(matches, [&](const auto& match) {
    return match.rule->sandbox == rule_sandbox::bypass && (match.rule->says_sandbox || !needs_word);
  });
  if (verdict == decision::allow && (!result.settles || is_builtin)) {
    result.covered = may_lift && !is_builtin;
    return false;
  }
  const rule_match* best = &matches.front();
  for (const auto& match : matches) {
    if (match.rule->decision != decision::allow) result.causes.push_back(cause_of(match));
    if (match.rule->decision == verdict &&
        (best->rule->decision != verdict ||
         match.matched_prefix.size() >= best->matched_prefix.size()))
      best = &match;
  }
  result.shown.judge = segment_judge::rule;
  result.shown.decision = verdict;
  result.shown.rule = cite(*best->rule);
  result.allowed_by_rule = verdict == decision::allow;
  if (!result.allowed_by_rule) return true;
  result.allowed_words = best->matched_prefix.size();
  result.lifts_sandbox = may_lift;
  if (!may_lift && needs_word)
    result.shown.why = "it stays in the sandbox, for it runs what the repository configures, "
                       "unless the rule says sandbox=\"bypass\"";
  return true;
}

/// Why no rule allows what the text of one allows; empty: none does.
std::string why_not_covered(const std::vector<std::string>& argv, const rule_set& rules,
                            const program_facts& facts) {
  const auto matches = rules.match(argv, true, {}, {});
  const auto allows = std::ranges::find(
      matches, decision::allow, [](const rule_match& match) { return match.rule->decision; });
  if (allows == matches.end()) return {};
  const auto known = facts.find(argv[0]);
  std::string why = "a rule allows it, for a program that is found outside of what commands may "
                    "write; ";
  if (known == facts.end() || known->second.real_path.empty()) return why + "none is found";
  if (known->second.in_writable_root) return why + "this one lies where they may";
  return why + "the rule does not cover the file that this one is";
}

void judge_danger(segment_judgement& result, const danger& found, const judge_context& context) {
  auto verdict = decision::prompt;
  if (context.mode == approval_mode::never)
    verdict = context.we_enforce ? decision::forbidden : decision::allow;
  result.shown.judge = segment_judge::danger;
  result.shown.decision = std::max(result.shown.decision, verdict);
  result.shown.why = found.why;
  if (verdict != decision::allow)
    result.causes.push_back({cause_kind::danger, verdict, found.why, 0, {}});
}

} // namespace

std::optional<segment_judgement> judge_run_file(const run_file& file, const rule_set& rules,
                                                const program_facts& facts) {
  if (!rules.has_restrictive_rules()) return std::nullopt;
  segment_judgement result;
  result.shown.argv = file.command.argv;
  result.shown.origin = file.command.origin;
  judge_unknown_words(result, file.command, rules, facts);
  auto matches = find_matches(file.command.argv, rules, facts);
  std::erase_if(matches, [](const rule_match& m) { return m.rule->decision == decision::allow; });
  judge_by_rules(result, matches, false, facts);
  if (result.causes.empty() && !file.place_known)
    if (const auto* rule = rules.restrictive_rule_on_a(file.command.argv)) {
      ask(result, cause_kind::rule,
          "its folder is only known when it runs, and a rule may mean it");
      result.shown.judge = segment_judge::rule;
      result.shown.rule = cite(*rule);
    }
  if (result.causes.empty()) return std::nullopt;
  return result;
}

bool is_trusted_program(std::string_view word, const program_facts& facts) {
  const auto known = facts.find(word);
  const bool is_path = word.find('/') != std::string_view::npos || word.starts_with('~');
  if (known == facts.end()) return !is_path;
  const auto& fact = known->second;
  return !fact.in_writable_root && (!is_path || fact.on_trusted_path);
}

segment_judgement judge_segment(const command_segment& segment, bool settles,
                                const judge_context& context, const rule_set& rules,
                                const program_facts& facts) {
  segment_judgement result;
  result.settles = settles;
  result.shown.argv = segment.argv;
  result.shown.origin = segment.origin;
  judge_unknown_words(result, segment, rules, facts);
  const bool is_builtin = (segment.origin == segment_origin::nested ||
                           (segment.origin == segment_origin::plain && context.from_script)) &&
                          acts_inside_shell(segment.argv);
  if (judge_by_rules(result, find_matches(segment.argv, rules, facts), is_builtin, facts))
    return result;
  result.covered = result.covered && !segment.has_assignment && segment.unknown_words == 0;
  if (const auto found = find_danger(segment)) {
    judge_danger(result, *found, context);
    return result;
  }
  if (!settles) {
    // The command that holds this one is judged on its own; without such a command nothing but the
    // mode decides.
    if (context.unreadable_file)
      ask(result, cause_kind::rule, std::string{unreadable_file_why});
    else if (context.mode == approval_mode::untrusted && !context.plain)
      ask(result, cause_kind::unmatched,
          segment.unknown_words > 0
              ? "a word of it is only known when it runs, so no list can say that it is harmless"
              : "the script is more than a list of plain commands");
    return result;
  }
  const bool safe = is_safe(segment, context, facts);
  if (safe) result.shown.judge = segment_judge::safe;
  if (context.unreadable_file)
    ask(result, cause_kind::rule, std::string{unreadable_file_why});
  else if (context.asks_override)
    ask(result, cause_kind::override_request, "");
  else if (context.mode == approval_mode::untrusted && !safe)
    ask(result, cause_kind::unmatched, why_not_covered(segment.argv, rules, facts));
  return result;
}

} // namespace gatehouse::policy
