#include "actors/question_text.hpp"

#include "protocol/denial_message.hpp"
#include "protocol/shell_quote.hpp"
#include "protocol/visible_text.hpp"

namespace gatehouse::actors {
namespace {

/// "write /srv/data, read /etc/ssl, use the network"
/// @param managed_network it is the managed one, and has rules of its own
std::string describe_overlay(const additional_permissions& overlay, bool managed_network) {
  std::string out;
  const auto add = [&out](const std::string& part) {
    if (!out.empty()) out += ", ";
    out += part;
  };
  for (const auto& entry : overlay.entries)
    add(std::string{to_string(entry.access)} + " " + visible_text(describe(entry.path)));
  if (overlay.network_enabled)
    add(!*overlay.network_enabled ? "no network"
        : managed_network ? "use the managed network (this opens no host that its rules do not)"
                          : "use the network");
  return out.empty() ? "nothing" : out;
}

std::string opened_protections(const call_plan& plan) {
  std::string text;
  for (const auto& one : plan.opens_protected)
    text += (text.empty() ? " It opens what is PROTECTED: " : ", ") + one;
  return text.empty() ? text : text + ".";
}

} // namespace

std::string first_reason(const call_plan& plan, const exec_requirement& requirement) {
  if (!requirement.reason.empty()) return requirement.reason;
  if (plan.what.patch) return "the approval policy asks before every patch";
  if (!plan.what.justification.empty())
    return "the agent asks, and says: " + plan.what.justification;
  return "the approval policy asks before a command like this one";
}

ask_cause first_cause(const call_plan& plan, const exec_evaluation& evaluation) {
  const auto asks = [&](segment_judge by) -> const judged_segment* {
    for (const auto& segment : evaluation.segments)
      if (segment.judge == by && segment.decision == decision::prompt) return &segment;
    return nullptr;
  };
  if (const auto* segment = asks(segment_judge::rule)) {
    const auto& rule = segment->rule;
    return {ask_source::rule, segment->argv,
            rule && !rule->file.empty() ? rule->file + ":" + std::to_string(rule->line) : ""};
  }
  if (const auto* segment = asks(segment_judge::danger))
    return {ask_source::danger, segment->argv, {}};
  if (plan.what.patch) return {ask_source::patch, {}, {}};
  if (plan.what.sandbox_permissions == sandbox_permissions::require_escalated)
    return {ask_source::escalation, {}, {}};
  if (plan.what.sandbox_permissions == sandbox_permissions::with_additional_permissions &&
      !plan.permissions_preapproved)
    return {ask_source::permissions, {}, {}};
  if (const auto* segment = asks(segment_judge::unmatched))
    return {ask_source::unmatched, segment->argv, {}};
  const bool skip = evaluation.requirement.kind == requirement_kind::skip;
  return {skip && plan.strict_review ? ask_source::strict_review : ask_source::policy, {}, {}};
}

std::string first_allows(const call_plan& plan, bool sandboxed, bool widened) {
  if (plan.what.patch) {
    std::string text = "The patch is applied once, to the files that it names and to no other";
    if (!sandboxed) return text + "; this profile has no sandbox.";
    text += ", inside the sandbox";
    if (widened && plan.what.additional_permissions)
      text += ", which for this opens: " +
              describe_overlay(*plan.what.additional_permissions, plan.managed_network);
    return text + ".";
  }
  if (!sandboxed)
    return plan.profile.kind == profile_kind::managed
               ? "It runs once WITHOUT the sandbox: it can read, change and send everything that "
                 "you can."
               : "It runs once; this profile has no sandbox, so it can do everything that you can.";
  if (widened && plan.what.additional_permissions)
    return "It runs once inside the sandbox, for this call with: " +
           describe_overlay(*plan.what.additional_permissions, plan.managed_network) + "." +
           opened_protections(plan) + " All else stays refused.";
  std::string text = "It runs once inside the sandbox; what the profile does not grant stays "
                     "refused.";
  if (plan.what.sandbox_permissions == sandbox_permissions::require_escalated)
    text += " It asked to leave the sandbox, which this profile never permits, since it hides "
            "files.";
  return text;
}

std::string permissions_allow(const additional_permissions& wish,
                              const additional_permissions& as_named,
                              const std::vector<std::string>& closed, bool managed_network) {
  const auto described = [&](const auto& what) { return describe_overlay(what, managed_network); };
  std::string text = "Later commands may, inside the sandbox: " + described(wish) + ".";
  if (as_named != wish) text += " The agent named it: " + described(as_named) + ".";
  for (std::size_t i = 0; i < closed.size(); ++i)
    text += (i == 0 ? " Protected, and opened by no grant: " : ", ") + closed[i] +
            (i + 1 == closed.size() ? "." : "");
  return text + " All else stays refused.";
}

std::string retry_reason(const denial& what) {
  return "the sandbox refused " + describe(what) +
         (what.entry.empty() ? std::string{} : " (decided by " + what.entry + ")");
}

std::string unsandboxed_retry_allows(const call_plan& plan) {
  if (plan.what.patch)
    return "What is left of the patch is applied WITHOUT the sandbox, to the files that it names "
           "and to no other. What is on disk already stays.";
  return "The same command runs once more, WITHOUT the sandbox: it can read, change and send "
         "everything that you can. What its first run did stands.";
}

std::string host_retry_reason(const network_context& network) {
  return "the network proxy refused a connection to " + network.host;
}

std::string host_retry_allows(const network_context& network) {
  return "The same command runs once more inside the sandbox, and may connect to " + network.host +
         ". All else stays refused.";
}

std::string host_reason(const std::string& target, const std::string& rule) {
  return "the command wants to connect to " + target +
         (rule.empty() ? ", which no rule allows" : ", about which a rule asks: " + rule);
}

std::string host_allows(const std::string& target, const std::vector<proposal>& others) {
  std::string text = "While it runs, the command may connect to " + target +
                     " and exchange data with it. All other hosts stay as they are. The answer is "
                     "also that of every other command that asks for the same before it is given";
  if (others.empty()) return text + ".";
  text += ". These wait for it already:";
  for (const auto& other : others)
    text +=
        " `" + visible_text(shell_join(other.argv)) + "`" + (&other == &others.back() ? "." : ",");
  return text;
}

std::string host_withdrawn(const std::string& target) {
  return "The question about " + target + " is withdrawn: " + std::string{host_unwanted} +
         ". Nothing was opened or refused for good, and an answer to it changes nothing now; when "
         "the command tries again, it is asked anew.";
}

std::string host_shared(const std::string& target, const proposal& other) {
  return "The command `" + visible_text(shell_join(other.argv)) +
         "` waits for the answer to the question about " + target +
         ", too: the answer is for all that wait for it; a no ends them.";
}

} // namespace gatehouse::actors
