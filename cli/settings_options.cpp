#include "cli/settings_options.hpp"

#include "cli/guard_programs.hpp"
#include "cli/own_program.hpp"
#include "config/profile_resolver.hpp"
#include "policy/machine_path.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/profile_json.hpp"
#include "sandbox/choose_backend.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

result<std::string> working_folder(const std::string& wanted) {
  char* current = ::getcwd(nullptr, 0);
  if (!current)
    return error{errc::io, std::string{"cannot read the working folder: "} + std::strerror(errno),
                 "Start in a folder that exists."};
  std::string cwd{current};
  std::free(current);
  if (!wanted.empty()) {
    auto named = policy::folder_below(path_convention::posix, cwd, wanted);
    if (!named) return named.error();
    cwd = *std::move(named);
  }
  struct stat about {};
  const int refused = ::stat(cwd.c_str(), &about) != 0   ? errno
                      : !S_ISDIR(about.st_mode)          ? ENOTDIR
                      : ::access(cwd.c_str(), X_OK) != 0 ? errno
                                                         : 0;
  if (refused != 0)
    return error{refused == ENOENT ? errc::not_found : errc::io,
                 "the folder " + cwd + " cannot be entered: " + std::strerror(refused),
                 wanted.empty() ? "Start in a folder that you may enter, or name one with --cwd."
                                : "Correct --cwd."};
  return cwd;
}

} // namespace

result<start_point> load_for(const options& given) {
  return load_for(start_wishes{given.value("--cwd").value_or(""), given.value("--ask"),
                               given.value("--profile"), given.value("--backend")});
}

result<start_point> load_for(const start_wishes& wishes) {
  start_point start;
  start.where = config::locations_from_environment();
  auto cwd = working_folder(wishes.cwd);
  if (!cwd) return cwd.error();
  start.cwd = std::move(*cwd);
  config::settings_layer layer;
  const config::origin here{config::layer::command_line, {}, 0};
  if (const auto& ask = wishes.ask) {
    const auto policy = decode_approval_policy(*ask);
    if (!policy) return policy.error();
    layer.approval = config::setting<approval_policy>{*policy, here};
  }
  if (const auto& name = wishes.backend) {
    const auto backend = *name == "platform" ? sandbox_backend::none : sandbox_backend_from(*name);
    if (!backend || (*backend == sandbox_backend::none && *name != "platform"))
      return error{errc::invalid_request, "`" + *name + "` is not a sandbox backend",
                   "Write platform, linux or landlock after --backend."};
    layer.backend = config::setting<sandbox_backend>{*backend, here};
  }
  if (const auto& profile = wishes.profile) {
    if (profile->starts_with('{')) {
      auto decoded = decode_profile(*profile);
      if (!decoded) return decoded.error();
      start.given_profile = std::move(*decoded);
    } else {
      layer.default_permissions = config::setting<std::string>{*profile, here};
    }
  }
  auto loaded = config::load_settings(start.where, start.cwd, layer);
  if (!loaded) return loaded.error();
  start.loaded = std::move(*loaded);
  start.command_line = std::move(layer);
  return start;
}

result<chosen_profile> choose_profile(const start_point& start) {
  const auto& settings = start.loaded.settings;
  if (start.given_profile) {
    auto profile = config::constrain_profile(settings, *start.given_profile);
    if (!profile) return profile.error();
    return chosen_profile{std::move(*profile), {}, {start.cwd}};
  }
  auto resolved = config::resolve_profile(settings, settings.default_permissions.value, {start.cwd},
                                          start.where.user_home);
  if (!resolved) {
    auto why = resolved.error();
    if (const auto& from = settings.default_permissions.from; !from.file.empty())
      why.message = config::describe(from) + ": default_permissions: " + why.message;
    return why;
  }
  return chosen_profile{std::move(resolved->profile), std::move(resolved->network),
                        std::move(resolved->project_roots)};
}

result<sandbox_backend> chosen_backend(const config::effective_settings& settings) {
  const auto& [wanted, from] = settings.backend;
  std::optional<sandbox_backend> requested;
  if (wanted != sandbox_backend::none) requested = wanted;
  auto chosen = sandbox::backend_on_platform(requested, sandbox::platform_backend());
  if (chosen) return chosen;
  auto why = chosen.error();
  why.message = config::describe(from) + ": " + why.message;
  return why;
}

result<policy::access_context> access_context_of(const config::effective_settings& settings,
                                                 const config::locations& where,
                                                 const std::string& cwd,
                                                 std::vector<std::string> project_roots) {
  const auto guards = guard_programs(where, settings, cwd);
  if (!guards) return guards.error();
  policy::access_context context;
  context.cwd = cwd;
  context.project_roots = std::move(project_roots);
  const char* tmpdir = std::getenv("TMPDIR");
  if (tmpdir && tmpdir[0] == '/') context.tmpdir = tmpdir;
  struct stat about {};
  context.slash_tmp_is_directory = ::stat("/tmp", &about) == 0 && S_ISDIR(about.st_mode);
  context.protected_names = policy::default_protected_names();
  for (const auto& name : settings.protected_names)
    context.protected_names.push_back(name.value);
  context.protected_paths = own_programs();
  for (const auto& path : {where.gatehouse_home, where.state, where.system})
    context.protected_paths.push_back(path);
  for (const auto& guard : *guards)
    context.protected_paths.insert(context.protected_paths.end(), guard.is.files.begin(),
                                   guard.is.files.end());
  return context;
}

} // namespace gatehouse::cli
