// gatehouse-sandbox-init: the inner stage (§77). It is what bubblewrap starts as process 1 of the
// view: it completes the view, gives up every capability, lays the last walls (no_new_privs,
// Landlock, seccomp), starts the command, forwards signals to it, reaps, and ends with it (what it
// leaves behind has a moment to end by itself), which ends everything in the namespace.
//
// usage: gatehouse-sandbox-init CONTROL_FD SPEC_FD     (only ever started by gatehouse-sandbox)
//
// No C library, no allocation, no relocation: see sandbox/kernel_call.hpp. Nothing in the view is
// needed for it to start.
#include "sandbox/bridge_sockets.hpp"
#include "sandbox/complete_view.hpp"
#include "sandbox/find_and_execute.hpp"
#include "sandbox/init_protocol.hpp"
#include "sandbox/init_spec.hpp"
#include "sandbox/init_talk.hpp"
#include "sandbox/kernel_call.hpp"
#include "sandbox/landlock.hpp"
#include "sandbox/watch_command.hpp"
#include "seccomp_programs.hpp"

#include <cstddef>
#include <cstdint>

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/time_types.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

// What the compiler itself calls.
extern "C" {
void* memset(void* to, int value, std::size_t size) {
  auto* bytes = static_cast<volatile unsigned char*>(to);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<unsigned char>(value);
  return to;
}
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t size) {
  auto* out = static_cast<volatile unsigned char*>(to);
  const auto* in = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < size; ++i)
    out[i] = in[i];
  return to;
}
}

namespace {

using namespace gatehouse::sandbox;
using init::stage;

int control = -1;

void send_message(const init::message& m, int attached = -1) {
  init::send(control, m, attached);
}

[[noreturn]] void end(int status) {
  init::end(status);
}

/// `answer`: a negative errno.
[[noreturn]] void refuse(stage where, long answer) {
  send_message({init::boundary_failed, static_cast<std::int32_t>(-answer),
                static_cast<std::uint32_t>(where)});
  end(121);
}

long require(stage where, long answer) {
  if (is_error(answer)) refuse(where, answer);
  return answer;
}

/// Is this another mount tree, pid and (unless it is shared on purpose) network namespace than the
/// outer stage's? A stand-in for bubblewrap that starts the program as it is (there are such, for
/// containers) must not have the command run, nor our mounts made, on the host itself.
void check_namespaces(const init_spec& s) {
  if (kernel_call(SYS_getpid) != 1) refuse(stage::namespaces, -EPERM);
  struct statx st {};
  require(stage::namespaces, kernel_call(SYS_statx, AT_FDCWD, "/", 0, STATX_MNT_ID, &st));
  if ((st.stx_mask & STATX_MNT_ID) == 0 || st.stx_mnt_id == s.head->outer_root_mount)
    refuse(stage::namespaces, -EPERM);
  if (s.head->network == init::full) return;
  std::uint64_t cookie = 0;
  int size = sizeof cookie;
  const long any =
      require(stage::namespaces, kernel_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  require(stage::namespaces,
          kernel_call(SYS_getsockopt, any, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size));
  kernel_call(SYS_close, any);
  if (cookie == s.head->outer_network_cookie) refuse(stage::namespaces, -EPERM);
}

/// What bubblewrap does otherwise. Without the right to lower the bounding set there was nothing to
/// gain by it: no_new_privs keeps set-uid programs from giving any.
void give_up_capabilities() {
  kernel_call(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (int number = 0; number < 64; ++number)
    kernel_call(SYS_prctl, PR_CAPBSET_DROP, number, 0, 0, 0);
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  require(stage::capabilities, kernel_call(SYS_capset, &head, none));
}

/// A mistake in the launcher must not hand a capability to the command.
void check_no_capabilities() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  require(stage::capabilities, kernel_call(SYS_capget, &head, data));
  for (const auto& part : data)
    if ((part.effective | part.permitted | part.inheritable) != 0)
      refuse(stage::capabilities, -EPERM);
}

/// Our share of the view; then the rights to it are given up.
void finish_view(const init_spec& s) {
  const std::size_t count = s.head->step_count;
  if (count > 0) {
    const long memory = require(stage::spec, kernel_call(SYS_mmap, 0, count * sizeof(inner_step),
                                                         PROT_READ | PROT_WRITE,
                                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    auto* steps = reinterpret_cast<inner_step*>(memory);
    const auto* described = reinterpret_cast<const init::view_step*>(s.head + 1);
    for (std::size_t i = 0; i < count; ++i)
      steps[i] = {static_cast<mount_kind>(described[i].kind), described[i].perms,
                  s.step_paths[2 * i], s.step_paths[2 * i + 1], -1};
    require(stage::view, complete_view(steps, count));
  }
  give_up_capabilities();
  // What was entered before the mounts is not what they show.
  require(stage::folder, kernel_call(SYS_chdir, s.folder[0]));
}

/// A terminal or a redirected file on a standard stream may be reopened through /dev/stdout.
std::size_t reopenable_streams(int (&found)[3]) {
  std::size_t count = 0;
  for (int fd = 0; fd < 3; ++fd) {
    struct statx st {};
    const long flags = kernel_call(SYS_fcntl, fd, F_GETFL);
    if (is_error(flags) || (flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0 ||
        is_error(kernel_call(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE, &st)))
      continue;
    if (S_ISREG(st.stx_mode) || S_ISCHR(st.stx_mode)) found[count++] = fd;
  }
  return count;
}

void confine(const init_spec& s) {
  const bool on_host = s.has(init::on_host);
  require(stage::no_new_privileges, kernel_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  if (on_host) give_up_capabilities();
  check_no_capabilities();

  int streams[3];
  const std::size_t stream_count = reopenable_streams(streams);
  const landlock::wall wall{on_host, s.head->network == init::full};
  require(stage::landlock,
          -landlock::restrict_writes(on_host ? wall : landlock::wall{}, s.write_paths,
                                     s.head->write_path_count, streams, stream_count));

  const sock_fprog program =
      init::choose_filter(s.head->network, s.has(init::guard_creation), on_host);
  if (!program.filter) refuse(stage::filter, -EPROTO);
  // With WAIT_KILLABLE_RECV (5.19) a call that the supervisor performs is not restarted by signals.
  constexpr unsigned long wait_killable = 1ul << 5;
  long listener = kernel_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                              SECCOMP_FILTER_FLAG_NEW_LISTENER | wait_killable, &program);
  if (listener == -EINVAL)
    listener = kernel_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
                           &program);
  require(stage::filter, listener);
  send_message({init::listener, 0, 0}, static_cast<int>(listener));
  kernel_call(SYS_close, listener);
}

int early_signal = 0; ///< for the command, from before it was started

/// Gives a listening socket away and waits until somebody has it.
void hand_over(long listener, std::uint16_t port) {
  send_message({init::bridge, port, 0}, static_cast<int>(listener));
  kernel_call(SYS_close, listener);
  for (;;) {
    init::message m{};
    const long size = kernel_call(SYS_recvfrom, control, &m, sizeof m, 0, 0, 0);
    if (size == -EINTR) continue;
    if (size != sizeof m) end(121);
    if (m.kind == init::bridge_taken) return;
    // One that lets go on does not take the place of one that ends.
    if (m.kind == init::forward_signal && (m.value != SIGCONT || early_signal == 0))
      early_signal = m.value;
  }
}

/// The way out of a proxy_only namespace: sockets that listen inside and are served outside.
void make_bridges(const init_spec& s) {
  if (s.head->bridge == 0) return;
  hand_over(require(stage::bridge, listen_on_loopback(init::proxy_port, false)), init::proxy_port);
  if (s.head->forwarded_count > init::most_forwarded_ports) refuse(stage::spec, -EPROTO);
  for (std::uint32_t i = 0; i < s.head->forwarded_count; ++i) {
    const std::uint16_t port = s.head->forwarded[i];
    hand_over(require(stage::bridge, listen_on_loopback(port, false)), port);
    // Clients try ::1 first where there is IPv6.
    if (const long v6 = listen_on_loopback(port, true); !is_error(v6)) hand_over(v6, port);
  }
}

/// What the new process does; a frame of its own, because the memory may be the parent's (vfork).
/// `answer_to`: descriptor for what the execution answered, or -1.
[[noreturn, gnu::noinline]] void become_command(const init_spec& s, volatile long* exec_answer,
                                                int answer_to = -1) {
  kernel_call(SYS_setpgid, 0, 0);
  if (s.has(init::own_terminal)) {
    // SIGTTOU is still blocked here: a background group that asks would be stopped.
    const int self = static_cast<int>(kernel_call(SYS_getpid));
    kernel_call(SYS_ioctl, 0, TIOCSPGRP, &self);
  }
  // Actions need no reset: the outer stage did it, and neither bubblewrap nor we ignore a signal.
  const signal_set none = 0;
  kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
  // In a namespace process 1 cannot be killed from inside; on the host we could be.
  const long signals = s.has(init::on_host) ? -landlock::restrict_signals() : 0;
  const long answer = is_error(signals) ? signals : find_and_execute(s);
  *exec_answer = answer;
  if (answer_to >= 0) kernel_call(SYS_write, answer_to, &answer, sizeof answer);
  end(127);
}

/// Starts the command in a process group of its own. @return its pid or a negative errno
/// `exec_answer` stays 0 when it was executed.
[[gnu::noinline]] long start_in_namespace(const init_spec& s, volatile long* exec_answer) {
  const long pid = kernel_call(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) become_command(s, exec_answer);
  return pid;
}

/// Likewise without waiting for it in the kernel: nobody else ends a command that is stopped before
/// it was executed when the outer stage ends. Then watch_command() sees the same as we.
long start_on_host(const init_spec& s, volatile long* exec_answer) {
  int ends[2];
  if (const long made = kernel_call(SYS_pipe2, ends, O_CLOEXEC); is_error(made)) return made;
  const long pid = kernel_call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) become_command(s, exec_answer, ends[1]);
  kernel_call(SYS_close, ends[1]);
  pollfd watched[2] = {{ends[0], POLLIN, 0}, {control, 0, 0}};
  while (!is_error(pid) && kernel_call(SYS_ppoll, watched, 2, nullptr, nullptr, 0) == -EINTR) {
  }
  long answer = 0;
  if (watched[0].revents && kernel_call(SYS_read, ends[0], &answer, sizeof answer) == sizeof answer)
    *exec_answer = answer;
  kernel_call(SYS_close, ends[0]);
  return pid;
}

bool outer_stage_is_gone() {
  pollfd other_end{control, 0, 0};
  const __kernel_timespec at_once{};
  return kernel_call(SYS_ppoll, &other_end, 1, &at_once, nullptr, 0) > 0;
}

/// The whole of main, from the stack the kernel prepared: the count, then the arguments.
extern "C" [[noreturn, gnu::used]] void gatehouse_init_start(long* stack) {
  if (stack[0] != 3) end(2);
  const char* control_text = reinterpret_cast<const char*>(stack[2]);
  const char* spec_text = reinterpret_cast<const char*>(stack[3]);
  control = init::take_number(control_text);
  const int spec_fd = init::take_number(spec_text);
  // Not readable and not traceable by the command, whose user we share.
  kernel_call(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
  kernel_call(SYS_prctl, PR_SET_NAME, "gatehouse-init", 0, 0, 0);
  kernel_call(SYS_fcntl, control, F_SETFD, FD_CLOEXEC);

  init::message first{};
  while (kernel_call(SYS_recvfrom, control, &first, sizeof first, 0, 0, 0) == -EINTR) {
  }
  // The outer stage ended before it knew what to do, or is another version.
  if (first.kind != init::proceed) end(121);
  init_spec s;
  require(stage::spec, read_spec(spec_fd, s));
  require(stage::spec, kernel_call(SYS_dup3, s.head->stderr_fd, 2, 0));
  if (s.in_namespace()) check_namespaces(s);
  if (s.has(init::complete_view)) finish_view(s);
  // Nothing inherited reaches the command, whoever forgot to close it.
  if (control > 3) require(stage::spec, kernel_call(SYS_close_range, 3, control - 1, 0));
  require(stage::spec, kernel_call(SYS_close_range, control + 1, ~0u, 0));

  const signal_set handled = forwarded | bit(SIGCHLD);
  const signal_set blocked = handled | bit(SIGTTOU);
  kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, nullptr, sizeof blocked);
  const long signals = require(stage::process, kernel_call(SYS_signalfd4, -1, &handled,
                                                           sizeof handled, O_CLOEXEC | O_NONBLOCK));
  // A supervisor that only reaps must outlive the outer stage for as long as it takes to end the
  // tree; it learns of its death from the control socket, and keeps the signal that the outer stage
  // has set for it (SIGCONT), so that it does when it is stopped.
  if (s.in_namespace())
    kernel_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  else
    require(stage::process, kernel_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  if (outer_stage_is_gone()) end(121); // who died before that line sends no signal
  make_bridges(s);
  if (s.has(init::confine)) confine(s);

  volatile long exec_answer = 0;
  const long command =
      require(stage::process, s.in_namespace() ? start_in_namespace(s, &exec_answer)
                                               : start_on_host(s, &exec_answer));
  if (const long answer = exec_answer; answer != 0) {
    send_message({init::exec_failed, static_cast<std::int32_t>(-answer), 0});
    end(answer == -ENOENT || answer == -ENOTDIR ? 127 : 126);
  }
  send_message({init::started, static_cast<std::int32_t>(command), 0});
  if (early_signal != 0) to_command(command, early_signal);
  watch_command(s, control, command, signals);
}

} // namespace

#if defined(__x86_64__)
__asm__(".globl _start\n"
        "_start:\n"
        "  xor %ebp, %ebp\n"
        "  mov %rsp, %rdi\n"
        "  and $-16, %rsp\n"
        "  call gatehouse_init_start\n");
#else
__asm__(".globl _start\n"
        "_start:\n"
        "  mov x29, #0\n"
        "  mov x0, sp\n"
        "  and sp, x0, #-16\n"
        "  bl gatehouse_init_start\n");
#endif
