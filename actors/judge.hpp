#pragma once

#include "actors/call_flow.hpp"
#include "policy/access.hpp"
#include "policy/rules/rule_set.hpp"
#include "sandbox/program_lookup.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace gatehouse::actors {

/// What calls are judged by.
struct judgement_terms {
  std::shared_ptr<const policy::rule_set> rules; ///< never null
  sandbox::program_search search;                ///< `cwd` is taken from the call
  /// The programs are on another machine: nothing is known of them, so none is trusted.
  bool elsewhere = false;
  /// What protects paths that a patch names; cwd and roots are taken from the call.
  policy::access_context context;
};

/// Where the programs of a plan are looked up.
sandbox::program_search search_for(const call_plan& plan, const judgement_terms& terms);

/// Exec policy's answer to a plan (§17): the one place where command, rules, facts and approval
/// policy meet. Looks at the host's programs; runs nothing.
exec_evaluation judge(const call_plan& plan, const judgement_terms& terms);

/// Where the facts of program words come from.
using fact_source = std::function<policy::program_facts(std::span<const std::string> words)>;

/// The same with facts that the caller looks up, or remembers.
exec_evaluation judge(const call_plan& plan, const policy::rule_set& rules,
                      const fact_source& facts);

} // namespace gatehouse::actors
