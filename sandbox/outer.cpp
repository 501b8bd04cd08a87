#include "sandbox/outer.hpp"

#include "policy/access.hpp"
#include "protocol/profile_json.hpp"
#include "sandbox/bwrap_argv.hpp"
#include "sandbox/choose_backend.hpp"
#include "sandbox/command_environment.hpp"
#include "sandbox/event_report.hpp"
#include "sandbox/file_descriptor.hpp"
#include "sandbox/find_bwrap.hpp"
#include "sandbox/host_paths.hpp"
#include "sandbox/inner_stage.hpp"
#include "sandbox/landlock_backend.hpp"
#include "sandbox/missing_program.hpp"
#include "sandbox/plan.hpp"
#include "sandbox/program_lookup.hpp"
#include "sandbox/supervisor.hpp"
#include "sandbox/view_shares.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace gatehouse::sandbox {

struct bwrap_ahead {
  std::string path;
  struct stat file {}; ///< as it was before it was started
  inner_stage stage;
};

void bwrap_ahead_deleter::operator()(bwrap_ahead* one) const noexcept {
  delete one;
}

namespace {

/// Standard streams exist and lead to nothing that shows the host's tree; nothing else is
/// inherited by any child unless it is meant to be.
result<void> prepare_descriptors() {
  for (int fd = 0; fd < 3; ++fd) {
    struct stat st {};
    if (fstat(fd, &st) != 0) {
      if (open("/dev/null", O_RDWR) != fd)
        return error{errc::boundary_failed, "/dev/null cannot be opened", ""};
    } else if (S_ISDIR(st.st_mode)) {
      return error{errc::invalid_request,
                   "descriptor " + std::to_string(fd) +
                       " is a folder, which would lead the command around its boundary",
                   "redirect it to a file, a pipe or /dev/null"};
    }
  }
  if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
    return error{errc::boundary_unavailable, std::string{"close_range: "} + std::strerror(errno),
                 "Gatehouse needs Linux 5.14 or newer"};
  return {};
}

policy::access_context context_of(const outer_options& options) {
  policy::access_context context;
  context.cwd = options.policy_cwd;
  context.project_roots = options.workspace_roots;
  context.tmpdir = options.tmpdir;
  struct stat st {};
  context.slash_tmp_is_directory = stat("/tmp", &st) == 0 && S_ISDIR(st.st_mode);
  context.protected_names = policy::default_protected_names();
  context.protected_names.insert(context.protected_names.end(), options.protected_names.begin(),
                                 options.protected_names.end());
  context.protected_paths = options.protected_paths;
  return context;
}

/// Every denied file needs an empty descriptor of its own, and bubblewrap closes it.
result<std::vector<file_descriptor>> open_empty_files(std::size_t count) {
  std::vector<file_descriptor> files;
  files.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    files.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!files.back())
      return error{errc::boundary_failed,
                   "the profile denies " + std::to_string(count) +
                       " files here, which is more than this process may open",
                   "deny folders instead of many files, or raise the limit of open files "
                   "(ulimit -n)"};
  }
  return files;
}

std::string canonical(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) ? std::string{buffer} : path;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mode == b.st_mode && a.st_uid == b.st_uid && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
         a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

/// The bubblewrap for commands that `profile` confines.
result<bwrap_program> choose_bwrap(const permission_profile& profile,
                                   const policy::access_context& context) {
  std::vector<std::string> writable_roots;
  for (const auto& root : writable_roots_of(profile, context))
    writable_roots.push_back(canonical(root));
  const char* path_variable = std::getenv("PATH");
  return find_bwrap(path_variable ? path_variable : "", writable_roots);
}

/// A bubblewrap that is set-uid lets nobody but root keep a capability.
bool leaves_a_share(const bwrap_program& bwrap) {
  return !bwrap.setuid || getuid() == 0;
}

/// A boundary of ours is due: which one, and what it is made of.
struct confinement {
  const outer_options& options;
  const permission_profile& profile;
  policy::access_context context;
  network_mode network;
  const std::string& init_path;
  std::span<const char* const> environment;
  event_report& report;

  int fail(const error& why) const {
    report.boundary_failed(why);
    return exit_no_boundary;
  }
  inner_request request_for(sandbox_backend backend) const {
    inner_request request;
    request.network = network;
    request.own_terminal = leads_terminal_session();
    request.command = options.command;
    const bool proxied = backend == sandbox_backend::linux_bubblewrap && options.proxy_fd >= 0;
    request.environment =
        confined_environment(environment, network, backend,
                             proxied ? std::optional{options.local_binding} : std::nullopt);
    return request;
  }
};

result<void> enter(const std::string& folder) {
  if (chdir(folder.c_str()) == 0) return {};
  return error{errc::not_found, "cannot enter " + folder + ": " + std::strerror(errno),
               "choose an existing folder as --command-cwd"};
}

/// Landlock and the filter on the host as it is (§83).
int run_on_host(const confinement& c) {
  const auto facts = gather_host_facts(c.profile, c.context);
  const auto view = make_mount_plan(c.profile, c.context, facts);
  if (!view) return c.fail(view.error());
  auto plan = make_landlock_plan(*view, children_on_host);
  if (!plan) return c.fail(plan.error());
  for (const auto& warning : plan->warnings)
    c.report.warn(warning);
  if (const auto entered = enter(c.options.command_cwd); !entered) return c.fail(entered.error());

  auto request = c.request_for(sandbox_backend::landlock);
  request.on_host = request.guard_creation = true;
  request.write_paths = plan->grants;
  auto stage = inner_stage::start(c.init_path, {}, {}, !request.own_terminal);
  if (!stage) return c.fail(stage.error());
  supervisor watcher{{c.network, request.own_terminal, plan->guards, plan->write_paths,
                      plan->read_only_paths, true, false,
                      [&](const sandbox_event& event) { c.report.send(event); }}};
  return *stage->run(request, {}, &watcher, c.report);
}

/// ": the profile does not show …", ": its interpreter … does not exist", or nothing.
std::string explain_hidden(const confinement& c, std::string_view path) {
  const auto parts = hidden_parts_of(
      c.options.command.front(), c.options.command_cwd, path, [&c](const std::string& file) {
        return policy::evaluate_access(c.profile, c.context, file).granted == access::deny;
      });
  std::string text;
  for (const auto& part : parts)
    text += (text.empty() ? ": the profile does not show " : " and ") + part;
  if (!text.empty()) return text;
  const auto interpreter =
      missing_interpreter_of(c.options.command.front(), c.options.command_cwd, path);
  return interpreter.empty() ? interpreter : ": its interpreter " + interpreter + " does not exist";
}

/// Canonical path of the terminal that standard output is, or empty.
std::string terminal_of_output() {
  char name[PATH_MAX];
  return isatty(1) && ttyname_r(1, name, sizeof name) == 0 ? canonical(name) : std::string{};
}

/// Bubblewrap's mounts and namespaces, with Landlock and the filter inside (§75).
int run_in_view(const confinement& c, bwrap_ahead_ptr ahead) {
  const auto& [options, profile, context, network, init_path, environment, report] = c;
  const auto fail = [&](const error& why) { return c.fail(why); };
  const char* path_variable = std::getenv("PATH");
  const auto bwrap = choose_bwrap(profile, context);
  if (!bwrap) return fail(bwrap.error());

  const bool shared = leaves_a_share(*bwrap);
  std::optional<inner_stage> early;
  struct stat file {};
  if (shared && ahead && ahead->path == bwrap->path && stat(bwrap->path.c_str(), &file) == 0 &&
      is_same_file(file, ahead->file) && ahead->stage.lives())
    early.emplace(std::move(ahead->stage));
  ahead.reset();
  if (shared && !early) {
    auto started = inner_stage::start(init_path, bwrap->path, {});
    if (!started) return fail(started.error());
    early.emplace(*std::move(started));
  }
  const auto facts = gather_host_facts(profile, context);
  const auto plan = make_mount_plan(profile, context, facts);
  if (!plan) return fail(plan.error());
  for (const auto& warning : plan->warnings)
    report.warn(warning);

  auto request = c.request_for(sandbox_backend::linux_bubblewrap);
  request.guard_creation = !plan->guards.empty();
  request.proxy_channel = options.proxy_fd;
  request.forwarded_ports = options.forwarded_ports;
  request.write_paths = plan->write_paths;
  request.explain_missing = [&] { return explain_hidden(c, path_variable ? path_variable : ""); };

  bwrap_options view;
  view.network = request.network;
  view.new_session = !request.own_terminal && session_has_terminal();
  view.chdir = canonical(options.command_cwd);

  const supervisor::setting setting{request.network,
                                    request.own_terminal,
                                    plan->guards,
                                    plan->write_paths,
                                    {},
                                    false,
                                    options.local_binding,
                                    [&c](const sandbox_event& event) { c.report.send(event); }};
  if (early) {
    auto shares = share_view(plan->mounts, terminal_of_output());
    request.steps = std::move(shares.by_inner);
    request.folder = view.chdir;
    view.payload_completes = true;
    supervisor watcher{setting};
    const auto status = early->run(request, bwrap_argv(shares.by_bwrap, view), &watcher, report);
    if (status) return *status;
    early.reset();
  }

  // All of it by bubblewrap: also where a security module forbids mounts to what it starts.
  request.steps.clear();
  request.folder.clear();
  view.payload_completes = false;
  const auto empty_files = open_empty_files(denied_file_count(plan->mounts));
  if (!empty_files) return fail(empty_files.error());
  for (const auto& empty : *empty_files)
    view.empty_fds.push_back(empty.get());
  auto stage = inner_stage::start(init_path, bwrap->path, view.empty_fds);
  if (!stage) return fail(stage.error());
  supervisor watcher{setting};
  return *stage->run(request, bwrap_argv(plan->mounts, view), &watcher, report);
}

/// Disabled and external profiles: no boundary of ours (§60), but the same supervision, so that the
/// whole tree ends with the command (§99a).
int run_supervised(const outer_options& options, const std::string& init_path,
                   std::span<const char* const> environment, event_report& report) {
  if (const auto entered = enter(options.command_cwd); !entered) {
    report.boundary_failed(entered.error());
    return exit_no_boundary;
  }
  inner_request request;
  request.confine = false;
  request.network = network_mode::full;
  request.own_terminal = leads_terminal_session();
  request.command = options.command;
  request.environment.assign(environment.begin(), environment.end());
  auto stage = inner_stage::start(init_path, {}, {});
  if (!stage) {
    report.boundary_failed(stage.error());
    return exit_no_boundary;
  }
  return *stage->run(request, {}, nullptr, report);
}

} // namespace

bwrap_ahead_ptr start_bwrap_ahead(const outer_options& options, const std::string& init_path) {
  signal(SIGPIPE, SIG_IGN);
  auto profile = decode_profile(options.profile_json);
  if (!prepare_descriptors() || !profile || profile->kind != profile_kind::managed ||
      options.legacy_landlock)
    return {};
  auto context = context_of(options);
  hide(*profile, context, options.hidden_paths);
  spell_out(*profile, context);
  const auto bwrap = choose_bwrap(*profile, context);
  struct stat file {};
  if (!bwrap || !leaves_a_share(*bwrap) || stat(bwrap->path.c_str(), &file) != 0) return {};
  auto stage = inner_stage::start(init_path, bwrap->path, {});
  if (!stage) {
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    return {};
  }
  return bwrap_ahead_ptr{new bwrap_ahead{bwrap->path, file, *std::move(stage)}};
}

int run_outer(const outer_options& options, const std::string& init_path,
              std::span<const char* const> environment, bwrap_ahead_ptr ahead) {
  signal(SIGPIPE, SIG_IGN);
  const auto prepared = prepare_descriptors();
  event_report report{options.report_fd};
  if (!prepared) {
    report.boundary_failed(prepared.error());
    return prepared.error().code == errc::invalid_request ? exit_wrong_usage : exit_no_boundary;
  }
  auto profile = decode_profile(options.profile_json);
  if (!profile) {
    report.boundary_failed(profile.error());
    return exit_wrong_usage;
  }
  const auto drop = [&ahead] { // it is to be as if there had been none
    if (std::exchange(ahead, {})) prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  };
  if (profile->kind != profile_kind::managed) {
    drop();
    return run_supervised(options, init_path, environment, report);
  }
  auto context = context_of(options);
  hide(*profile, context, options.hidden_paths);
  const auto network = choose_network(*profile, options.proxy_network);
  const auto needs = needs_of(*profile, context, network);
  spell_out(*profile, context);
  const confinement c{options,     *profile, std::move(context), network, init_path,
                      environment, report};
  const auto requested =
      options.legacy_landlock ? std::optional{sandbox_backend::landlock} : std::nullopt;
  const auto backend = choose_backend(requested, look_at_platform(), needs);
  if (!backend) return c.fail(backend.error());
  if (*backend != sandbox_backend::landlock) return run_in_view(c, std::move(ahead));
  drop();
  return run_on_host(c);
}

} // namespace gatehouse::sandbox
