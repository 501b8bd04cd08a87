#include "sandbox/watch_command.hpp"

#include "sandbox/init_protocol.hpp"
#include "sandbox/init_talk.hpp"
#include "sandbox/kernel_call.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/time_types.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

namespace gatehouse::sandbox {
namespace {

/// Ends every process below us. In a pid namespace the kernel does it when process 1 ends; as a
/// subreaper we must. Orphans come to us, so each round sees the next generation.
void end_descendants() {
  bool any = true;
  while (any) {
    while (kernel_call(SYS_wait4, -1, nullptr, WNOHANG, nullptr) > 0) {
    }
    any = false;
    const long fd =
        kernel_call(SYS_openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (is_error(fd)) return;
    char text[4096];
    const long size = kernel_call(SYS_read, fd, text, sizeof text - 1);
    kernel_call(SYS_close, fd);
    text[size > 0 ? size : 0] = 0;
    // Each pid is followed by a space; one that the buffer cut off comes whole in the next round.
    for (const char* at = text; *at;) {
      const int pid = init::take_number(at);
      if (pid <= 0 || *at != ' ') break;
      ++at;
      any |= kernel_call(SYS_kill, pid, SIGKILL) == 0;
    }
    if (any) kernel_call(SYS_wait4, -1, nullptr, 0, nullptr);
  }
}

[[noreturn]] void finish(const init_spec& s, int control, int status) {
  if (!s.in_namespace()) end_descendants();
  const bool by_signal = WIFSIGNALED(status);
  const int value = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  init::send(control, {by_signal ? init::signalled : init::exited, value, 0});
  init::end(by_signal ? 128 + value : value);
}

[[noreturn]] void abandon(const init_spec& s) {
  if (!s.in_namespace()) end_descendants();
  init::end(121);
}

/// A process of the sandbox that signals us does not mean the command. For one of an outer pid
/// namespace, and for the kernel, the sender is 0; nobody can pretend it with these codes.
bool comes_from_outside(const signalfd_siginfo& info) {
  return info.ssi_pid == 0 && (info.ssi_code == SI_USER || info.ssi_code == SI_KERNEL);
}

/// What is told of the command's end, and until when what it left behind may go on.
struct command_end {
  int status = 0;
  bool over = false;
  __kernel_timespec until{};
};

__kernel_timespec now() {
  __kernel_timespec time{};
  kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return time;
}

/// A writer that the command leaves behind (`exec > >(tee log)`) has still to pass on what it
/// holds; one that goes on for ever (`server &`) must not keep the call, nor be noticed late
/// (BR-130, BR-139).
constexpr long linger_nanoseconds = 150'000'000;
constexpr long second_nanoseconds = 1'000'000'000;

/// False: there is none.
bool time_left(const __kernel_timespec& until, __kernel_timespec& left) {
  const auto at = now();
  left = {until.tv_sec - at.tv_sec, until.tv_nsec - at.tv_nsec};
  if (left.tv_nsec < 0) left = {left.tv_sec - 1, left.tv_nsec + second_nanoseconds};
  return left.tv_sec >= 0;
}

/// Takes the ends of all children, and what the command's state has become.
/// @return false: no child is left
bool reap(int control, long command, command_end& how) {
  int status = 0;
  long child = 0;
  while ((child = kernel_call(SYS_wait4, -1, &status, WNOHANG | WUNTRACED | WCONTINUED, nullptr)) >
         0) {
    if (child != command) continue;
    if (WIFSTOPPED(status)) {
      init::send(control, {init::stopped, WSTOPSIG(status), 0});
    } else if (WIFCONTINUED(status)) {
      init::send(control, {init::continued, 0, 0});
    } else {
      how.status = status;
      how.over = true;
      how.until = now();
      how.until.tv_nsec += linger_nanoseconds;
      if (how.until.tv_nsec >= second_nanoseconds)
        how.until = {how.until.tv_sec + 1, how.until.tv_nsec - second_nanoseconds};
    }
  }
  return child != -ECHILD;
}

} // namespace

void to_command(long command, int number) {
  if (is_error(kernel_call(SYS_kill, -command, number))) kernel_call(SYS_kill, command, number);
}

void watch_command(const init_spec& s, int control, long command, long signals) {
  pollfd watched[2] = {{control, POLLIN, 0}, {static_cast<int>(signals), POLLIN, 0}};
  command_end how;
  for (;;) {
    __kernel_timespec left{};
    if (how.over && !time_left(how.until, left)) finish(s, control, how.status);
    const long ready = kernel_call(SYS_ppoll, watched, 2, how.over ? &left : nullptr, nullptr, 0);
    if (ready == -EINTR) continue;
    if (is_error(ready)) abandon(s);
    if (watched[1].revents & POLLIN) {
      signalfd_siginfo info{};
      while (kernel_call(SYS_read, signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD || !comes_from_outside(info)) continue;
        if (how.over) finish(s, control, how.status); // somebody wants the rest of it ended
        to_command(command, static_cast<int>(info.ssi_signo));
      }
      const bool left_behind = reap(control, command, how);
      if (how.over && !left_behind) finish(s, control, how.status);
    }
    if (watched[0].revents) {
      init::message m{};
      const long size = kernel_call(SYS_recvfrom, control, &m, sizeof m, MSG_DONTWAIT, 0, 0);
      if (size == sizeof m && m.kind == init::forward_signal) {
        if (how.over) finish(s, control, how.status);
        to_command(command, m.value);
      } else if (size == 0 || (is_error(size) && size != -EAGAIN && size != -EINTR)) {
        abandon(s); // the outer stage is gone: nothing may outlive it
      }
    }
  }
}

} // namespace gatehouse::sandbox
