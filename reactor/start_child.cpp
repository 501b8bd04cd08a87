#include "reactor/detail/start_child.hpp"

#include "reactor/descriptor_limit.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <optional>
#include <pthread.h>
#include <set>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gatehouse::reactor {
namespace {

/// Where the child was when it failed: sent to the parent with the errno.
enum class step : int { session, parent_death, signals, terminal, descriptors, folder, program };

struct report {
  step where = step::session;
  int code = 0;
};

/// All that the child needs, made before it exists: between vfork and execve it may neither
/// allocate nor lock, and it shares our memory.
struct child_plan {
  const char* program = nullptr;
  char* const* argv = nullptr;
  char* const* env = nullptr;
  const char* cwd = nullptr;
  pid_t parent = 0;
  bool terminal = false;
  int report_fd = -1;
  passed_fd* fds = nullptr; ///< what to put where, 0–2 included; the child overwrites `parent_fd`
  std::size_t fd_count = 0;
  int first_free_fd = 3; ///< above every `child_fd`
  const rlimit* files = nullptr;
};

[[noreturn]] void fail(int report_fd, step where) {
  const report r{where, errno};
  // The pipe is empty and its reader waits, so that this write cannot be partial.
  while (::write(report_fd, &r, sizeof r) < 0 && errno == EINTR) {
  }
  ::_exit(127);
}

bool default_signals() {
  // Raw, since the C library keeps two signals to itself and sanitizers keep a table in memory that
  // is still the parent's.
  constexpr std::size_t sigset_bytes = 8;
  const std::uint64_t default_action[4] = {}; // handler, flags, restorer, mask
  for (int signal = 1; signal <= 64; ++signal)
    if (signal != SIGKILL && signal != SIGSTOP &&
        ::syscall(SYS_rt_sigaction, signal, default_action, nullptr, sigset_bytes) != 0)
      return false;
  const std::uint64_t nothing_blocked = 0;
  return ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing_blocked, nullptr, sigset_bytes) == 0;
}

bool place_descriptors(const child_plan& plan, int& report_fd) {
  // First out of the way of all targets, then each onto its own.
  report_fd = ::fcntl(plan.report_fd, F_DUPFD_CLOEXEC, plan.first_free_fd);
  if (report_fd < 0) {
    report_fd = plan.report_fd;
    return false;
  }
  for (std::size_t i = 0; i < plan.fd_count; ++i) {
    plan.fds[i].parent_fd = ::fcntl(plan.fds[i].parent_fd, F_DUPFD_CLOEXEC, plan.first_free_fd);
    if (plan.fds[i].parent_fd < 0) return false;
  }
  if (::syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return false;
  for (std::size_t i = 0; i < plan.fd_count; ++i)
    if (::dup2(plan.fds[i].parent_fd, plan.fds[i].child_fd) < 0) return false;
  return true;
}

[[noreturn]] void run_child(const child_plan& plan) {
  int report_fd = plan.report_fd;
  // First: who stops before it is tied to the daemon outlives it.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(report_fd, step::parent_death);
  // The parent may have died before the line above; then nobody waits for a report.
  if (::getppid() != plan.parent) ::_exit(127);
  if (::setsid() < 0) fail(report_fd, step::session);
  if (!place_descriptors(plan, report_fd)) fail(report_fd, step::descriptors);
  if (plan.files != nullptr && ::setrlimit(RLIMIT_NOFILE, plan.files) != 0)
    fail(report_fd, step::descriptors);
  if (plan.terminal && ::ioctl(STDOUT_FILENO, TIOCSCTTY, 0) != 0) fail(report_fd, step::terminal);
  if (plan.cwd != nullptr && ::chdir(plan.cwd) != 0) fail(report_fd, step::folder);
  if (!default_signals()) fail(report_fd, step::signals);
  ::execve(plan.program, plan.argv, plan.env);
  fail(report_fd, step::program);
}

pid_t start(const child_plan& plan) {
  const pid_t pid = ::vfork();   // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (pid == 0) run_child(plan); // NOLINT(clang-analyzer-unix.Vfork): kernel calls only
  return pid;
}

error system_error(std::string what, int code) {
  const bool exhausted = code == EMFILE || code == ENFILE || code == EAGAIN || code == ENOMEM;
  return {exhausted ? errc::io : errc::spawn_failed, std::move(what) + ": " + std::strerror(code),
          exhausted ? "end other calls or raise the limits of open files and processes" : ""};
}

error child_error(const report& r, const std::string& program, const spawn_request& request) {
  const std::string reason = std::strerror(r.code);
  switch (r.where) {
  case step::session: return system_error("cannot start a session for the child", r.code);
  case step::parent_death: return system_error("cannot tie the child to the daemon", r.code);
  case step::signals: return system_error("cannot reset the child's signals", r.code);
  case step::terminal: return system_error("cannot give the child its terminal", r.code);
  case step::descriptors:
    return system_error(r.code == EINVAL || r.code == ENOSYS
                            ? "cannot arrange the child's descriptors (needs Linux 5.11)"
                            : "cannot arrange the child's descriptors",
                        r.code);
  case step::folder:
    return {errc::invalid_request,
            "cannot enter the working folder '" + request.cwd + "': " + reason,
            "name an existing folder that may be entered"};
  case step::program: break;
  }
  if (r.code == ENOENT || r.code == ENOTDIR)
    return {errc::not_found,
            "cannot execute '" + program + "': it, or its interpreter, does not exist",
            "check the path, and the first line of a script"};
  if (r.code == E2BIG)
    return {errc::too_large,
            "cannot execute '" + program + "': arguments and environment are too long",
            "pass long input through a file or standard input"};
  if (r.code == ENOEXEC || r.code == EACCES)
    return {errc::spawn_failed, "cannot execute '" + program + "': " + reason,
            "it must be an executable file, a script with an interpreter in its first line"};
  return system_error("cannot execute '" + program + "'", r.code);
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

result<void> check(const spawn_request& request) {
  const auto refuse = [](std::string message, std::string remedy) {
    return error{errc::invalid_request, std::move(message), std::move(remedy)};
  };
  if (request.argv.empty() || (request.program.empty() && request.argv.front().empty()))
    return refuse("no program to start: argv is empty", "name a program");
  if (!request.program.empty() && request.program.front() != '/')
    return refuse("program '" + request.program + "' is not an absolute path", "resolve it first");
  if (has_nul(request.program) || has_nul(request.cwd))
    return refuse("the program or working folder holds a NUL byte", "remove it");
  for (std::size_t i = 0; i < request.argv.size(); ++i)
    if (has_nul(request.argv[i]))
      return refuse("argv/" + std::to_string(i) + " holds a NUL byte", "remove it");
  for (std::size_t i = 0; i < request.env.size(); ++i)
    if (has_nul(request.env[i]) || request.env[i].find('=', 1) == std::string::npos)
      return refuse("env/" + std::to_string(i) + " is not of the form K=V", "correct it");
  if (request.input == stdin_mode::pty && request.output != output_mode::pty)
    return refuse("a terminal as input needs a terminal as output", "ask for both");
  std::set<int> targets;
  for (const auto& passed : request.pass_fds)
    if (passed.parent_fd < 0 || passed.child_fd < 3 || !targets.insert(passed.child_fd).second)
      return refuse("descriptor " + std::to_string(passed.parent_fd) + " cannot be passed as " +
                        std::to_string(passed.child_fd),
                    "pass each as its own number above 2");
  return {};
}

bool is_executable_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

result<std::string> find_program(const spawn_request& request) {
  if (!request.program.empty()) return request.program;
  const std::string& name = request.argv.front();
  if (name.find('/') != std::string::npos) return name;
  std::string_view path;
  for (const auto& entry : request.env)
    if (entry.starts_with("PATH=")) path = std::string_view{entry}.substr(5);
  while (!path.empty()) {
    const auto colon = path.find(':');
    const std::string folder{path.substr(0, colon)};
    path = colon == std::string_view::npos ? std::string_view{} : path.substr(colon + 1);
    if (folder.starts_with('/') && is_executable_file(folder + "/" + name))
      return folder + "/" + name;
  }
  return error{errc::not_found, "program '" + name + "' is not in the PATH of the call",
               "install it, or name it by its path"};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const auto& text : texts)
    out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

result<pipe_ends> make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return system_error("cannot create a pipe", errno);
  return pipe_ends{unique_fd{fds[0]}, unique_fd{fds[1]}};
}

bool set_non_blocking(const unique_fd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  return flags >= 0 && ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) == 0;
}

/// {master, slave}
result<pipe_ends> make_terminal(window_size size) {
  pipe_ends ends{unique_fd{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)}, {}};
  if (!ends.read || ::unlockpt(ends.read.get()) != 0)
    return system_error("cannot open a pseudo-terminal", errno);
  // By descriptor: its name under /dev/pts may belong to another mount namespace.
  ends.write.reset(::ioctl(ends.read.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  const winsize window{size.rows, size.columns, 0, 0};
  if (!ends.write || ::ioctl(ends.write.get(), TIOCSWINSZ, &window) != 0)
    return system_error("cannot set up a pseudo-terminal", errno);
  return ends;
}

/// Blocks every signal for as long as it lives: a handler must not run in a child that shares our
/// memory.
class all_signals_blocked {
public:
  all_signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~all_signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;

private:
  sigset_t before_{};
};

/// The child's ends, alive until it has its own copies.
struct child_ends {
  unique_fd input;
  unique_fd output;
  unique_fd errors;
};

result<void> open_ends(const spawn_request& request, started_child& ours, child_ends& theirs) {
  if (request.output == output_mode::pty) {
    auto terminal = make_terminal(request.terminal);
    if (!terminal) return terminal.error();
    ours.output = std::move(terminal->read);
    theirs.output = std::move(terminal->write);
  }
  if (request.output == output_mode::pipes) {
    auto out = make_pipe();
    if (!out) return out.error();
    auto err = make_pipe();
    if (!err) return err.error();
    ours.output = std::move(out->read);
    theirs.output = std::move(out->write);
    ours.errors = std::move(err->read);
    theirs.errors = std::move(err->write);
  }
  if (request.input == stdin_mode::pipe) {
    auto in = make_pipe();
    if (!in) return in.error();
    ours.input = std::move(in->write);
    theirs.input = std::move(in->read);
  }
  if (request.input == stdin_mode::null) {
    theirs.input.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!theirs.input) return system_error("cannot open /dev/null", errno);
  }
  for (const auto* fd : {&ours.input, &ours.output, &ours.errors})
    if (*fd && !set_non_blocking(*fd))
      return system_error("cannot make a descriptor non-blocking", errno);
  return {};
}

void reap(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// What the child said before it executed its program: nothing when that worked.
std::optional<report> read_report(int fd) {
  report r;
  ssize_t n = 0;
  do
    n = ::read(fd, &r, sizeof r);
  while (n < 0 && errno == EINTR);
  if (n == 0) return std::nullopt;
  if (n != static_cast<ssize_t>(sizeof r)) return report{step::session, n < 0 ? errno : EPROTO};
  return r;
}

} // namespace

result<started_child> start_child(const spawn_request& request) {
  if (auto ok = check(request); !ok) return ok.error();
  const auto program = find_program(request);
  if (!program) return program.error();
  started_child child;
  child_ends theirs;
  if (auto ok = open_ends(request, child, theirs); !ok) return ok.error();
  auto report_pipe = make_pipe();
  if (!report_pipe) return report_pipe.error();

  const auto argv = pointers(request.argv);
  const auto env = pointers(request.env);
  const bool terminal = request.output == output_mode::pty;
  auto fds = request.pass_fds;
  if (request.input == stdin_mode::pty)
    fds.push_back({theirs.output.get(), STDIN_FILENO});
  else if (theirs.input)
    fds.push_back({theirs.input.get(), STDIN_FILENO});
  if (theirs.output) {
    fds.push_back({theirs.output.get(), STDOUT_FILENO});
    fds.push_back({terminal ? theirs.output.get() : theirs.errors.get(), STDERR_FILENO});
  }
  child_plan plan{.program = program->c_str(),
                  .argv = argv.data(),
                  .env = env.data(),
                  .cwd = request.cwd.empty() ? nullptr : request.cwd.c_str(),
                  .parent = ::getpid(),
                  .terminal = terminal,
                  .report_fd = report_pipe->write.get(),
                  .fds = fds.data(),
                  .fd_count = fds.size()};
  if (const auto& files = descriptor_limit_of_children()) plan.files = &*files;
  for (const auto& fd : fds)
    plan.first_free_fd = std::max(plan.first_free_fd, fd.child_fd + 1);
  {
    const all_signals_blocked guard;
    child.pid = start(plan);
    if (child.pid < 0) return system_error("cannot create a process", errno);
  }
  report_pipe->write.reset();
  if (const auto failed = read_report(report_pipe->read.get())) {
    reap(child.pid);
    return child_error(*failed, *program, request);
  }
  child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  if (!child.pidfd) {
    const int code = errno;
    ::kill(child.pid, SIGKILL);
    reap(child.pid);
    return system_error("cannot watch the child", code);
  }
  return child;
}

} // namespace gatehouse::reactor
