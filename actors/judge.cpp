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
  const auto analysis = policy::analyze_command(request.argv);
  return policy::evaluate(request, analysis, rules,
                          facts(policy::program_words(request.argv, analysis)));
}

exec_evaluation judge(const call_plan& plan, const judgement_terms& terms) {
  if (terms.elsewhere)
    return judge(plan, *terms.rules,
                 [](std::span<const std::string>) { return policy::program_facts{}; });
  auto search = terms.search;
  search.cwd = plan.what.cwd;
  return judge(plan, *terms.rules, [&](std::span<const std::string> words) {
    return sandbox::look_up_programs(words, search);
  });
}

} // namespace gatehouse::actors
