#include "sandbox/doctor.hpp"
#include "sandbox/file_descriptor.hpp"
#include "sandbox/find_bwrap.hpp"
#include "sandbox/landlock.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

namespace gatehouse::sandbox {
namespace {

constexpr auto longest_trial = std::chrono::seconds{10};

std::string read_file(const char* path) {
  const file_descriptor file{open(path, O_RDONLY | O_CLOEXEC)};
  char text[4096];
  const ssize_t size = file ? read(file.get(), text, sizeof text) : 0;
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::optional<long> read_number(const char* path) {
  const std::string text = read_file(path);
  long value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc{} ? std::optional{value} : std::nullopt;
}

/// Runs `attempt` in a child, which may give up whatever it likes. @return its errno, 0 for success
template <class F>
int in_child(F attempt) {
  const pid_t child = fork();
  if (child == 0) _exit(attempt() ? 0 : std::max(1, std::min(errno, 255)));
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

bool load_supervised_filter() {
  sock_filter allow_all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{1, allow_all};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                 &program) >= 0;
}

struct trial_run {
  int status = -1; ///< exit status; -1: not started, did not end in time, or ended by a signal
  std::string said;
};

/// Runs a program without input and with an almost empty environment, and reads what it says.
trial_run try_program(std::initializer_list<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const file_descriptor from{ends[0]};
  file_descriptor to{ends[1]};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, to.get(), 1);
  posix_spawn_file_actions_adddup2(&files, to.get(), 2);
  std::vector<char*> argv;
  for (const auto& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
  char* environment[] = {path, nullptr};
  pid_t child = -1;
  const int failure = posix_spawn(&child, argv[0], &files, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&files);
  if (failure != 0) return {-1, std::strerror(failure)};
  to.reset();

  trial_run run;
  const auto end = std::chrono::steady_clock::now() + longest_trial;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd watched{from.get(), POLLIN, 0};
    if (left.count() <= 0 || poll(&watched, 1, static_cast<int>(left.count())) == 0) {
      kill(child, SIGKILL);
      run.said += "it did not end within 10 seconds";
      break;
    }
    char text[4096];
    const ssize_t size = read(from.get(), text, sizeof text);
    if (size <= 0) break;
    run.said.append(text, static_cast<std::size_t>(size));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) run.status = WEXITSTATUS(status);
  return run;
}

bool make_file(const std::string& path) {
  const file_descriptor file{open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  return file && write(file.get(), "secret\n", 7) == 7;
}

/// The network namespace of this process, as `readlink` prints it.
std::string own_network() {
  char name[64];
  const ssize_t size = readlink("/proc/self/ns/net", name, sizeof name);
  return {name, size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// The real thing, end to end: a read-only command that starts, and then writes, reads what is
/// denied, and looks whose network it is in. What it got away with is the complaint.
void try_boundary(const std::string& helper, host_findings& found) {
  char folder[] = "/var/tmp/gatehouse-doctor-XXXXXX";
  if (!mkdtemp(folder)) {
    found.boundary_complaint =
        std::string{"no folder can be made in /var/tmp: "} + std::strerror(errno);
    return;
  }
  const std::string forbidden = std::string{folder} + "/written";
  const std::string denied = std::string{folder} + "/denied";
  if (!make_file(denied)) {
    found.boundary_complaint =
        std::string{"no file can be made in /var/tmp: "} + std::strerror(errno);
    rmdir(folder);
    return;
  }
  const std::string read_only =
      R"({"type":"managed","file_system":{"type":"restricted","entries":[)"
      R"({"path":{"type":"special","value":{"kind":"root"}},"access":"read"},)"
      R"({"path":{"type":"path","path":")" +
      denied + R"("},"access":"deny"}]},"network":"restricted"})";
  const trial_run run = try_program(
      {helper, "--sandbox-policy-cwd", folder, "--permission-profile", read_only, "--", "/bin/sh",
       "-c",
       "echo started; readlink /proc/self/ns/net; cat " + denied + "; (: > " + forbidden + ")"});
  const bool started = run.said.starts_with("started");
  const auto escaped = [&](const char* what) {
    found.boundary = host_findings::trial::broken;
    found.boundary_complaint += found.boundary_complaint.empty() ? what : std::string{", "} + what;
  };
  if (::access(forbidden.c_str(), F_OK) == 0) escaped("wrote where it must not");
  if (run.said.find("\nsecret\n") != std::string::npos) escaped("read what is denied");
  if (started && run.said.find(own_network()) != std::string::npos)
    escaped("was in the host's network");
  if (found.boundary == host_findings::trial::broken) {
    // The complaint is complete.
  } else if (started && run.status > 0)
    found.boundary = host_findings::trial::held;
  else
    found.boundary_complaint = run.said.empty() ? "the helper said nothing" : run.said;
  while (found.boundary_complaint.ends_with('\n'))
    found.boundary_complaint.pop_back();
  unlink(forbidden.c_str());
  unlink(denied.c_str());
  rmdir(folder);
}

} // namespace

host_findings examine_host(const std::string& helper, std::string_view path_variable) {
  host_findings found;
  utsname host{};
  if (uname(&host) == 0) found.kernel_release = host.release;
  found.kernel_version_text = read_file("/proc/version");
  found.is_root = geteuid() == 0;
  found.max_user_namespaces = read_number("/proc/sys/user/max_user_namespaces");
  found.unprivileged_userns_clone = read_number("/proc/sys/kernel/unprivileged_userns_clone");
  found.apparmor_restricts_namespaces =
      read_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  found.ptrace_scope = read_number("/proc/sys/kernel/yama/ptrace_scope");
  // Registered by WSL in one of two names; "enabled" is the first line.
  for (const auto* entry :
       {"/proc/sys/fs/binfmt_misc/WSLInterop", "/proc/sys/fs/binfmt_misc/WSLInterop-late"})
    if (const auto text = read_file(entry); !text.empty())
      found.wsl_interop = found.wsl_interop.value_or(false) || text.starts_with("enabled");
  found.user_namespace_error = in_child([] { return unshare(CLONE_NEWUSER) == 0; });
  found.network_namespace_error =
      in_child([] { return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0; });
  found.filter_error = in_child(load_supervised_filter);
  found.landlock_abi = landlock::abi_version();

  const auto bwrap = find_bwrap(path_variable, {});
  if (bwrap) {
    found.bwrap_path = bwrap->path;
    found.bwrap_setuid = bwrap->setuid;
    found.bwrap_version = try_program({bwrap->path, "--version"}).said;
    while (found.bwrap_version.ends_with('\n'))
      found.bwrap_version.pop_back();
    // The inner stage without arguments ends with status 2: then the view stands.
    const std::string init = helper + "-init";
    const trial_run view =
        try_program({bwrap->path, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL",
                     "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", init});
    if (view.status != 2) found.view_complaint = view.said;
  } else {
    found.bwrap_missing = bwrap.error().message;
  }
  try_boundary(helper, found);
  return found;
}

} // namespace gatehouse::sandbox
