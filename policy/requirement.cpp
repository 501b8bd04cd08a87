#include "policy/requirement.hpp"

#include "policy/amendment.hpp"
#include "policy/command_words.hpp"
#include "policy/propose_amendment.hpp"
#include "policy/safety.hpp"
#include "policy/segment_judge.hpp"
#include "protocol/shell_quote.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

namespace gatehouse::policy {
namespace {

std::string_view name_of(approval_mode mode) noexcept {
  switch (mode) {
  case approval_mode::untrusted: return "untrusted";
  case approval_mode::on_request: return "on-request";
  case approval_mode::granular: return "granular";
  case approval_mode::never: return "never";
  }
  return "never";
}

/// A pre-approved overlay asks for nothing new (§15); leaving the sandbox is never pre-approved
/// (§16).
sandbox_permissions new_request(const exec_request& request) noexcept {
  const bool overlay =
      request.sandbox_permissions == sandbox_permissions::with_additional_permissions;
  return overlay && request.permissions_preapproved ? sandbox_permissions::use_default
                                                    : request.sandbox_permissions;
}

/// The last two rows of §129: who may not be asked for a wider boundary is refused at once (§D19).
std::string handler_refusal(const exec_request& request) {
  const auto wanted = new_request(request);
  if (request.approval.mode == approval_mode::on_request ||
      wanted == sandbox_permissions::use_default)
    return {};
  const bool escalates = wanted == sandbox_permissions::require_escalated;
  return (escalates ? "escalation" : "additional permissions") +
         (" disabled by policy: approval policy `" + std::string{name_of(request.approval.mode)}) +
         (escalates ? "` lets no call ask to leave the sandbox"
                    : "` takes only permissions that were granted before the call") +
         "; run the command inside the sandbox, or ask the user to change the approval policy";
}

/// The rule causes with the longest matched prefix; the last of equals (§38, §39).
const cause* most_specific(const std::vector<cause>& causes, decision wanted) {
  const cause* best = nullptr;
  for (const auto& c : causes)
    if (c.kind == cause_kind::rule && c.decision == wanted &&
        (best == nullptr || c.specificity >= best->specificity))
      best = &c;
  return best;
}

const cause* first_danger(const std::vector<cause>& causes) {
  const auto found = std::ranges::find(causes, cause_kind::danger, &cause::kind);
  return found == causes.end() ? nullptr : &*found;
}

std::string sentence(const std::vector<std::string>& argv, std::string_view rest) {
  return "`" + shell_join(argv) + "` " + std::string{rest};
}

std::string why_forbidden(const std::vector<std::string>& argv, const std::vector<cause>& causes) {
  if (const auto* rule = most_specific(causes, decision::forbidden)) {
    if (!rule->why.empty()) return sentence(argv, "rejected: " + rule->why);
    return sentence(argv, "rejected: policy forbids commands starting with `" +
                              shell_join(rule->matched_prefix) + "`");
  }
  const auto* danger = first_danger(causes);
  return sentence(argv, "rejected: " + (danger ? danger->why : std::string{"blocked by policy"}) +
                            ". Choose a safer way, or leave this step to the user");
}

/// Why a question is asked; empty where neither a rule nor the danger list is the cause.
std::string why_asked(const std::vector<std::string>& argv, const std::vector<cause>& causes) {
  if (const auto* rule = most_specific(causes, decision::prompt))
    return sentence(argv, rule->why.empty() ? "requires approval by policy"
                                            : "requires approval: " + rule->why);
  if (const auto* danger = first_danger(causes))
    return sentence(argv, "requires approval: " + danger->why);
  return {};
}

/// Why a due question may not be asked (§33, §34, §D6), or nothing when it may.
std::string why_not_asked(const approval_policy& approval, const std::vector<cause>& causes) {
  if (approval.mode == approval_mode::never) return "approval policy `never` asks nobody";
  if (approval.mode != approval_mode::granular) return {};
  for (const auto& c : causes) {
    const bool by_rule = c.kind == cause_kind::rule;
    if (by_rule && !approval.granular.rules)
      return "approval policy `granular` has `rules` switched off";
    if (!by_rule && !approval.granular.sandbox_approval)
      return "approval policy `granular` has `sandbox_approval` switched off";
  }
  return {};
}

exec_requirement forbid(std::string reason, refused_by by = refused_by::policy) {
  exec_requirement requirement;
  requirement.kind = requirement_kind::forbidden;
  requirement.reason = std::move(reason);
  requirement.refused_by = by;
  return requirement;
}

/// The requirement without bypass and amendment.
exec_requirement combine(const exec_request& request, const std::vector<cause>& causes) {
  if (std::ranges::find(causes, decision::forbidden, &cause::decision) != causes.end())
    return forbid(why_forbidden(request.argv, causes));
  exec_requirement requirement;
  if (causes.empty()) {
    requirement.kind = requirement_kind::skip;
    return requirement;
  }
  requirement.reason = why_asked(request.argv, causes);
  if (const auto silent = why_not_asked(request.approval, causes); !silent.empty()) {
    const auto asked = requirement.reason.empty() ? sentence(request.argv, "requires approval")
                                                  : requirement.reason;
    return forbid(asked + "; rejected: " + silent);
  }
  requirement.kind = requirement_kind::needs_approval;
  return requirement;
}

/// A restrictive rule about the shell itself (`["bash", "-lc"]`) speaks where the script is not a
/// list of plain commands, for then the shell is what is run.
std::optional<command_segment> shell_itself(const exec_request& request,
                                            const command_analysis& analysis) {
  if (analysis.plain || analysis.script.empty()) return std::nullopt;
  command_segment shell;
  shell.argv = request.argv;
  shell.origin = segment_origin::opaque;
  const bool listed = std::ranges::any_of(
      analysis.segments, [&](const auto& segment) { return segment.argv == shell.argv; });
  return listed ? std::nullopt : std::optional{std::move(shell)};
}

/// The commands of a plain script stand in segments of one origin, PowerShell's in its own (§20).
segment_origin settling_origin(const command_analysis& analysis) {
  const bool powershell = std::ranges::none_of(analysis.segments, [](const auto& segment) {
    return segment.origin == segment_origin::plain;
  });
  return analysis.plain && powershell ? segment_origin::powershell : segment_origin::plain;
}

class evaluation {
public:
  evaluation(const exec_request& request, const command_analysis& analysis, const rule_set& rules,
             const program_facts& facts)
      : request_{request}, analysis_{analysis}, rules_{rules}, facts_{facts} {
    const bool managed = request.profile.kind == profile_kind::managed;
    context_.mode = request.approval.mode;
    context_.we_enforce = managed;
    // Where we do not enforce there is nothing to escalate (§D21).
    context_.asks_override = managed && request.approval.mode == approval_mode::on_request &&
                             new_request(request) != sandbox_permissions::use_default;
    context_.sandboxed = managed && request.profile.file_system.restricted;
    context_.plain = analysis.plain;
    context_.from_script = !analysis.script.empty();
    settling_ = settling_origin(analysis);
    const bool reads_script = !analysis.script.empty() || settling_ == segment_origin::powershell;
    context_.trusted_shell = !reads_script || is_trusted_program(request.argv.front(), facts);
    context_.unreadable_file = rules.has_unreadable_file();
  }

  exec_evaluation run() {
    judge_segments();
    judge_whole();
    exec_evaluation result;
    result.complex = !analysis_.plain;
    result.unread = analysis_.unreadable_why;
    for (const auto& judgement : judgements_)
      result.segments.push_back(judgement.shown);
    if (auto refusal = handler_refusal(request_); !refusal.empty())
      result.requirement = forbid(std::move(refusal), refused_by::handler);
    else
      result.requirement = require();
    return result;
  }

private:
  void judge_segments() {
    if (const auto shell = shell_itself(request_, analysis_)) {
      auto judgement = judge_segment(*shell, false, context_, rules_, facts_);
      if (judgement.shown.judge == segment_judge::rule) judgements_.push_back(std::move(judgement));
    }
    for (const auto& segment : analysis_.segments)
      judgements_.push_back(judge_segment(segment, analysis_.plain && segment.origin == settling_,
                                          context_, rules_, facts_));
    for (const auto& file : analysis_.run_files)
      if (auto judgement = judge_run_file(file, rules_, facts_))
        judgements_.push_back(*std::move(judgement));
    for (const auto& judgement : judgements_)
      causes_.insert(causes_.end(), judgement.causes.begin(), judgement.causes.end());
    segment_causes_ = causes_.size();
  }

  /// What belongs to no single segment.
  void judge_whole() {
    const auto add = [&](cause_kind kind, decision verdict, std::string why) {
      causes_.push_back({kind, verdict, std::move(why), 0, {}});
    };
    if (const auto found = find_combined_danger(analysis_)) {
      if (context_.mode != approval_mode::never)
        add(cause_kind::danger, decision::prompt, found->why);
      else if (context_.we_enforce)
        add(cause_kind::danger, decision::forbidden, found->why);
    }
    if (!analysis_.unreadable_why.empty() && rules_.has_restrictive_rules())
      add(cause_kind::rule, decision::prompt,
          analysis_.unreadable_why + ", and a rule may forbid what it runs");
    if (analysis_.plain && context_.mode == approval_mode::untrusted && causes_.empty())
      if (const auto* hidden = uncovered_command())
        add(cause_kind::unmatched, decision::prompt,
            "it runs `" + shell_join(hidden->shown.argv) + "`, of which no rule speaks");
    if (request_.is_session && !analysis_.takes_commands.empty() && rules_.has_restrictive_rules())
      add(cause_kind::rule, decision::prompt,
          "`" + analysis_.takes_commands +
              "` takes its commands from what is written to the session later, where no rule sees "
              "them, and a rule may forbid them");
    // A rule that keeps the sandbox settles the command, not the wider boundary that is asked for.
    if (analysis_.plain && context_.asks_override && causes_.empty() && !may_bypass())
      add(cause_kind::override_request, decision::prompt, {});
    if (analysis_.plain) return;
    if (context_.unreadable_file)
      add(cause_kind::rule, decision::prompt, std::string{unreadable_file_why});
    if (context_.asks_override) add(cause_kind::override_request, decision::prompt, {});
    if (context_.mode == approval_mode::untrusted) add(cause_kind::unmatched, decision::prompt, {});
  }

  exec_requirement require() {
    auto requirement = combine(request_, causes_);
    if (requirement.kind == requirement_kind::forbidden) return requirement;
    requirement.bypass_sandbox = requirement.kind == requirement_kind::skip && may_bypass();
    // An approval of an overlay is about this one call; a rule would lift the sandbox instead.
    const bool overlay = context_.asks_override &&
                         request_.sandbox_permissions != sandbox_permissions::require_escalated;
    if (analysis_.plain && causes_.size() == segment_causes_ && !requirement.bypass_sandbox &&
        !overlay)
      requirement.proposed_amendment = propose_amendment(request_, judgements_, facts_);
    if (const auto& prefix = requirement.proposed_amendment; !prefix.empty()) {
      requirement.amendment_exact = needs_exact_rule(prefix);
      requirement.amendment_keeps_sandbox = keeps_sandbox(prefix);
    }
    return requirement;
  }

  /// The first command inside another one (behind a wrapper, in its words) that the other's allow
  /// does not speak of: neither is it named by the rule nor has it an allow of its own.
  [[nodiscard]] const segment_judgement* uncovered_command() const {
    const segment_judgement* holder = nullptr;
    for (const auto& judgement : judgements_) {
      if (judgement.settles) {
        holder = &judgement;
        continue;
      }
      if (judgement.covered || holder == nullptr || !holder->allowed_by_rule) continue;
      const auto named = words{holder->shown.argv}.first(holder->allowed_words);
      const auto program = program_name(judgement.shown.argv[0]);
      if (std::ranges::none_of(named, [&](const auto& w) { return program_name(w) == program; }))
        return &judgement;
    }
    return nullptr;
  }

  /// Only an explicit allow on every command, and never past a denied read (§36, §37, §58).
  [[nodiscard]] bool may_bypass() const {
    if (!analysis_.plain || !context_.trusted_shell || has_denied_reads(request_.profile) ||
        uncovered_command() != nullptr)
      return false;
    bool any = false;
    for (const auto& judgement : judgements_) {
      if (!judgement.settles) continue;
      if (!judgement.lifts_sandbox) return false;
      any = true;
    }
    return any;
  }

  const exec_request& request_;
  const command_analysis& analysis_;
  const rule_set& rules_;
  const program_facts& facts_;
  judge_context context_;
  segment_origin settling_ = segment_origin::plain; ///< which segments an allow may settle
  std::vector<segment_judgement> judgements_;
  std::vector<cause> causes_;
  std::size_t segment_causes_ = 0; ///< the first so many causes come from segments
};

} // namespace

std::vector<std::string> program_words(std::span<const std::string> argv,
                                       const command_analysis& analysis, const rule_set& rules) {
  std::vector<std::string> found;
  std::unordered_set<std::string_view> known;
  const auto add = [&](const std::string& word) {
    if (known.insert(word).second) found.push_back(word);
  };
  if (!argv.empty()) add(argv.front());
  for (const auto& segment : analysis.segments)
    add(segment.argv.front());
  if (!rules.has_restrictive_rules()) return found;
  for (const auto& file : analysis.run_files)
    add(file.command.argv.front());
  for (const auto& path : rules.restricted_paths())
    add(path.word);
  return found;
}

exec_evaluation evaluate(const exec_request& request, const command_analysis& analysis,
                         const rule_set& rules, const program_facts& facts) {
  return evaluation{request, analysis, rules, facts}.run();
}

} // namespace gatehouse::policy
