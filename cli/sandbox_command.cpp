#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "cli/sandbox_explain.hpp"
#include "cli/settings_options.hpp"
#include "config/profile_resolver.hpp"
#include "policy/environment_policy.hpp"
#include "policy/path_text.hpp"
#include "protocol/profile_json.hpp"
#include "sandbox/choose_backend.hpp"
#include "sandbox/git_parts.hpp"
#include "sandbox/inner_stage.hpp"
#include "sandbox/landlock_backend.hpp"
#include "sandbox/outer.hpp"
#include "sandbox/plan.hpp"

#include <unistd.h>

namespace gatehouse::cli {
namespace {

result<permission_profile> widen_and_narrow(const start_point& start, const options& given,
                                            const std::vector<std::string>& roots,
                                            permission_profile profile) {
  for (const auto& preset : given.values("--preset"))
    if (preset != "git")
      return error{errc::invalid_request, "there is no preset `" + preset + "`",
                   "The only preset is git."};
  const auto from_home = [&](const std::string& path) {
    return path.starts_with("~/") ? start.where.user_home + path.substr(1) : path;
  };
  const auto path_of = [&](const std::string& path) {
    return literal_path{policy::absolute_below(start.cwd, from_home(path))};
  };
  for (const char* option : {"--allow-read", "--allow-write", "--deny-read"})
    for (const auto& path : given.values(option))
      if (path.starts_with("file:"))
        return error{errc::invalid_request,
                     std::string{option} + " takes a path, not the URI `" + path + "`",
                     "Give the path itself."};
  auto& files = profile.file_system;
  const bool restricted = profile.kind == profile_kind::managed && files.restricted;
  if (restricted) {
    for (const auto& path : given.values("--allow-read"))
      files.entries.push_back({path_of(path), access::read, false});
    for (const auto& path : given.values("--allow-write"))
      files.entries.push_back({path_of(path), access::write, false});
    for (std::size_t i = 0; i < given.values("--preset").size(); ++i)
      for (const auto& root : roots)
        for (const auto& folder : sandbox::git_folders_of(root))
          for (auto& entry : git_preset_entries_at(folder))
            files.entries.push_back(std::move(entry));
  }
  if (given.has("--net")) profile.network = network_policy::enabled;
  const bool widened = given.has("--allow-read") || given.has("--allow-write") ||
                       given.has("--net") || given.has("--preset");
  std::vector<config::setting<profile_entry>> denied;
  for (const auto& path : given.values("--deny-read"))
    denied.push_back({{path.find_first_of("*?[{") == std::string::npos
                           ? profile_path{path_of(path)}
                           : profile_path{glob_path{from_home(path)}},
                       access::deny, false},
                      {}});
  auto narrowed = config::deny_reads(std::move(profile), denied);
  if (!narrowed || !widened) return narrowed;
  return config::constrain_profile(start.loaded.settings, std::move(*narrowed));
}

int explain(const permission_profile& profile, const policy::access_context& context,
            sandbox_backend backend, bool managed_network, bool json) {
  const auto boundary = explain_sandbox(profile, context, backend, managed_network);
  if (!boundary) return fail(boundary.error(), sandbox::exit_no_boundary);
  const bool printed =
      json ? print(boundary_json(*boundary) + "\n") : print_for_people(boundary_text(*boundary));
  return printed ? exit_ok : exit_failed;
}

} // namespace

int sandbox_command(arguments given) {
  const auto words = open_command_line("sandbox", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  const bool explains = read->has("--explain");
  const bool json = read->has("--json");
  if (json && !explains)
    return wrong_usage_of("sandbox", "--json needs --explain: else standard output is the "
                                     "command's; `gatehouse run --json` tells of it");
  if (read->rest().empty() && !explains) return wrong_usage_of("sandbox", "the command is missing");
  const auto start = load_for(*read);
  if (!start) return fail(start.error(), exit_wrong_usage);
  warn(start->loaded.warnings);
  auto chosen = choose_profile(*start);
  auto profile =
      chosen ? widen_and_narrow(*start, *read, chosen->project_roots, std::move(chosen->profile))
             : result<permission_profile>{chosen.error()};
  if (!profile) return fail(profile.error(), exit_wrong_usage);
  const auto protections = access_context_of(start->loaded.settings, start->where, start->cwd,
                                             std::move(chosen->project_roots));
  if (!protections) return fail(protections.error(), exit_wrong_usage);
  const auto& context = *protections;
  const bool managed_network = chosen->network && profile->network == network_policy::enabled;
  if (explains && start->loaded.settings.backend.value == sandbox_backend::seatbelt)
    return explain(*profile, context, sandbox_backend::seatbelt, managed_network, json);
  const auto backend = chosen_backend(start->loaded.settings);
  if (!backend) return fail(backend.error(), exit_wrong_usage);
  if (explains) return explain(*profile, context, *backend, managed_network, json);
  if (managed_network)
    warn({"the profile's network is managed, and no proxy runs here: nothing can be reached; use "
          "gatehouse run"});
  if (profile->kind == profile_kind::disabled)
    warn({"full access: no boundary of ours is around this command; only for disposable machines"});

  sandbox::outer_options outer;
  outer.policy_cwd = outer.command_cwd = start->cwd;
  outer.profile_json = encode_profile(*profile);
  outer.workspace_roots = context.project_roots;
  outer.tmpdir = context.tmpdir;
  for (const auto& name : start->loaded.settings.protected_names)
    outer.protected_names.push_back(name.value);
  outer.protected_paths = context.protected_paths;
  outer.legacy_landlock = *backend == sandbox_backend::landlock;
  outer.proxy_network = managed_network;
  outer.command = read->rest();
  std::vector<std::string> entries;
  for (char** entry = environ; *entry; ++entry)
    entries.emplace_back(*entry);
  entries = policy::to_entries(policy::select_environment(
      config::variable_rules(start->loaded.settings), policy::read_environment(entries)));
  std::vector<const char*> environment;
  environment.reserve(entries.size());
  for (const auto& entry : entries)
    environment.push_back(entry.c_str());
  return sandbox::run_outer(outer, beside_me("gatehouse-sandbox-init"), environment);
}

} // namespace gatehouse::cli
