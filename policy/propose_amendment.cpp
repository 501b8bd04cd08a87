#include "policy/propose_amendment.hpp"

#include "policy/amendment.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

/// One allow rule for `prefix`, matched as at run time, so that what real files forbid (§D3) is not
/// promised.
class candidate {
public:
  candidate(std::vector<std::string> prefix, const program_facts& facts) : facts_{facts} {
    prefix_rule rule;
    for (auto& token : prefix)
      rule.pattern.push_back({std::move(token)});
    rule_file file;
    file.rules.push_back(std::move(rule));
    std::vector<rule_file> files;
    files.push_back(std::move(file));
    rules_ = rule_set{std::move(files)};
  }

  [[nodiscard]] bool allows(const segment_judgement& judgement) const {
    return !rules_.match_at_run_time(judgement.shown.argv, facts_).empty();
  }

private:
  const program_facts& facts_;
  rule_set rules_;
};

bool is_narrow(const std::vector<std::string>& prefix) {
  return !is_banned_prefix(prefix) && is_presentable_prefix(prefix);
}

/// A rule that keeps the sandbox does not answer a question about leaving it.
bool helps(const exec_request& request, const std::vector<std::string>& prefix) {
  return !keeps_sandbox(prefix) || request.sandbox_permissions == sandbox_permissions::use_default;
}

bool suggestion_settles(const exec_request& request, std::span<const segment_judgement> judgements,
                        const program_facts& facts) {
  if (!is_narrow(request.prefix_rule) || !helps(request, request.prefix_rule)) return false;
  if (std::ranges::any_of(judgements, &segment_judgement::matched)) return false;
  const candidate rule{request.prefix_rule, facts};
  bool used = false;
  for (const auto& judgement : judgements) {
    if (!judgement.settles) continue;
    const bool allows = rule.allows(judgement);
    used = used || allows;
    if (!allows && !judgement.causes.empty()) return false;
  }
  return used;
}

} // namespace

std::vector<std::string> propose_amendment(const exec_request& request,
                                           std::span<const segment_judgement> judgements,
                                           const program_facts& facts) {
  const auto asks = [](const segment_judgement& judgement) { return !judgement.causes.empty(); };
  for (const auto& judgement : judgements)
    for (const auto& found : judgement.causes)
      if (!judgement.settles || found.kind == cause_kind::rule) return {};
  if (suggestion_settles(request, judgements, facts)) return request.prefix_rule;

  auto first = std::ranges::find_if(judgements, asks);
  const bool asked = first != judgements.end();
  if (!asked) {
    // Nobody is asked: only a denial later may raise the question (§35).
    if (std::ranges::any_of(judgements, &segment_judgement::matched)) return {};
    first = std::ranges::find_if(judgements, [](const auto& judgement) {
      return judgement.settles && judgement.shown.judge == segment_judge::unmatched;
    });
    if (first == judgements.end()) return {};
  }
  const auto& argv = first->shown.argv;
  if (!helps(request, argv)) return {};
  if (!is_narrow(argv)) return {};
  // A rule for a part of it would be saved and change nothing for this call.
  const candidate rule{argv, facts};
  const bool settles_all = std::ranges::all_of(judgements, [&](const auto& judgement) {
    return !judgement.settles || (asked && !asks(judgement)) || rule.allows(judgement);
  });
  return settles_all ? argv : std::vector<std::string>{};
}

} // namespace gatehouse::policy
