#include "sandbox/windows/windows_plan.hpp"

#include "policy/path_text.hpp"
#include "protocol/ascii_text.hpp"
#include "sandbox/capabilities.hpp"
#include "sandbox/windows/windows_path.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace gatehouse::sandbox {
namespace {

using policy::is_at_or_below;
using policy::is_below;
using who = windows_identity::kind_t;

error refuse(const std::string& what, std::string next) {
  return {errc::boundary_unavailable, "refusing to run unsandboxed: " + what, std::move(next)};
}

std::string lowered_name(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c == '\\' ? '/' : to_lower_ascii(c); });
  return text;
}

/// Paths of the profile in policy form, and back: the facts know native ones.
class translator {
public:
  explicit translator(const windows_facts& facts) : facts_{facts} {}

  /// The path as written; with a short name or a reparse point on the way also what it really is.
  result<std::string> translate(const std::string& native) {
    const auto read = parse_windows_path(native);
    if (!read) return read.error();
    const auto object = facts_.objects.find(native);
    const bool exists = object != facts_.objects.end() && object->second.exists;
    if (read->has_short_name && !exists)
      return refuse("`" + native + "` may be a short name, and what it means is not known",
                    "write the long name");
    auto form = read->policy_form();
    if (exists) {
      const auto real = parse_windows_path(object->second.canonical);
      if (!real) return real.error();
      if (real->policy_form() != form) view.context.canonical_paths[form] = real->policy_form();
    }
    return form;
  }

  result<void> translate_each(std::vector<std::string>& paths) {
    for (auto& path : paths) {
      auto form = translate(path);
      if (!form) return form.error();
      path = std::move(*form);
    }
    return {};
  }

  policy_view view;

private:
  const windows_facts& facts_;
};

class windows_planner {
public:
  windows_planner(policy_view view, const windows_facts& facts, const windows_request& request)
      : view_{std::move(view)}, facts_{facts}, request_{request}, entries_{policy::resolve_entries(
                                                                      view_.profile.file_system,
                                                                      view_.context)},
        elevated_{request.backend == sandbox_backend::windows_elevated},
        account_{!elevated_                              ? who::user
                 : request.network == network_mode::full ? who::online_account
                                                         : who::offline_account,
                 {}} {
    for (const auto& [path, object] : facts.objects) {
      const auto read = parse_windows_path(path);
      if (read) natives_[read->policy_form()] = {path, object};
      // The same object by what it really is.
      if (const auto real = parse_windows_path(object.canonical); object.exists && real)
        natives_.try_emplace(real->policy_form(), native_object{path, object});
    }
  }

  result<windows_plan> run() {
    const auto needs = needs_of(view_.profile, view_.context, request_.network);
    if (auto expressed = check_expressible(request_.backend, needs); !expressed)
      return expressed.error();
    if (elevated_ && !facts_.accounts_ready)
      return refuse("the accounts of the windows-elevated backend do not exist",
                    "run the set-up once as administrator");
    if (request_.network == network_mode::proxy_only && request_.proxy_ports.empty())
      return refuse("the network is managed, and there is no proxy", "start the managed proxy");
    if (auto open = check_shared(); !open) return open.error();
    find_roots();
    add_token();
    add_denials();
    add_grants();
    add_filters();
    plan_.desktop = "GatehouseSandbox-" + facts_.random_name;
    plan_.pseudo_console = request_.tty;
    return std::move(plan_);
  }

private:
  struct native_object {
    std::string path;
    windows_object object;
  };

  [[nodiscard]] access answer(const std::string& path) const {
    return policy::evaluate_access(view_.profile, view_.context, path).granted;
  }

  /// Everyone is part of every token: what it may write or read stays open, so that the profile
  /// must grant it too, wholly.
  result<void> check_shared() const {
    for (const auto& folder : facts_.shared) {
      const auto read = parse_windows_path(folder.path);
      if (!read) return read.error();
      const auto path = read->policy_form();
      const auto granted = answer(path);
      const bool too_open = (folder.writable && granted != access::write) ||
                            (folder.readable && elevated_ && granted == access::deny);
      const bool has_part = std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) {
        return is_below(e.path, path) &&
               ((folder.writable && e.access != access::write) || e.access == access::deny);
      });
      const bool holds_root =
          folder.writable && std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) {
            return e.access == access::write && is_at_or_below(e.path, path);
          });
      if (too_open || has_part || (holds_root && !view_.context.protected_names.empty()))
        return refuse("every account may " + std::string{folder.writable ? "write" : "read"} +
                          " `" + folder.path + "`, which the profile does not grant wholly",
                      "take that right from the group, or grant the folder");
    }
    return {};
  }

  /// Writable places, and the read-only parts in them.
  void find_roots() {
    for (const auto& entry : entries_)
      if (entry.access == access::write && answer(entry.path) == access::write)
        roots_.insert(entry.path);
    const auto add_part = [&](const std::string& path) {
      if (answer(path) == access::read && overlaps(path)) parts_.insert(path);
    };
    for (const auto& entry : entries_)
      if (entry.access == access::read) add_part(entry.path);
    for (const auto& root : roots_)
      for (const auto& name : view_.context.protected_names)
        add_part(policy::absolute_below(root, name));
    for (const auto& path : view_.context.protected_paths)
      add_part(path);
  }

  [[nodiscard]] bool overlaps(const std::string& path) const {
    return std::any_of(roots_.begin(), roots_.end(),
                       [&](const auto& root) { return is_at_or_below(path, root); });
  }

  void add_token() {
    auto& token = plan_.token;
    token.write_restricted = true;
    token.account = account_;
    if (roots_.empty()) token.restricting.push_back({who::capability, {}});
    for (const auto& root : roots_)
      token.restricting.push_back({who::capability, root});
    token.restricting.push_back({who::logon, {}});
    token.restricting.push_back({who::everyone, {}});
  }

  void add(acl_kind kind, windows_identity identity, const std::string& path) {
    acl_entry entry;
    entry.kind = kind;
    entry.who = std::move(identity);
    const auto known = natives_.find(path);
    entry.lexical = known != natives_.end() ? known->second.path : native_of(path);
    const bool exists = known != natives_.end() && known->second.object.exists;
    entry.canonical = exists ? known->second.object.canonical : entry.lexical;
    entry.make_folder_first =
        !exists && (kind == acl_kind::deny_all || kind == acl_kind::deny_write);
    if (std::find(plan_.entries.begin(), plan_.entries.end(), entry) == plan_.entries.end())
      plan_.entries.push_back(std::move(entry));
  }

  /// "/c:/w/.git" as "C:\w\.git".
  static std::string native_of(const std::string& path) {
    std::string text = path.starts_with("/unc:") ? "\\" + path.substr(5) : path.substr(1);
    std::replace(text.begin(), text.end(), '/', '\\');
    if (text.size() > 1 && text[1] == ':') text[0] = static_cast<char>(text[0] - ('a' - 'A'));
    return text.size() == 2 ? text + "\\" : text;
  }

  void add_denials() {
    for (const auto& entry : entries_)
      if (entry.access == access::deny && entry.path != "/")
        add(acl_kind::deny_all, account_, entry.path);
    for (const auto& part : parts_)
      for (const auto& root : roots_)
        if (is_at_or_below(part, root)) add(acl_kind::deny_write, {who::capability, root}, part);
  }

  void add_grants() {
    for (const auto& root : roots_) {
      add(acl_kind::allow_write, {who::capability, root}, root);
      if (elevated_) add(acl_kind::allow_write, account_, root);
    }
    if (!elevated_) return;
    for (const auto& entry : entries_) {
      if (entry.access != access::read) continue;
      if (entry.path != "/")
        add(acl_kind::allow_read, account_, entry.path);
      else
        for (const auto& drive : facts_.drives)
          if (const auto read = parse_windows_path(drive))
            add(acl_kind::allow_read, account_, read->policy_form());
    }
  }

  void add_filters() {
    if (!elevated_ || request_.network == network_mode::full) return;
    using layer = wfp_filter::layer_t;
    if (request_.network == network_mode::proxy_only)
      for (const auto port : request_.proxy_ports)
        plan_.filters.push_back({layer::connect, account_, true, port, 2});
    for (const auto at : {layer::connect, layer::accept, layer::bind})
      plan_.filters.push_back({at, account_, false, 0, 1});
  }

  policy_view view_;
  const windows_facts& facts_;
  const windows_request& request_;
  std::vector<policy::resolved_entry> entries_;
  bool elevated_;
  windows_identity account_;
  std::map<std::string, native_object> natives_;
  std::set<std::string> roots_, parts_;
  windows_plan plan_;
};

} // namespace

std::vector<acl_entry> rollback_of(const windows_plan& plan, std::size_t applied) {
  const auto count = static_cast<std::ptrdiff_t>(std::min(applied, plan.entries.size()));
  std::vector<acl_entry> undone{plan.entries.begin(), plan.entries.begin() + count};
  std::reverse(undone.begin(), undone.end());
  return undone;
}

result<policy_view> view_for_policy(const permission_profile& profile,
                                    const policy::access_context& context,
                                    const windows_facts& facts) {
  translator t{facts};
  t.view = {profile, context};
  auto& now = t.view.context;
  now.canonical_paths.clear();
  now.slash_tmp_is_directory = false;
  auto cwd = t.translate(context.cwd);
  if (!cwd) return cwd.error();
  now.cwd = *std::move(cwd);
  for (auto* paths : {&now.project_roots, &now.protected_paths})
    if (auto done = t.translate_each(*paths); !done) return done.error();
  if (!now.tmpdir.empty()) {
    auto tmpdir = t.translate(now.tmpdir);
    if (!tmpdir) return tmpdir.error();
    now.tmpdir = *std::move(tmpdir);
  }
  for (auto& name : now.protected_names)
    name = lowered_name(std::move(name));

  auto& entries = t.view.profile.file_system.entries;
  entries.clear();
  for (auto entry : profile.file_system.entries) {
    if (auto* literal = std::get_if<literal_path>(&entry.path)) {
      auto form = t.translate(literal->path);
      if (!form) return form.error();
      literal->path = *std::move(form);
    } else if (auto* special = std::get_if<special_path>(&entry.path)) {
      special->subpath = lowered_name(std::move(special->subpath));
      if (special->kind == special_kind::minimal) {
        for (const auto& folder : facts.system_folders) {
          auto form = t.translate(folder);
          if (!form) return form.error();
          entries.push_back({literal_path{*std::move(form)}, entry.access, true});
        }
        continue;
      }
    }
    entries.push_back(std::move(entry));
  }
  return std::move(t.view);
}

result<windows_plan> make_windows_plan(const permission_profile& profile,
                                       const policy::access_context& context,
                                       const windows_facts& facts, const windows_request& request) {
  auto view = view_for_policy(profile, context, facts);
  if (!view) return view.error();
  return windows_planner{*std::move(view), facts, request}.run();
}

} // namespace gatehouse::sandbox
