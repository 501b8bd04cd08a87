#include "cli/serve_threads.hpp"

#include "cli/follow_settings.hpp"
#include "cli/session_start.hpp"
#include "cli/thread_setup.hpp"
#include "config/profile_resolver.hpp"
#include "policy/machine_path.hpp"
#include "policy/path_text.hpp"
#include "policy/strictness.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/tool_request.hpp"
#include "sandbox/host_paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <sys/stat.h>

namespace gatehouse::cli {
namespace {

constexpr std::size_t most_roots = 64;

constexpr std::string_view nobody =
    "no reviewer is connected to this server: connect one, add a rule, or change the approval "
    "policy";

/// The folder with no link in its path.
result<std::string> real_folder(const std::string& named) {
  auto path = named;
  if (names_its_convention(named)) {
    const auto uri = read_path(named);
    auto native = uri ? native_path(*uri) : result<std::string>{uri.error()};
    if (!native) return native.error();
    path = *std::move(native);
  }
  if (path.empty() || path.front() != '/')
    return error{errc::invalid_request, "the folder '" + path + "' is not an absolute path",
                 "Give it from / on."};
  char* real = ::realpath(path.c_str(), nullptr);
  if (!real)
    return error{errc::invalid_request, "there is no folder '" + path + "'",
                 "Make it, or name another one: agents open threads in it and below."};
  std::string folder{real};
  std::free(real);
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
    return error{errc::invalid_request, "'" + path + "' is no folder",
                 "Name the folder that it lies in."};
  return folder;
}

bool is_below(const std::string& path, const std::string& root) {
  return path == root || root == "/" ||
         (path.size() > root.size() && path.starts_with(root) && path[root.size()] == '/');
}

/// What protects folders in the workspaces of the served roots.
class served_roots {
public:
  served_roots(const std::vector<std::string>& roots, const permission_profile& profile,
               const policy::access_context& of_thread)
      : roots_{roots}, profile_{profile}, of_thread_{of_thread}, found_(roots.size()) {}

  /// What protects `folder` in the workspace of every root around it; empty when one of them leaves
  /// it open. Below a protected name all is writable for whoever has his root there.
  std::string protection_of(const std::string& folder) {
    std::string why;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      if (!is_below(folder, roots_[i])) continue;
      if (const auto named =
              policy::find_protected_name(of_thread_.protected_names, roots_[i], folder)) {
        why = "protected name `" + named->name + "`";
        continue;
      }
      const auto answer = policy::evaluate_access(profile_, workspace_of(i), folder);
      if (!answer.is_protection) return {};
      why = answer.decided_by;
    }
    return why;
  }

private:
  /// With what is found in it: a walk over its folders, so once.
  const policy::access_context& workspace_of(std::size_t root) {
    auto& found = found_[root];
    if (found) return *found;
    auto context = of_thread_;
    context.cwd = roots_[root];
    context.project_roots = {roots_[root]};
    const auto facts = sandbox::gather_host_facts(profile_, context);
    return found.emplace(sandbox::with_facts(std::move(context), facts));
  }

  const std::vector<std::string>& roots_;
  const permission_profile& profile_;
  const policy::access_context& of_thread_;
  std::vector<std::optional<policy::access_context>> found_; ///< by root
};

/// A call of another tool than shell_command.
result<explain_request> explain_request_of(std::string_view tool, std::string_view arguments) {
  auto read = decode_tool_arguments(tool, arguments);
  if (!read) return read.error();
  auto* terminal = std::get_if<terminal_request>(&*read);
  auto* asked = terminal ? &terminal->command : std::get_if<shell_request>(&*read);
  if (!asked)
    return error{errc::invalid_request,
                 "a call of " + std::string{tool} + " is not judged by policy",
                 "shell_command, exec_command and apply_patch can be explained."};
  if (!asked->workdir.empty() && !asked->workdir.starts_with('/'))
    return error{errc::invalid_request, "outside of a thread `workdir` is an absolute path", {}};
  explain_request request;
  request.command = std::move(asked->command);
  request.cwd = std::move(asked->workdir);
  request.sandbox_permissions = asked->sandbox_permissions;
  request.additional_permissions = std::move(asked->additional_permissions);
  request.prefix_rule = std::move(asked->prefix_rule);
  request.login = asked->login;
  request.tty = terminal && terminal->tty;
  return request;
}

} // namespace

bool touches_no_more(const start_point& configured, const start_point& wished) {
  const auto a = session_terms_of(wished, "/bin/sh");
  const auto b = session_terms_of(configured, "/bin/sh");
  if (!a || !b) return false;
  const bool network =
      a->profile.kind != profile_kind::managed || a->profile.network != network_policy::restricted;
  // What a profile's own `workspace_roots` add is no part of its entries.
  const bool same_roots = std::ranges::all_of(a->context.project_roots, [&](const auto& root) {
    const auto& known = b->context.project_roots;
    return std::ranges::find(known, root) != known.end();
  });
  return same_roots && policy::is_no_wider(a->profile, b->profile) &&
         (!network || policy::is_no_wider(a->network, b->network));
}

bool asks_no_less(const approval_policy& configured, const approval_policy& wished) noexcept {
  // on-request asks about everything that any other policy refuses or asks about; the others
  // differ in both directions.
  return configured == wished ||
         (configured.mode == approval_mode::on_request && wished.mode != approval_mode::on_request);
}

result<thread_desk> thread_desk::make(const options& given, const start_point& start,
                                      reactor::event_loop& loop) {
  thread_desk desk{loop};
  desk.cwd_ = start.cwd;
  auto roots = given.values("--root");
  if (roots.empty()) roots.push_back(start.cwd);
  for (const auto& root : roots) {
    auto real = real_folder(root.starts_with('/') ? root : start.cwd + "/" + root);
    if (!real) return real.error();
    desk.roots_.push_back(*std::move(real));
  }
  desk.ask_ = given.value("--ask");
  desk.profile_ = given.value("--profile");
  desk.rule_files_ = given.values("--rules");
  for (const auto* option : {"--agent-token-file", "--ws-token-file", "--reviewer-token-file"})
    if (const auto file = given.value(option))
      desk.token_files_.push_back(policy::absolute_below(start.cwd, *file));
  // What cannot be set up at all is better known now than at the first thread.
  auto tried = set_up_thread(start, desk.rule_files_, loop, "serve");
  if (!tried) return tried.error();
  desk.environment_ = given.value("--environment").value_or(std::string{local_environment});
  if (desk.environment_ != local_environment)
    if (const auto known = tried->places.find(desk.environment_); !known) return known.error();
  return desk;
}

result<start_point> thread_desk::settle(const actors::thread_wishes& wishes,
                                        const std::string& folder) const {
  const auto as_configured = load_for(start_wishes{folder, ask_, profile_, {}});
  if (!as_configured) return as_configured.error();
  auto start = load_for(start_wishes{folder,
                                     wishes.approval_policy ? wishes.approval_policy : ask_,
                                     wishes.profile ? wishes.profile : profile_,
                                     {}});
  if (!start || wishes.from != actors::authority::agent) return start;
  const auto& settings = start->loaded.settings;
  const auto& configured = as_configured->loaded.settings;
  if (start->given_profile && wishes.profile)
    return error{errc::invalid_request, "only a reviewer may give a profile as an object", {}};
  if (!asks_no_less(configured.approval.value, settings.approval.value))
    return error{
        errc::invalid_request,
        "the approval policy is wider than the configured one, which only a reviewer may choose",
        {}};
  if (wishes.profile && !touches_no_more(*as_configured, *start))
    return error{errc::invalid_request,
                 "the profile is wider than the configured one, which only a reviewer may choose",
                 {}};
  return start;
}

result<actors::thread_opening> thread_desk::open(const actors::thread_wishes& wishes) const {
  if (wishes.roots.size() > most_roots)
    return error{errc::invalid_request,
                 "runtimeWorkspaceRoots has " + std::to_string(wishes.roots.size()) +
                     " folders; a thread takes " + std::to_string(most_roots),
                 "Name the folder around them."};
  const auto& environment = wishes.environment ? *wishes.environment : environment_;
  auto opening =
      environment == local_environment ? open_here(wishes) : open_there(environment, wishes);
  if (!opening) return opening;
  opening->terms.nobody_reason = nobody;
  opening->terms.reviewer_grace = std::chrono::seconds{60};
  opening->terms.session_approvals = true;
  return opening;
}

void thread_desk::follow(actors::thread_opening& opening, std::shared_ptr<config::live_rules> live,
                         const actors::thread_wishes& wishes) const {
  follow_settings(opening.terms, opening.roots, std::move(live),
                  [desk = *this, wishes]() -> result<actors::terms_now> {
                    auto again = desk.open(wishes);
                    if (!again) return again.error();
                    return actors::terms_now{
                        std::make_shared<const actors::thread_terms>(std::move(again->terms)),
                        std::move(again->roots), std::move(again->profile)};
                  });
}

result<actors::thread_opening> thread_desk::open_there(const std::string& environment,
                                                       const actors::thread_wishes& wishes) const {
  auto start = settle(wishes, cwd_); // no project of ours is there
  if (!start) return start.error();
  auto setup = set_up_thread(*start, rule_files_, *loop_, "thread");
  if (!setup) return setup.error();
  const auto place = setup->places.find(environment);
  if (!place) return place.error();
  const auto there =
      policy::folder_below(place->paths, place->cwd, wishes.cwd.empty() ? "." : wishes.cwd);
  if (!there) return there.error();
  const auto& cwd = *there;
  std::vector<std::string> roots;
  for (const auto& root : wishes.roots) {
    auto folder = policy::folder_below(place->paths, place->cwd, root);
    if (!folder) return folder.error();
    if (std::ranges::find(roots, *folder) == roots.end()) roots.push_back(*std::move(folder));
  }
  if (wishes.from == actors::authority::agent) {
    if (!policy::is_at_or_below(cwd, place->cwd))
      return error{errc::invalid_request,
                   "'" + cwd + "' is outside '" + place->cwd + "', where agents may work in " +
                       place->name,
                   "Another environment of the configuration may name another folder."};
    if (!roots.empty() && roots != std::vector{place->cwd})
      return error{errc::invalid_request,
                   "the workspace of an agent in " + place->name + " is '" + place->cwd +
                       "' and nothing else",
                   "Leave `runtimeWorkspaceRoots` out, or let a reviewer open the thread."};
    roots = {place->cwd};
  }
  if (roots.empty()) roots.push_back(cwd);
  if (const auto moved = move_session(setup->terms, *place, cwd, roots, *connections_); !moved)
    return moved.error();
  const auto& settings = start->loaded.settings;
  actors::thread_opening opening{
      std::move(setup->terms), std::move(roots), encode_approval_policy(settings.approval.value),
      start->given_profile ? "custom" : settings.default_permissions.value};
  follow(opening, setup->live, wishes);
  return opening;
}

result<actors::thread_opening> thread_desk::open_here(const actors::thread_wishes& wishes) const {
  const bool agent = wishes.from == actors::authority::agent;
  if (wishes.cwd.empty())
    return error{errc::invalid_request, "the folder of the thread, `cwd`, is missing", {}};
  auto cwd = real_folder(wishes.cwd);
  if (!cwd) return cwd.error();
  std::vector<std::string> roots;
  for (const auto& root : wishes.roots) {
    auto real = real_folder(root);
    if (!real) return real.error();
    if (std::ranges::find(roots, *real) == roots.end()) roots.push_back(*std::move(real));
  }
  if (roots.empty()) roots.push_back(*cwd);
  auto asked = roots;
  asked.push_back(*cwd);
  if (agent) {
    for (const auto& folder : asked)
      if (std::ranges::none_of(roots_, [&](const auto& root) { return is_below(folder, root); }))
        return error{errc::invalid_request,
                     "'" + folder + "' is outside the folders that this server opens to agents",
                     "serve --root names them."};
  }
  auto start = settle(wishes, *cwd);
  if (!start) return start.error();
  const auto& settings = start->loaded.settings;
  auto setup = set_up_thread(*start, rule_files_, *loop_, "thread");
  if (!setup) return setup.error();
  actors::thread_opening opening{
      std::move(setup->terms), roots, encode_approval_policy(settings.approval.value),
      start->given_profile ? "custom" : settings.default_permissions.value};
  auto& terms = opening.terms;
  if (agent && terms.session.profile.kind == profile_kind::managed) {
    served_roots served{roots_, terms.session.profile, terms.session.context};
    for (const auto& folder : asked)
      if (const auto why = served.protection_of(folder); !why.empty())
        return error{errc::invalid_request, "'" + folder + "' is protected (" + why + ")",
                     "work in the folder around it, or let a reviewer open the thread"};
  }
  for (const auto& root : roots)
    if (std::ranges::find(terms.session.context.project_roots, root) ==
        terms.session.context.project_roots.end())
      terms.session.context.project_roots.push_back(root);
  if (std::ranges::find(roots, *cwd) == roots.end())
    std::erase(terms.session.context.project_roots, *cwd);
  // As they were checked, not as they may have become since.
  terms.session.real_roots[*cwd] = *cwd;
  for (const auto& root : roots)
    terms.session.real_roots[root] = root;
  terms.shell.context = terms.session.context;
  terms.shell.ahead = ahead_;
  terms.shell.hidden_paths.insert(terms.shell.hidden_paths.end(), token_files_.begin(),
                                  token_files_.end());
  terms.judgement.search.writable_roots =
      sandbox::writable_roots_of(terms.session.profile, terms.session.context);
  follow(opening, setup->live, wishes);
  return opening;
}

result<std::vector<rpc::app::profile_summary>> thread_desk::profiles() const {
  const auto start = load_for(start_wishes{cwd_, ask_, profile_, {}});
  if (!start) return start.error();
  std::vector<std::pair<std::string, std::string>> named{
      {"read-only", "everything readable, nothing writable, no network"},
      {"workspace-write", "the workspace and temporary folders writable, no network"},
      {"danger-full-access", "no boundary; only a reviewer may choose it"}};
  for (const auto& [name, definition] : start->loaded.settings.profiles)
    named.emplace_back(name, "defined in " + config::describe(definition.from));
  std::vector<rpc::app::profile_summary> all;
  for (auto& [name, about] : named)
    if (const auto known = config::resolve_profile(start->loaded.settings, name, {start->cwd},
                                                   start->where.user_home))
      all.push_back({name, std::move(about), {encode_profile(known->profile)}});
  return all;
}

result<std::string> explain_for(explainer& source, std::string_view tool, const json_tree& call) {
  json_writer json;
  write_tree(json, call);
  const auto text = std::move(json).take();
  auto request =
      tool == "shell_command" ? decode_explain_request(text) : explain_request_of(tool, text);
  if (!request) return request.error();
  source.look_again();
  auto told = source.explain(*request);
  if (!told) return told.error();
  return encode_explanation(told->evaluation, told->sandbox);
}

} // namespace gatehouse::cli
