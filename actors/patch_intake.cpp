#include "actors/patch_intake.hpp"

#include "policy/overlay.hpp"
#include "policy/path_text.hpp"
#include "policy/shell/patch_script.hpp"
#include "protocol/shell_quote.hpp"
#include "sandbox/host_paths.hpp"
#include "sandbox/patch_places.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::actors {
namespace {

exec_requirement forbidden(std::string reason) {
  exec_requirement requirement;
  requirement.kind = requirement_kind::forbidden;
  requirement.reason = std::move(reason);
  return requirement;
}

exec_requirement needs_approval(std::string reason) {
  exec_requirement requirement;
  requirement.kind = requirement_kind::needs_approval;
  requirement.reason = std::move(reason);
  return requirement;
}

exec_requirement skip() {
  exec_requirement requirement;
  requirement.kind = requirement_kind::skip;
  return requirement;
}

decision decision_of(requirement_kind kind) {
  switch (kind) {
  case requirement_kind::skip: return decision::allow;
  case requirement_kind::needs_approval: return decision::prompt;
  case requirement_kind::forbidden: return decision::forbidden;
  }
  return decision::forbidden;
}

std::string named(const std::vector<std::string>& paths) {
  constexpr std::size_t most_named = 100;
  std::string text;
  for (std::size_t i = 0; i < std::min(paths.size(), most_named); ++i)
    text += (i > 0 ? ", " : "") + shell_quote(paths[i]);
  if (paths.size() > most_named)
    text += " and " + std::to_string(paths.size() - most_named) + " more";
  return text;
}

/// A rule about `apply_patch` itself holds for patches too, when it restricts.
std::optional<exec_evaluation>
restricting_rule(const call_plan& plan, const policy::rule_set& rules, const fact_source& facts) {
  auto command = plan;
  command.what.argv = {"apply_patch"};
  command.what.sandbox_permissions = sandbox_permissions::use_default;
  auto said = judge(command, rules, facts);
  const bool restricts =
      std::any_of(said.segments.begin(), said.segments.end(), [](const judged_segment& segment) {
        return segment.judge == segment_judge::rule && segment.decision != decision::allow;
      });
  if (!restricts) return std::nullopt;
  said.requirement.proposed_amendment.clear();
  return said;
}

/// Adds a folder to the overlay, unless one above it is there.
void open_folder(additional_permissions& overlay, const std::string& folder) {
  auto& entries = overlay.entries;
  const auto path_of = [](const profile_entry& entry) {
    return std::get<literal_path>(entry.path).path;
  };
  if (std::any_of(entries.begin(), entries.end(), [&](const profile_entry& entry) {
        return policy::is_at_or_below(folder, path_of(entry));
      }))
    return;
  std::erase_if(entries, [&](const profile_entry& entry) {
    return policy::is_below(path_of(entry), folder);
  });
  entries.push_back({literal_path{folder}, access::write, false});
}

} // namespace

exec_requirement judge_patch_paths(call_plan& plan, const std::vector<std::string>& reads,
                                   const std::vector<std::string>& folders,
                                   const policy::access_context& context, bool& may_verify_first) {
  const bool has_grant = plan.permissions_preapproved && plan.widened_profile;
  const auto base = has_grant ? *plan.widened_profile : plan.profile;
  const auto context_here =
      base.kind == profile_kind::managed && base.file_system.restricted
          ? sandbox::with_facts(context, sandbox::gather_host_facts(base, context))
          : context;
  // A patch says itself what it needs; what the call asked for besides is of no use to it.
  if (!has_grant) {
    plan.what.additional_permissions.reset();
    plan.what.sandbox_permissions = sandbox_permissions::use_default;
    plan.widened_profile.reset();
    plan.permissions_preapproved = false;
  }

  for (const auto& path : reads) {
    const auto answer = policy::evaluate_access(base, context_here, path);
    if (answer.denied_explicitly())
      return forbidden("the patch reads " + shell_quote(path) + ", which is refused by " +
                       answer.decided_by);
    if (answer.granted == access::deny) may_verify_first = false;
  }
  additional_permissions opened;
  std::vector<std::string> outside;
  const auto& changes = plan.what.patch->changes;
  for (std::size_t i = 0; i < changes.size(); ++i)
    for (const auto* path : {&changes[i].from, &changes[i].path}) {
      if (path->empty()) continue;
      const auto answer = policy::evaluate_access(base, context_here, *path);
      if (answer.granted == access::write) continue;
      if (answer.denied_explicitly() || answer.is_protection)
        return forbidden("the patch writes " + shell_quote(*path) + ", which is refused by " +
                         answer.decided_by);
      outside.push_back(*path);
      const auto folder =
          path == &changes[i].from ? std::string{policy::parent_of(*path)} : folders[i];
      if (folder == "/")
        return forbidden("the patch writes " + shell_quote(*path) +
                         ", for which the whole file system would have to be writable");
      open_folder(opened, folder);
    }

  if (outside.empty())
    return plan.approval.mode == approval_mode::untrusted ? needs_approval({}) : skip();
  const auto what = "the patch writes outside of the writable folders: " + named(outside);
  if (plan.approval.mode == approval_mode::never)
    return forbidden(what + " (the approval policy is never)");
  if (plan.approval.mode == approval_mode::granular && !plan.approval.granular.sandbox_approval)
    return forbidden(what + " (the approval policy lets nobody be asked about that)");
  auto widened = policy::apply_overlay(base, opened, context_here);
  if (!widened) return forbidden(what + ": " + widened.error().message);
  // What stands protected in an opened folder stays so.
  const auto context_there =
      sandbox::with_facts(context, sandbox::gather_host_facts(*widened, context));
  for (const auto& path : outside)
    if (const auto answer = policy::evaluate_access(*widened, context_there, path);
        answer.granted != access::write)
      return forbidden("the patch writes " + shell_quote(path) + ", which is refused by " +
                       answer.decided_by);
  plan.what.additional_permissions =
      has_grant && plan.what.additional_permissions
          ? policy::merge_overlays(*plan.what.additional_permissions, opened)
          : opened;
  plan.what.sandbox_permissions = sandbox_permissions::with_additional_permissions;
  plan.widened_profile = *std::move(widened);
  plan.permissions_preapproved = false;
  return needs_approval(what);
}

result<std::optional<patch_intake>> take_in_patch(const call_plan& plan,
                                                  const policy::rule_set& rules,
                                                  const fact_source& facts,
                                                  const policy::access_context& context) {
  auto reading = policy::read_patch_command(plan.what.argv);
  if (!reading.patch && reading.refusal.empty()) return std::optional<patch_intake>{};
  patch_intake taken;
  taken.plan = plan;
  auto& evaluation = taken.evaluation;
  if (!reading.patch) {
    evaluation.requirement = forbidden(std::move(reading.refusal));
    evaluation.requirement.refused_by = refused_by::handler;
    return std::optional{std::move(taken)};
  }
  auto& what = taken.plan.what;
  what.patch.emplace();
  what.patch->text = std::move(reading.patch->text);
  what.patch->cwd = policy::absolute_below(what.cwd, reading.patch->folder);
  if (sandbox::look_at(what.patch->cwd).kind != sandbox::path_kind::directory)
    return error{errc::not_found,
                 "the folder " + shell_quote(what.patch->cwd) + " of the patch does not exist",
                 "name an existing folder; the patch makes the folders of its own files itself"};
  const auto parsed = parse_patch(what.patch->text);
  if (!parsed) return parsed.error();
  if (!parsed->environment_id.empty() && parsed->environment_id != what.environment_id)
    return error{errc::invalid_request,
                 "the patch is for the environment " + shell_quote(parsed->environment_id) +
                     ", and this call is for " + shell_quote(what.environment_id),
                 "leave the line `*** Environment ID:` out"};
  what.prefix_rule.clear();
  taken.plan.runtime.asks_after_denial_on_request = true;
  // Nothing about a patch needs the network, and so none is set up for it.
  taken.plan.managed_network = false;
  taken.plan.profile.network = network_policy::restricted;
  if (taken.plan.widened_profile) taken.plan.widened_profile->network = network_policy::restricted;
  std::vector<std::string> reads, folders;
  for (auto& place : sandbox::find_patch_places(*parsed, what.patch->cwd)) {
    if (!place.reads.empty()) reads.push_back(std::move(place.reads));
    folders.push_back(std::move(place.existing_folder));
    what.patch->changes.push_back(std::move(place.change));
  }
  auto here = context;
  here.cwd = plan.policy_cwd;
  here.project_roots = plan.workspace_roots;
  auto requirement = judge_patch_paths(taken.plan, reads, folders, here, taken.may_verify_first);
  judged_segment segment;
  segment.argv = {"apply_patch"};
  segment.decision = decision_of(requirement.kind);
  segment.why = requirement.reason.empty() ? describe(what.patch->changes) : requirement.reason;
  if (auto rule = restricting_rule(plan, rules, facts);
      rule && decision_of(rule->requirement.kind) >= segment.decision) {
    if (requirement.kind == rule->requirement.kind && !requirement.reason.empty())
      rule->requirement.reason += "; " + requirement.reason;
    evaluation = *std::move(rule);
  } else {
    evaluation.segments.push_back(std::move(segment));
    evaluation.requirement = std::move(requirement);
  }
  return std::optional{std::move(taken)};
}

result<std::optional<patch_intake>> take_in_patch(const call_plan& plan,
                                                  const judgement_terms& terms) {
  if (terms.elsewhere) {
    const auto reading = policy::read_patch_command(plan.what.argv);
    if (!reading.patch && reading.refusal.empty()) return std::optional<patch_intake>{};
    patch_intake refused{.plan = plan, .evaluation = {}};
    refused.evaluation.requirement =
        forbidden("patches are applied to files of this machine only, and this call is for the "
                  "environment `" +
                  plan.what.environment_id + "`; change the files there with a command");
    refused.evaluation.requirement.refused_by = refused_by::handler;
    return std::optional{std::move(refused)};
  }
  const auto search = search_for(plan, terms);
  return take_in_patch(
      plan, *terms.rules,
      [&](std::span<const std::string> words) { return sandbox::look_up_programs(words, search); },
      terms.context);
}

} // namespace gatehouse::actors
