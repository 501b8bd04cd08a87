// gatehouse-sandbox-init: the inner stage (§77). It is what bubblewrap starts as process 1 of the
// finished view: it lays the last walls (no_new_privs, Landlock, seccomp), starts the command,
// forwards signals to it, reaps, and ends with it, which ends everything in the namespace.
//
// usage: gatehouse-sandbox-init CONTROL_FD SPEC_FD     (only ever started by gatehouse-sandbox)
//
// Static, libc only, no allocation: it must start in a fraction of a millisecond and must not
// depend on anything in the view.
#include "sandbox/init_protocol.hpp"
#include "sandbox/landlock.hpp"
#include "seccomp_programs.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace gatehouse::sandbox;
using init::stage;

int control = -1;

void send_message(const init::message& m, int attached = -1) {
  init::message copy = m;
  iovec data{&copy, sizeof copy};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (attached >= 0) {
    header.msg_control = space;
    header.msg_controllen = sizeof space;
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &attached, sizeof attached);
  }
  while (sendmsg(control, &header, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void refuse(stage where, int failure) {
  send_message({init::boundary_failed, failure, static_cast<std::uint32_t>(where)});
  _exit(121);
}

/// The specification, mapped: pointers into it live as long as the process.
struct spec {
  const init::spec_header* head = nullptr;
  char** arguments = nullptr;
  char** environment = nullptr;
  char** write_paths = nullptr;

  bool has(init::spec_flag flag) const { return (head->flags & flag) != 0; }
};

spec read_spec(int fd) {
  struct stat st {};
  if (fstat(fd, &st) != 0) refuse(stage::spec, errno);
  const auto size = static_cast<std::size_t>(st.st_size);
  if (size < sizeof(init::spec_header)) refuse(stage::spec, EPROTO);
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  if (base == MAP_FAILED) refuse(stage::spec, errno);

  spec s;
  s.head = static_cast<const init::spec_header*>(base);
  if (s.head->magic != init::spec_magic || s.head->argument_count == 0) refuse(stage::spec, EPROTO);
  const std::size_t strings =
      std::size_t{s.head->argument_count} + s.head->environment_count + s.head->write_path_count;
  // Three lists, each closed by a null.
  void* table = mmap(nullptr, (strings + 3) * sizeof(char*), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table == MAP_FAILED) refuse(stage::spec, errno);

  char* at = static_cast<char*>(base) + sizeof(init::spec_header);
  char* const end = static_cast<char*>(base) + size;
  char** slot = static_cast<char**>(table);
  const auto take = [&](std::uint32_t count) {
    char** first = slot;
    for (std::uint32_t i = 0; i < count; ++i) {
      void* stop = std::memchr(at, 0, static_cast<std::size_t>(end - at));
      if (!stop) refuse(stage::spec, EPROTO);
      *slot++ = at;
      at = static_cast<char*>(stop) + 1;
    }
    ++slot;
    return first;
  };
  s.arguments = take(s.head->argument_count);
  s.environment = take(s.head->environment_count);
  s.write_paths = take(s.head->write_path_count);
  return s;
}

/// A mistake in the launcher must not hand a capability to the command.
void check_no_capabilities() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &head, data) != 0) refuse(stage::capabilities, errno);
  for (const auto& part : data)
    if ((part.effective | part.permitted | part.inheritable) != 0)
      refuse(stage::capabilities, EPERM);
}

/// A terminal or a redirected file on a standard stream may be reopened through /dev/stdout.
std::size_t reopenable_streams(int (&found)[3]) {
  std::size_t count = 0;
  for (int fd = 0; fd < 3; ++fd) {
    struct stat st {};
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && (flags & O_PATH) == 0 &&
        fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
      found[count++] = fd;
  }
  return count;
}

void confine(const spec& s) {
  check_no_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse(stage::no_new_privileges, errno);

  int streams[3];
  const std::size_t stream_count = reopenable_streams(streams);
  if (const int failure =
          landlock::restrict_writes(s.write_paths, s.head->write_path_count, streams, stream_count))
    refuse(stage::landlock, failure);

  sock_fprog program = init::choose_filter(s.head->network, s.has(init::guard_creation));
  if (!program.filter) refuse(stage::filter, EPROTO);
  // With WAIT_KILLABLE_RECV (5.19) a call that the supervisor performs is not restarted by signals.
  long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                          SECCOMP_FILTER_FLAG_NEW_LISTENER | (1ul << 5), &program);
  if (listener < 0 && errno == EINVAL)
    listener =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener < 0) refuse(stage::filter, errno);
  send_message({init::listener, 0, 0}, static_cast<int>(listener));
  close(static_cast<int>(listener));
}

constexpr int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int one : forwarded)
    sigaddset(&set, one);
  return set;
}

/// Starts the command in a process group of its own. vfork shares memory, so that the errno of a
/// failed exec needs no pipe.
pid_t start_command(const spec& s, volatile int& exec_errno) {
  environ = s.environment;
  const bool terminal = s.has(init::own_terminal);
  const pid_t pid = vfork();
  if (pid != 0) return pid;

  setpgid(0, 0);
  // SIGTTOU is still blocked here: a background group that asks would be stopped.
  if (terminal) tcsetpgrp(0, getpid());
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (int one = 1; one < NSIG; ++one)
    if (one != SIGKILL && one != SIGSTOP) sigaction(one, &plain, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(s.arguments[0], s.arguments);
  exec_errno = errno;
  _exit(127);
}

/// Ends every process below us. In a pid namespace the kernel does it when process 1 ends; as a
/// subreaper we must. Orphans come to us, so each round sees the next generation.
void end_descendants() {
  bool any = true;
  while (any) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    any = false;
    const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    char text[4096];
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    text[size > 0 ? size : 0] = 0;
    // Each pid is followed by a space; one that the buffer cut off comes whole in the next round.
    for (char* at = text; *at;) {
      char* stop = at;
      const long pid = std::strtol(at, &stop, 10);
      if (stop == at || *stop != ' ') break;
      at = stop + 1;
      any |= kill(static_cast<pid_t>(pid), SIGKILL) == 0;
    }
    if (any) waitpid(-1, nullptr, 0);
  }
}

[[noreturn]] void finish(const spec& s, int status) {
  if (!s.has(init::confine)) end_descendants();
  const bool by_signal = WIFSIGNALED(status);
  const int value = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  send_message({by_signal ? init::signalled : init::exited, value, 0});
  _exit(by_signal ? 128 + value : value);
}

[[noreturn]] void abandon(const spec& s) {
  if (!s.has(init::confine)) end_descendants();
  _exit(121);
}

void to_command(pid_t command, int number) {
  if (kill(-command, number) != 0) kill(command, number);
}

[[noreturn]] void serve(const spec& s, pid_t command, int signals) {
  pollfd watched[2] = {{control, POLLIN, 0}, {signals, POLLIN, 0}};
  for (;;) {
    if (poll(watched, 2, -1) < 0 && errno != EINTR) abandon(s);
    if (watched[1].revents & POLLIN) {
      signalfd_siginfo info{};
      while (read(signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD) to_command(command, static_cast<int>(info.ssi_signo));
      int status = 0;
      for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
        if (ended == command) finish(s, status);
    }
    if (watched[0].revents) {
      init::message m{};
      const ssize_t size = recv(control, &m, sizeof m, MSG_DONTWAIT);
      if (size == sizeof m && m.kind == init::forward_signal) to_command(command, m.value);
      // The outer stage is gone: nothing may outlive it.
      else if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        abandon(s);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  control = std::atoi(argv[1]);
  const int spec_fd = std::atoi(argv[2]);
  // Not readable and not traceable by the command, whose user we share.
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  prctl(PR_SET_NAME, "gatehouse-init", 0, 0, 0);
  fcntl(control, F_SETFD, FD_CLOEXEC);

  const spec s = read_spec(spec_fd);
  const bool confined = s.has(init::confine);
  if (dup2(s.head->stderr_fd, 2) < 0) refuse(stage::spec, errno);
  // Nothing inherited reaches the command, whoever forgot to close it.
  if (control > 3 && close_range(3, static_cast<unsigned>(control) - 1, 0) != 0)
    refuse(stage::spec, errno);
  if (close_range(static_cast<unsigned>(control) + 1, ~0u, 0) != 0) refuse(stage::spec, errno);

  const sigset_t handled = handled_signals();
  sigset_t blocked = handled;
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  const int signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) refuse(stage::process, errno);

  // A supervisor that only reaps must outlive the outer stage for as long as it takes to end the
  // tree; it learns of its death from the control socket.
  if (confined) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    confine(s);
  } else if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    refuse(stage::process, errno);
  }

  volatile int exec_errno = 0;
  const pid_t command = start_command(s, exec_errno);
  if (command < 0) refuse(stage::process, errno);
  if (exec_errno != 0) {
    send_message({init::exec_failed, exec_errno, 0});
    _exit(exec_errno == ENOENT || exec_errno == ENOTDIR ? 127 : 126);
  }
  send_message({init::started, command, 0});
  serve(s, command, signals);
}
