#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "cli/settings_options.hpp"
#include "config/profile_resolver.hpp"
#include "policy/path_text.hpp"
#include "policy/secret_variables.hpp"
#include "protocol/profile_json.hpp"
#include "sandbox/choose_backend.hpp"
#include "sandbox/inner_stage.hpp"
#include "sandbox/landlock_backend.hpp"
#include "sandbox/outer.hpp"
#include "sandbox/plan.hpp"

#include <unistd.h>

namespace gatehouse::cli {
namespace {

constexpr std::string_view example = "gatehouse sandbox --profile workspace-write -- make test";
constexpr std::string_view help = R"(gatehouse sandbox [options] -- CMD…
Runs one command inside the boundary of a profile. No rule is asked, nobody is asked.

  --profile NAME|JSON   default: default_permissions of the configuration
  --cwd DIR             working folder and project root; default: here
  --allow-read PATH     also readable (repeatable)
  --allow-write PATH    also writable (repeatable)
  --deny-read PATH      not even readable (repeatable)
  --net                 with network
  --backend NAME        platform (default) or landlock; see docs/platforms.md
  --explain             prints the boundary and runs nothing

Exit status: the command's; 128+n after signal n; 126/127 not executable / not found;
121 the boundary cannot be built here (nothing ran); 2 wrong usage or configuration.
)";

result<permission_profile> widen_and_narrow(const start_point& start, const options& given,
                                            permission_profile profile) {
  const auto path_of = [&](const std::string& path) {
    return literal_path{policy::absolute_below(start.cwd, path)};
  };
  auto& files = profile.file_system;
  const bool restricted = profile.kind == profile_kind::managed && files.restricted;
  if (restricted) {
    for (const auto& path : given.values("--allow-read"))
      files.entries.push_back({path_of(path), access::read, false});
    for (const auto& path : given.values("--allow-write"))
      files.entries.push_back({path_of(path), access::write, false});
  }
  if (given.has("--net")) profile.network = network_policy::enabled;
  const bool widened =
      given.has("--allow-read") || given.has("--allow-write") || given.has("--net");
  std::vector<config::setting<profile_entry>> denied;
  for (const auto& path : given.values("--deny-read"))
    denied.push_back({{path_of(path), access::deny, false}, {}});
  auto narrowed = config::deny_reads(std::move(profile), denied);
  if (!narrowed || !widened) return narrowed;
  return config::constrain_profile(start.loaded.settings, std::move(*narrowed));
}

std::string_view word_of(sandbox::mount_kind kind) {
  switch (kind) {
  case sandbox::mount_kind::read_only_bind: return "read-only";
  case sandbox::mount_kind::writable_bind: return "writable";
  case sandbox::mount_kind::device_bind: return "device";
  case sandbox::mount_kind::devices: return "private devices";
  case sandbox::mount_kind::processes: return "own processes";
  case sandbox::mount_kind::empty_folder: return "empty folder";
  case sandbox::mount_kind::folder: return "folder";
  case sandbox::mount_kind::link: return "link";
  case sandbox::mount_kind::denied_file: return "denied";
  case sandbox::mount_kind::seal: return "sealed";
  }
  return "";
}

int explain_landlock(std::string out, const sandbox::mount_plan& view) {
  const auto plan = sandbox::make_landlock_plan(view, sandbox::children_on_host);
  if (!plan) {
    complain(plan.error());
    return sandbox::exit_no_boundary;
  }
  const auto list = [&](std::string_view title, const std::vector<std::string>& paths) {
    if (!paths.empty()) out += std::string{title} + ":\n";
    for (const auto& path : paths)
      out += "  " + path + "\n";
  };
  out += "everything can be read\n";
  list("writable", plan->write_paths);
  list("read-only parts", plan->read_only_paths);
  list("granted by Landlock", plan->grants);
  if (!plan->guards.empty()) out += "guarded while the command runs:\n";
  for (const auto& guard : plan->guards)
    out += "  " + guard.path + ": " + guard.why + "\n";
  warn(plan->warnings);
  return print(out) ? exit_ok : exit_failed;
}

int explain(const permission_profile& profile, const policy::access_context& context,
            sandbox_backend backend, bool managed_network) {
  std::string out = "profile: " + encode_profile(profile) + "\n";
  const auto network = sandbox::choose_network(profile, managed_network);
  out += "network: " + std::string{to_string(network)} + "\n";
  if (profile.kind != profile_kind::managed)
    return print(out + "boundary: none of ours\n") ? exit_ok : exit_failed;
  const auto usable = sandbox::choose_backend(backend, sandbox::look_at_platform(),
                                              sandbox::needs_of(profile, context, network));
  if (!usable) {
    complain(usable.error());
    return sandbox::exit_no_boundary;
  }
  const auto plan =
      sandbox::make_mount_plan(profile, context, sandbox::gather_host_facts(profile, context));
  if (!plan) {
    complain(plan.error());
    return sandbox::exit_no_boundary;
  }
  if (backend == sandbox_backend::landlock) return explain_landlock(std::move(out), *plan);
  out += "view, in this order:\n";
  for (const auto& step : plan->mounts)
    out += "  " + std::string{word_of(step.kind)} + " " + step.target +
           (step.source.empty() || step.source == step.target ? "" : " from " + step.source) + "\n";
  if (!plan->guards.empty()) out += "guarded while the command runs:\n";
  for (const auto& guard : plan->guards)
    out += "  " + guard.path + ": " + guard.why + "\n";
  warn(plan->warnings);
  return print(out) ? exit_ok : exit_failed;
}

} // namespace

int sandbox_command(arguments given) {
  const known_option known[] = {{"--profile", true},
                                {"--cwd", true},
                                {"--allow-read", true, true},
                                {"--allow-write", true, true},
                                {"--deny-read", true, true},
                                {"--net"},
                                {"--backend", true},
                                {"--explain"},
                                {"--help"},
                                {"-h"}};
  const auto read = read_options(given, known);
  if (!read) return wrong_usage(read.error().message, example);
  if (read->has("--help") || read->has("-h")) return print(help) ? exit_ok : exit_failed;
  if (read->rest().empty() && !read->has("--explain"))
    return wrong_usage("the command is missing", example);
  const auto start = load_for(*read);
  if (!start) {
    complain(start.error());
    return exit_wrong_usage;
  }
  warn(start->loaded.warnings);
  auto chosen = choose_profile(*start);
  auto profile = chosen ? widen_and_narrow(*start, *read, std::move(chosen->profile))
                        : result<permission_profile>{chosen.error()};
  if (!profile) {
    complain(profile.error());
    return exit_wrong_usage;
  }
  const auto context = access_context_of(start->loaded.settings, start->where, start->cwd,
                                         std::move(chosen->project_roots));
  const auto backend = chosen_backend(start->loaded.settings);
  if (!backend) {
    complain(backend.error());
    return exit_wrong_usage;
  }
  const bool managed_network = chosen->network && profile->network == network_policy::enabled;
  if (read->has("--explain")) return explain(*profile, context, *backend, managed_network);
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
  std::vector<std::string> kept;
  for (const auto& name : start->loaded.settings.kept_variables)
    kept.push_back(name.value);
  std::vector<std::string> entries;
  for (char** entry = environ; *entry; ++entry)
    entries.emplace_back(*entry);
  entries = policy::without_secrets(std::move(entries), kept);
  std::vector<const char*> environment;
  for (const auto& entry : entries)
    environment.push_back(entry.c_str());
  return sandbox::run_outer(outer, beside_me("gatehouse-sandbox-init"), environment);
}

} // namespace gatehouse::cli
