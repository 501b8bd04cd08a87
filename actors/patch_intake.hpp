#pragma once

#include "actors/call_flow.hpp"
#include "actors/judge.hpp"
#include "policy/access.hpp"
#include "protocol/result.hpp"

#include <optional>

namespace gatehouse::actors {

/// A call that is a patch (§11), with what policy says of it.
struct patch_intake {
  call_plan plan; ///< its `what.patch` is set, and the overlay that the patch needs
  exec_evaluation evaluation;
  /// The files can be read under the plan's own profile: whether the patch fits may be found out
  /// before anybody is asked.
  bool may_verify_first = true;
};

/// Reads the command of a call as a patch. No value in it: an ordinary command. An evaluation with
/// an empty plan.what.patch: it names apply_patch in a form that is not understood, or the call is
/// for another machine (§7), and is refused.
/// Errors: the patch cannot be read; nothing may run.
result<std::optional<patch_intake>> take_in_patch(const call_plan& plan,
                                                  const judgement_terms& terms);

/// The same with rules and facts handed in.
result<std::optional<patch_intake>> take_in_patch(const call_plan& plan,
                                                  const policy::rule_set& rules,
                                                  const fact_source& facts,
                                                  const policy::access_context& context);

/// What must happen before a patch of these files may be applied: files that the profile lets be
/// written need nothing (but under `untrusted` a question), others a question that names each,
/// protected and denied ones are refused (§63, §64). Sets overlay and widened profile of `plan`.
/// @pre plan.what.patch is set. @param reads the files whose text is read
exec_requirement judge_patch_paths(call_plan& plan, const std::vector<std::string>& reads,
                                   const std::vector<std::string>& folders,
                                   const policy::access_context& context, bool& may_verify_first);

} // namespace gatehouse::actors
