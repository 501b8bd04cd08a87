#pragma once

#include "policy/path_text.hpp"
#include "sandbox/windows/windows_path.hpp"
#include "sandbox/windows/windows_plan.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gatehouse::tests {

/// Answers questions as Windows would once a plan is carried out. An object's entries are its own,
/// then its folder's, then that one's; of one place the refusing ones come first; the first that is
/// about somebody in the token decides. A write-restricted token is asked twice for a write.
class windows_model {
public:
  windows_model(sandbox::windows_plan plan, const sandbox::windows_facts& facts)
      : plan_{std::move(plan)} {
    for (const auto& entry : plan_.entries)
      entries_[form(entry.canonical)].push_back(entry);
    for (const auto& folder : facts.shared)
      shared_[form(folder.path)] = folder;
  }

  /// `path` in policy form.
  [[nodiscard]] bool may_read(const std::string& path) const { return normal(path, false); }
  [[nodiscard]] bool may_write(const std::string& path) const {
    return normal(path, true) &&
           (!plan_.token.write_restricted || decide(plan_.token.restricting, path, true, false));
  }
  [[nodiscard]] bool may_connect(bool loopback, std::uint16_t port) const {
    return passes(sandbox::wfp_filter::layer_t::connect, loopback, port);
  }
  [[nodiscard]] bool may_listen() const {
    return passes(sandbox::wfp_filter::layer_t::bind, true, 0) &&
           passes(sandbox::wfp_filter::layer_t::accept, true, 0);
  }

private:
  using identity = sandbox::windows_identity;

  static std::string form(const std::string& native) {
    const auto read = sandbox::parse_windows_path(native);
    if (!read) throw std::runtime_error{read.error().message};
    return read->policy_form();
  }

  [[nodiscard]] bool normal(const std::string& path, bool write) const {
    const auto& account = plan_.token.account;
    return decide({account, {identity::kind_t::everyone, {}}}, path, write,
                  account.kind == identity::kind_t::user);
  }

  [[nodiscard]] bool decide(const std::vector<identity>& token, std::string path, bool write,
                            bool otherwise) const {
    const auto holds = [&](const identity& who) {
      return std::find(token.begin(), token.end(), who) != token.end();
    };
    for (;; path = policy::parent_of(path)) {
      bool allowed = false;
      if (const auto here = entries_.find(path); here != entries_.end())
        for (const auto& entry : here->second) {
          using kind = sandbox::acl_kind;
          if (!holds(entry.who)) continue;
          if (entry.kind == kind::deny_all || (write && entry.kind == kind::deny_write))
            return false;
          allowed |= entry.kind == kind::allow_write || (!write && entry.kind == kind::allow_read);
        }
      if (const auto here = shared_.find(path);
          here != shared_.end() && holds({identity::kind_t::everyone, {}}))
        allowed |= write ? here->second.writable : here->second.readable || here->second.writable;
      if (allowed) return true;
      if (path == "/") return otherwise;
    }
  }

  [[nodiscard]] bool passes(sandbox::wfp_filter::layer_t layer, bool loopback,
                            std::uint16_t port) const {
    bool permit = true;
    int heaviest = -1;
    for (const auto& filter : plan_.filters) {
      const bool about = filter.layer == layer && filter.who == plan_.token.account &&
                         (!filter.permit || (loopback && filter.loopback_port == port));
      if (!about || filter.weight <= heaviest) continue;
      permit = filter.permit;
      heaviest = filter.weight;
    }
    return permit;
  }

  sandbox::windows_plan plan_;
  std::map<std::string, std::vector<sandbox::acl_entry>> entries_;
  std::map<std::string, sandbox::shared_folder> shared_;
};

} // namespace gatehouse::tests
