#include "policy/strictness.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

bool no_more_questions(const granular_switches& a, const granular_switches& b) noexcept {
  return a.sandbox_approval <= b.sandbox_approval && a.rules <= b.rules &&
         a.skill_approval <= b.skill_approval && a.request_permissions <= b.request_permissions &&
         a.mcp_elicitations <= b.mcp_elicitations;
}

bool is_special(const profile_entry& entry, special_kind kind) {
  const auto* special = std::get_if<special_path>(&entry.path);
  return special && special->kind == kind && special->subpath.empty();
}

/// Does `policy` hold an entry with exactly this path and at least these limits?
bool has_entry(const file_system_policy& policy, const profile_path& path, access least,
               access most) {
  return std::any_of(policy.entries.begin(), policy.entries.end(), [&](const profile_entry& e) {
    return e.path == path && e.access >= least && e.access <= most;
  });
}

bool files_no_wider(const file_system_policy& a, const file_system_policy& b) {
  if (!b.restricted) return true;
  if (!a.restricted) return false;
  const bool a_writes = std::any_of(a.entries.begin(), a.entries.end(),
                                    [](const auto& e) { return e.access == access::write; });
  bool b_reads_all = false;
  bool b_denies = false;
  bool b_globs = false;
  for (const auto& entry : b.entries) {
    b_reads_all |= is_special(entry, special_kind::root) && entry.access != access::deny;
    b_denies |= entry.access == access::deny;
    b_globs |= std::holds_alternative<glob_path>(entry.path);
    // Every limit of b must stand in a as well, unless a grants nothing that it could limit.
    if (entry.access == access::deny) {
      if (!has_entry(a, entry.path, access::deny, access::deny)) return false;
    } else if (entry.access == access::read && a_writes) {
      const bool kept = std::any_of(a.entries.begin(), a.entries.end(), [&](const auto& e) {
        return e.path == entry.path && e.access != access::write;
      });
      if (!kept) return false;
    }
  }
  if (b_globs && a.glob_scan_max_depth && a.glob_scan_max_depth != b.glob_scan_max_depth)
    return false;
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const profile_entry& e) {
    switch (e.access) {
    case access::deny: return true;
    case access::write: return has_entry(b, e.path, access::write, access::write);
    case access::read:
      return (b_reads_all && !b_denies) || has_entry(b, e.path, access::read, access::write);
    }
    return false;
  });
}

} // namespace

bool is_no_looser(const approval_policy& a, const approval_policy& b) noexcept {
  if (a.mode == approval_mode::granular && b.mode == approval_mode::granular)
    return no_more_questions(a.granular, b.granular);
  if (a.mode == b.mode) return true;
  // Under granular a question is either asked as on-request asks it, or the command is forbidden.
  return b.mode == approval_mode::on_request &&
         (a.mode == approval_mode::untrusted || a.mode == approval_mode::granular);
}

bool is_no_wider(const permission_profile& a, const permission_profile& b) {
  if (b.kind == profile_kind::disabled) return true;
  if (a.kind != profile_kind::managed || b.kind != profile_kind::managed) return a == b;
  return a.network <= b.network && files_no_wider(a.file_system, b.file_system);
}

bool is_no_wider(const std::optional<domain_policy>& a, const std::optional<domain_policy>& b) {
  if (!b) return true;
  if (!a || (b->limited && !a->limited) || (a->local_binding && !b->local_binding)) return false;
  const auto holds = [](const domain_policy& in, const domain_rule& wanted) {
    return std::any_of(in.rules.begin(), in.rules.end(), [&](const domain_rule& rule) {
      return rule.pattern == wanted.pattern && rule.verdict == wanted.verdict &&
             rule.protocol == wanted.protocol;
    });
  };
  return std::all_of(a->rules.begin(), a->rules.end(),
                     [&](const domain_rule& rule) {
                       return rule.verdict != decision::allow || holds(*b, rule);
                     }) &&
         std::all_of(b->rules.begin(), b->rules.end(), [&](const domain_rule& rule) {
           return rule.verdict == decision::allow || holds(*a, rule);
         });
}

} // namespace gatehouse::policy
