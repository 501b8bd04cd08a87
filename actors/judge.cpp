#include "actors/judge.hpp"

#include "policy/requirement.hpp"
#include "policy/shell/segments.hpp"

namespace gatehouse::actors {

exec_evaluation judge(const call_plan& plan, const policy::rule_set& rules,
                      const fact_source& facts) {
  policy::exec_request request;
  request.argv = plan.what.argv;
  request.approval = plan.approval;
  request.profile = plan.profile;
  request.sandbox_permissions = plan.what.sandbox_permissions;
  request.permissions_preapproved = plan.permissions_preapproved;
  request.prefix_rule = plan.what.prefix_rule;
  request.is_session = plan.what.tty; // the only ones with an input that stays open
  const auto analysis = policy::analyze_command(request.argv);
  return policy::evaluate(request, analysis, rules,
                          facts(policy::program_words(request.argv, analysis, rules)));
}

sandbox::program_search search_for(const call_plan& plan, const judgement_terms& terms) {
  auto search = terms.search;
  search.cwd = plan.what.cwd;
  if (!terms.rules->has_restrictive_rules()) search.names.reset();
  return search;
}

exec_evaluation judge(const call_plan& plan, const judgement_terms& terms) {
  if (terms.elsewhere)
    return judge(plan, *terms.rules,
                 [](std::span<const std::string>) { return policy::program_facts{}; });
  const auto search = search_for(plan, terms);
  return judge(plan, *terms.rules, [&](std::span<const std::string> words) {
    return sandbox::look_up_programs(words, search);
  });
}

} // namespace gatehouse::actors
