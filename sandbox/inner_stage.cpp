#include "sandbox/inner_stage.hpp"

#include "sandbox/file_descriptor.hpp"
#include "sandbox/init_protocol.hpp"
#include "sandbox/inner_conversation.hpp"
#include "sandbox/kernel_call.hpp"
#include "sandbox/launch.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

namespace gatehouse::sandbox {
namespace {

error system_failure(const std::string& what) {
  const bool short_of = errno == EAGAIN || errno == EMFILE || errno == ENFILE || errno == ENOMEM;
  return {errc::boundary_failed, what + ": " + std::strerror(errno),
          short_of ? "end other calls or raise the limits of open files, processes and memory"
                   : "run `gatehouse doctor` to see what this host can enforce"};
}

/// @return false with errno set
bool write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size = write(fd, bytes.data() + done, bytes.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    done += static_cast<std::size_t>(size);
  }
  return true;
}

/// NUL-terminated, one after the other.
void append(std::string& bytes, std::span<const std::string> strings) {
  for (const auto& one : strings)
    bytes.append(one.c_str(), std::strlen(one.c_str()) + 1);
}

/// What the inner stage must not see, too.
result<void> describe_own_place(init::spec_header& head) {
  struct statx st {};
  if (statx(AT_FDCWD, "/", 0, STATX_MNT_ID, &st) != 0 || (st.stx_mask & STATX_MNT_ID) == 0)
    return error{errc::boundary_unavailable, "the mount of / has no id",
                 "Gatehouse needs Linux 5.14 or newer"};
  head.outer_root_mount = st.stx_mnt_id;
  const file_descriptor any{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  socklen_t size = sizeof head.outer_network_cookie;
  if (!any ||
      getsockopt(any.get(), SOL_SOCKET, SO_NETNS_COOKIE, &head.outer_network_cookie, &size) != 0)
    return error{errc::boundary_unavailable, "the network namespace has no cookie",
                 "Gatehouse needs Linux 5.14 or newer"};
  return {};
}

std::string spec_bytes(const inner_request& request, int stderr_fd, init::spec_header head) {
  head.magic = init::spec_magic;
  head.flags = (request.confine ? init::confine : 0u) |
               (request.guard_creation ? init::guard_creation : 0u) |
               (request.own_terminal ? init::own_terminal : 0u) |
               (request.on_host ? init::on_host : 0u) |
               (request.folder.empty() ? 0u : init::complete_view);
  head.network = request.network == network_mode::full       ? init::full
                 : request.network == network_mode::isolated ? init::isolated
                                                             : init::proxy_only;
  head.stderr_fd = stderr_fd;
  head.argument_count = static_cast<std::uint32_t>(request.command.size());
  head.environment_count = static_cast<std::uint32_t>(request.environment.size());
  head.write_path_count = static_cast<std::uint32_t>(request.write_paths.size());
  head.step_count = static_cast<std::uint32_t>(request.steps.size());
  head.bridge = request.network == network_mode::proxy_only && request.proxy_channel >= 0;
  for (const auto port : request.forwarded_ports)
    if (head.forwarded_count < init::most_forwarded_ports)
      head.forwarded[head.forwarded_count++] = port;
  std::string bytes{reinterpret_cast<const char*>(&head), sizeof head};
  for (const auto& step : request.steps) {
    const init::view_step described{static_cast<std::uint32_t>(step.kind), step.perms};
    bytes.append(reinterpret_cast<const char*>(&described), sizeof described);
  }
  append(bytes, request.command);
  append(bytes, request.environment);
  append(bytes, request.write_paths);
  for (const auto& step : request.steps)
    append(bytes, std::array{step.target, step.source});
  if (!request.folder.empty()) append(bytes, std::array{request.folder});
  return bytes;
}

} // namespace

struct inner_stage::state {
  file_descriptor control, inner_control; ///< ours, the inner stage's
  file_descriptor complaints, inner_complaints;
  file_descriptor arguments, bwrap_arguments; ///< bubblewrap reads its options to the end of a pipe
  file_descriptor stderr_copy;
  file_descriptor signals;
  file_descriptor spec; ///< memory file, filled by run()
  file_descriptor init;
  pid_t child = -1;
  file_descriptor ended; ///< of the child

  ~state() {
    if (child < 0) return;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }

  result<void> open(const std::string& init_path, bool with_bwrap);
  result<void> spawn(const std::string& bwrap, std::span<const int> inherited, bool new_session);
  result<bool> tell(const inner_request& request, std::span<const std::string> arguments);
};

result<void> inner_stage::state::open(const std::string& init_path, bool with_bwrap) {
  init.reset(::open(init_path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!init)
    return error{errc::boundary_unavailable,
                 init_path + " cannot be opened: " + std::strerror(errno),
                 "install gatehouse-sandbox-init beside gatehouse-sandbox"};
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return system_failure("cannot make a socket pair");
  control.reset(pair[0]);
  inner_control.reset(pair[1]);
  const int on = 1;
  if (with_bwrap && (setsockopt(control.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
                     prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0))
    return system_failure("cannot become the reaper of the inner stage");
  if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) != 0) return system_failure("cannot make a pipe");
  complaints.reset(pair[0]);
  inner_complaints.reset(pair[1]);
  if (with_bwrap) {
    if (pipe2(pair, O_CLOEXEC) != 0) return system_failure("cannot make a pipe");
    bwrap_arguments.reset(pair[0]);
    arguments.reset(pair[1]);
  }
  stderr_copy.reset(fcntl(2, F_DUPFD_CLOEXEC, 3));
  if (!stderr_copy) return system_failure("cannot duplicate standard error");
  spec.reset(memfd_create("spec", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!spec) return system_failure("cannot make a memory file");

  sigset_t set;
  sigemptyset(&set);
  for (const int one : forwarded_signals)
    sigaddset(&set, one);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return system_failure("cannot watch signals");
  return {};
}

namespace {

struct child_plan {
  const char* program;
  const char* const* argv;
  std::span<const int> kept; ///< descriptors to be inherited
  int complaints;            ///< becomes descriptor 2
  bool new_session;
  pid_t parent;
  volatile int failure; ///< errno of the execution
};

/// What the new process does; a frame of its own, because the memory is the parent's (vfork).
[[noreturn, gnu::noinline, gnu::no_sanitize_address]] void become_child(child_plan& plan) {
  // First, since a stopped one does not see that we are gone. No harsher signal: bubblewrap takes
  // one of its own once its child would not wait for it for ever, and an inner stage without
  // namespaces has its tree to end first.
  kernel_call(SYS_prctl, PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0);
  if (kernel_call(SYS_getppid) != plan.parent) kernel_call(SYS_exit_group, 127);
  // Signals for our group must reach the command through us only, once and in order.
  if (plan.new_session)
    kernel_call(SYS_setsid);
  else
    kernel_call(SYS_setpgid, 0, 0);
  // Whatever our own caller ignores, the command starts like any other program.
  reset_signal_actions();
  kernel_call(SYS_dup3, plan.complaints, 2, 0);
  for (const int fd : plan.kept)
    kernel_call(SYS_fcntl, fd, F_SETFD, 0);
  // The kernel sends it to stopped processes when we end; bubblewrap would leave a child behind.
  const std::uint64_t blocked = std::uint64_t{1} << (SIGHUP - 1);
  kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, nullptr, sizeof blocked);
  const char* environment[] = {nullptr};
  plan.failure = static_cast<int>(-kernel_call(SYS_execve, plan.program, plan.argv, environment));
  for (;;)
    kernel_call(SYS_exit_group, 127);
}

/// posix_spawn without its two calls per signal. No handler of ours can run meanwhile: there is
/// none. @return the pid or -1 with errno; plan.failure says whether the program was executed
[[gnu::noinline, gnu::no_sanitize_address]] pid_t start_child(child_plan& plan) {
  const pid_t pid = vfork();        // NOLINT(clang-analyzer-security.insecureAPI.vfork)
  if (pid == 0) become_child(plan); // NOLINT(clang-analyzer-unix.Vfork): kernel calls only
  return pid;
}

} // namespace

/// The environment is empty: nothing the command's environment holds (LD_PRELOAD, say) may act on
/// the programs that build its boundary.
result<void> inner_stage::state::spawn(const std::string& bwrap, std::span<const int> inherited,
                                       bool new_session) {
  const std::string payload = "/proc/self/fd/" + std::to_string(init.get());
  const std::string control_text = std::to_string(inner_control.get());
  const std::string spec_text = std::to_string(spec.get());
  const std::string arguments_text = std::to_string(bwrap_arguments.get());
  std::vector<const char*> argv;
  // The inner stage is process 1 itself.
  if (!bwrap.empty()) argv = {"bwrap", "--as-pid-1", "--args", arguments_text.c_str(), "--"};
  argv.insert(argv.end(), {payload.c_str(), control_text.c_str(), spec_text.c_str(), nullptr});

  std::vector<int> kept(inherited.begin(), inherited.end());
  for (const int fd :
       {init.get(), inner_control.get(), spec.get(), stderr_copy.get(), bwrap_arguments.get()})
    if (fd >= 0) kept.push_back(fd);
  child_plan plan{bwrap.empty() ? payload.c_str() : bwrap.c_str(),
                  argv.data(),
                  kept,
                  inner_complaints.get(),
                  new_session,
                  getpid(),
                  0};
  const pid_t started = start_child(plan);
  if (started < 0 || plan.failure != 0) {
    if (started > 0) waitpid(started, nullptr, 0);
    if (started > 0) errno = plan.failure;
    return system_failure(std::string{"cannot start "} + plan.program);
  }
  child = started;
  inner_control.reset();
  inner_complaints.reset();
  bwrap_arguments.reset();
  ended.reset(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  if (!ended) return system_failure("cannot watch the process that was started");
  return {};
}

/// The word to go on comes last: the inner stage does nothing before it.
/// @return false: it has ended before it could be told
result<bool> inner_stage::state::tell(const inner_request& request,
                                      std::span<const std::string> bwrap_options) {
  init::spec_header head{};
  if (request.confine && !request.on_host)
    if (auto described = describe_own_place(head); !described) return described.error();
  if (!write_all(spec.get(), spec_bytes(request, stderr_copy.get(), head)))
    return system_failure("cannot fill a memory file");
  fcntl(spec.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  const init::message go{init::proceed, 0, 0};
  if (send(control.get(), &go, sizeof go, MSG_NOSIGNAL) != sizeof go) {
    if (errno == EPIPE || errno == ECONNRESET) return false;
    return system_failure("cannot speak to the inner stage");
  }
  if (arguments) {
    std::string bytes;
    append(bytes, bwrap_options);
    // When bubblewrap has ended instead of reading, its own words say why.
    if (!write_all(arguments.get(), bytes) && errno != EPIPE)
      return system_failure("cannot speak to bubblewrap");
    arguments.reset();
  }
  return true;
}

bool leads_terminal_session() noexcept {
  return getsid(0) == getpid() && tcgetsid(0) == getpid();
}

bool session_has_terminal() noexcept {
  const file_descriptor terminal{open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)};
  return terminal || errno != ENXIO;
}

inner_stage::inner_stage(std::unique_ptr<state> s) noexcept : state_{std::move(s)} {}
inner_stage::inner_stage(inner_stage&&) noexcept = default;
inner_stage::~inner_stage() = default;

result<inner_stage> inner_stage::start(const std::string& init_path, const std::string& bwrap,
                                       std::span<const int> inherited, bool new_session) {
  auto s = std::make_unique<state>();
  if (const auto opened = s->open(init_path, !bwrap.empty()); !opened) return opened.error();
  if (const auto spawned = s->spawn(bwrap, inherited, new_session); !spawned)
    return spawned.error();
  return inner_stage{std::move(s)};
}

bool inner_stage::lives() const noexcept {
  pollfd ended{state_->ended.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 0;
}

std::optional<int> inner_stage::run(const inner_request& request,
                                    std::span<const std::string> bwrap_arguments,
                                    supervisor* watcher, event_report& report) {
  state& s = *state_;
  const auto told = s.tell(request, bwrap_arguments);
  if (!told) {
    report.boundary_failed(told.error());
    return exit_no_boundary;
  }
  inner_conversation talk{s.control.get(), request.proxy_channel, watcher, report, *told};
  pid_t last_pid = 0; ///< of the inner stage, once the command has ended
  bool talking = true, supervising = watcher != nullptr;
  for (;;) {
    pollfd watched[] = {{s.ended.get(), POLLIN, 0},
                        {talking ? s.control.get() : -1, POLLIN, 0},
                        {s.signals.get(), POLLIN, 0},
                        {supervising ? watcher->listener() : -1, POLLIN, 0}};
    if (poll(watched, std::size(watched), -1) < 0) continue;
    if (watched[2].revents) talk.forward_signals(s.signals.get());
    if (watched[1].revents) talking = talk.read();
    if (watched[3].revents & POLLIN)
      watcher->serve();
    else if (watched[3].revents)
      supervising = false; // no process uses the filter any more
    if (watched[0].revents) break;
    // What is left of the namespaces goes down while bubblewrap, which only waits for it, is gone.
    if (last_pid == 0 && (last_pid = talk.ended_by()) != 0) kill(s.child, SIGKILL);
  }
  // What was said last may still lie in the socket.
  if (talking && last_pid == 0)
    talk.read_to_its_end();
  else if (talking)
    talk.read();
  int status = 0;
  waitpid(s.child, &status, 0);
  s.child = -1;
  // With bubblewrap gone the inner stage is our child; pid 1 ends after all others.
  if (last_pid > 0)
    while (waitpid(last_pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  if (talk.view_is_incomplete()) return std::nullopt;
  return talk.conclude(status, s.complaints.get(), request.command.front(),
                       request.explain_missing);
}

} // namespace gatehouse::sandbox
