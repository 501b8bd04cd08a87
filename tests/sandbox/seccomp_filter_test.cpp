#include "sandbox/seccomp_filter.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

using namespace gatehouse::sandbox;

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t native = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t native = AUDIT_ARCH_AARCH64;
#endif

constexpr std::uint32_t allow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t supervise = SECCOMP_RET_USER_NOTIF;
constexpr std::uint32_t eperm = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t enosys = SECCOMP_RET_ERRNO | ENOSYS;

/// What the kernel would answer: the few instructions that seccomp programs consist of.
std::uint32_t answer_of(const std::vector<sock_filter>& program, long number,
                        std::array<std::uint64_t, 6> arguments, std::uint32_t arch = native) {
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = arch;
  std::copy(arguments.begin(), arguments.end(), data.args);
  std::uint32_t a = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const auto& i = program[at];
    const auto jump = [&](bool taken) { at += taken ? i.jt : i.jf; };
    switch (i.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      REQUIRE(i.k + sizeof a <= sizeof data);
      std::memcpy(&a, reinterpret_cast<const char*>(&data) + i.k, sizeof a);
      break;
    case BPF_ALU | BPF_AND | BPF_K: a &= i.k; break;
    case BPF_JMP | BPF_JA: at += i.k; break;
    case BPF_JMP | BPF_JEQ | BPF_K: jump(a == i.k); break;
    case BPF_JMP | BPF_JGT | BPF_K: jump(a > i.k); break;
    case BPF_JMP | BPF_JGE | BPF_K: jump(a >= i.k); break;
    case BPF_RET | BPF_K: return i.k;
    default: FAIL("instruction not known to this test: ", i.code);
    }
  }
  FAIL("the program runs past its end");
  return 0;
}

struct row {
  const char* what;
  long number;
  std::array<std::uint64_t, 6> arguments;
  std::uint32_t full, isolated, proxy;
};

void check(const row& r, bool guarded = false) {
  CAPTURE(r.what);
  CHECK(answer_of(build_filter(init::full, guarded), r.number, r.arguments) == r.full);
  CHECK(answer_of(build_filter(init::isolated, guarded), r.number, r.arguments) == r.isolated);
  CHECK(answer_of(build_filter(init::proxy_only, guarded), r.number, r.arguments) == r.proxy);
}

constexpr std::uint64_t high = std::uint64_t{1} << 32;

} // namespace

TEST_SUITE("sandbox.seccomp_filter") {
  TEST_CASE("§81 what commands have no use for is EPERM in every mode") {
    for (const long number : {SYS_process_vm_readv,
                              SYS_process_vm_writev,
                              SYS_pidfd_getfd,
                              SYS_kcmp,
                              SYS_io_uring_setup,
                              SYS_io_uring_enter,
                              SYS_io_uring_register,
                              SYS_add_key,
                              SYS_request_key,
                              SYS_keyctl,
                              SYS_mount,
                              SYS_umount2,
                              SYS_pivot_root,
                              SYS_fsopen,
                              SYS_move_mount,
                              SYS_open_tree,
                              SYS_mount_setattr,
                              SYS_setns,
                              SYS_open_by_handle_at,
                              SYS_userfaultfd,
                              SYS_bpf,
                              SYS_kexec_load,
                              SYS_init_module,
                              SYS_swapon,
                              SYS_reboot,
                              SYS_acct,
                              SYS_quotactl})
      check({"refused", number, {}, eperm, eperm, eperm});
    check({"clone3", SYS_clone3, {}, enosys, enosys, enosys});
  }

  TEST_CASE("§81 BR-120 tracing is refused by the supervisor, which says so") {
    for (const long number : {SYS_ptrace, SYS_perf_event_open})
      check({"named", number, {}, supervise, supervise, supervise});
  }

  TEST_CASE("ordinary work is allowed") {
    for (const long number : {SYS_read, SYS_write, SYS_execve, SYS_futex, SYS_mmap, SYS_sendmsg,
                              SYS_recvfrom, SYS_accept4, SYS_wait4, SYS_pidfd_open, SYS_seccomp})
      check({"allowed", number, {}, allow, allow, allow});
  }

  TEST_CASE("a new namespace is refused among any other flags, a thread or a child is not") {
    for (const std::uint64_t flag : {CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET,
                                     CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWCGROUP}) {
      check({"unshare", SYS_unshare, {flag | CLONE_FS}, eperm, eperm, eperm});
      check({"clone", SYS_clone, {flag | CLONE_VM | 17}, eperm, eperm, eperm});
    }
    check({"time", SYS_unshare, {0x80}, eperm, eperm, eperm});
    check({"child", SYS_clone, {17}, allow, allow, allow});
    check({"thread", SYS_clone, {CLONE_VM | CLONE_THREAD}, allow, allow, allow});
    check({"unshare", SYS_unshare, {CLONE_FILES}, allow, allow, allow});
  }

  TEST_CASE("BR-049 typing into a terminal is refused whatever stands in the high half") {
    for (const std::uint64_t request : {std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}})
      for (const std::uint64_t extra : {std::uint64_t{0}, high, high << 20})
        check({"ioctl", SYS_ioctl, {0, request | extra}, eperm, eperm, eperm});
    check({"size", SYS_ioctl, {0, TIOCGWINSZ}, allow, allow, allow});
  }

  TEST_CASE("BR-057 families are a list of what is allowed") {
    check({"inet", SYS_socket, {AF_INET, SOCK_STREAM}, allow, supervise, allow});
    check({"inet6", SYS_socket, {AF_INET6, SOCK_DGRAM}, allow, supervise, supervise});
    check({"route", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}, allow, supervise, supervise});
    check({"audit", SYS_socket, {AF_NETLINK, SOCK_RAW, 9}, eperm, supervise, supervise});
    for (const std::uint64_t family :
         {std::uint64_t{0}, std::uint64_t{AF_PACKET}, std::uint64_t{AF_ALG},
          std::uint64_t{AF_VSOCK}, std::uint64_t{AF_BLUETOOTH}, std::uint64_t{AF_XDP},
          std::uint64_t{AF_KEY}, std::uint64_t{63}, std::uint64_t{64}, AF_INET | high})
      check({"other", SYS_socket, {family, SOCK_RAW}, eperm, supervise, supervise});
  }

  TEST_CASE("§82 behind the proxy an internet socket is TCP, whatever else is asked for") {
    for (const std::uint64_t family : {AF_INET, AF_INET6}) {
      for (const std::uint64_t protocol : {0, 6})
        for (const std::uint64_t flags : {0, SOCK_CLOEXEC | SOCK_NONBLOCK})
          check({"tcp",
                 SYS_socket,
                 {family, SOCK_STREAM | flags, protocol},
                 allow,
                 supervise,
                 allow});
      for (const std::uint64_t type : {0, 2, 3, 4, 5, 6, 10, SOCK_RAW | SOCK_CLOEXEC})
        check({"type", SYS_socket, {family, type, 0}, allow, supervise, supervise});
      for (const std::uint64_t protocol : {1, 2, 17, 132, 136, 255, 262})
        check(
            {"protocol", SYS_socket, {family, SOCK_STREAM, protocol}, allow, supervise, supervise});
    }
  }

  TEST_CASE("BR-055 unix sockets are streams, also in pairs") {
    for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{SOCK_CLOEXEC},
                                      std::uint64_t{SOCK_CLOEXEC | SOCK_NONBLOCK}})
      for (const long number : {SYS_socket, SYS_socketpair}) {
        check({"stream", number, {AF_UNIX, SOCK_STREAM | flags}, allow, allow, allow});
        check({"datagram", number, {AF_UNIX, SOCK_DGRAM | flags}, eperm, eperm, eperm});
        check({"seqpacket", number, {AF_UNIX, SOCK_SEQPACKET | flags}, eperm, eperm, eperm});
      }
    check({"pair", SYS_socketpair, {AF_INET, SOCK_STREAM}, eperm, eperm, eperm});
    check({"tipc", SYS_socketpair, {AF_TIPC, SOCK_STREAM}, eperm, eperm, eperm});
  }

  TEST_CASE("§82 where a socket leads is for the supervisor to say") {
    for (const long number : {SYS_connect, SYS_bind, SYS_listen})
      check({"socket", number, {3}, supervise, supervise, supervise});
  }

  TEST_CASE("§63 only calls that can make a name are supervised, and only with guards") {
    for (const long number :
         {SYS_mkdirat, SYS_mknodat, SYS_symlinkat, SYS_linkat, SYS_renameat2, SYS_unlinkat}) {
      check({"plain", number, {}, allow, allow, allow});
      check({"guarded", number, {}, supervise, supervise, supervise}, true);
    }
    check({"create", SYS_openat, {0, 0, O_CREAT | O_WRONLY}, supervise, supervise, supervise},
          true);
    check({"read", SYS_openat, {0, 0, O_RDONLY | O_CLOEXEC}, allow, allow, allow}, true);
    check({"create", SYS_openat, {0, 0, O_CREAT}, allow, allow, allow});
    check({"openat2", SYS_openat2, {}, enosys, enosys, enosys}, true);
  }

  TEST_CASE(
      "§83 without mounts and namespaces every change and every call on others is looked at") {
    const auto filter = build_filter(init::isolated, true, true);
    const auto answers = [&](long number, std::array<std::uint64_t, 6> arguments) {
      return answer_of(filter, number, arguments);
    };
    for (const std::uint64_t flags : {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_WRONLY | O_APPEND})
      CHECK(answers(SYS_openat, {0, 0, flags}) == supervise);
    CHECK(answers(SYS_openat, {0, 0, O_RDONLY | O_CLOEXEC | O_DIRECTORY}) == allow);
    for (const long number : {SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_utimensat})
      CHECK(answers(number, {}) == supervise);
    for (const int number : {SYS_setxattr, SYS_fsetxattr, SYS_removexattr, 452})
      CHECK(answers(number, {}) == enosys);
    for (const long number : {SYS_shmget, SYS_shmat, SYS_shmctl, SYS_semop, SYS_semctl, SYS_msgsnd,
                              SYS_msgrcv, SYS_mq_open, SYS_mq_unlink})
      CHECK(answers(number, {}) == eperm);
    CHECK(answers(SYS_prlimit64, {0}) == allow);
    CHECK(answers(SYS_prlimit64, {4711}) == eperm);
    CHECK(answers(SYS_setpriority, {0, 4711}) == eperm);
    CHECK(answers(SYS_sched_setaffinity, {4711}) == eperm);
    CHECK(answers(SYS_setpriority, {2, 0}) == eperm);
    CHECK(answers(SYS_setpriority, {0, 0}) == allow);
    CHECK(answers(SYS_ioprio_set, {3, 0}) == eperm);
  }

  TEST_CASE(
      "§83 of the controls of files only those that change nothing pass, and no unknown call") {
    const auto filter = build_filter(init::full, true, true);
    const auto control = [&](std::uint64_t request) {
      return answer_of(filter, SYS_ioctl, {0, request});
    };
    for (const std::uint64_t passes :
         {TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, 0x8933 /* SIOCGIFINDEX */,
          0x40049409 /* FICLONE */, 0x5200 /* RNDGETENTCNT */})
      CHECK(control(passes) == allow);
    for (const std::uint64_t refused :
         {0x40086602ULL /* FS_IOC_SETFLAGS */, 0x401c5820ULL /* FS_IOC_FSSETXATTR */,
          0x5000940eULL /* btrfs subvolume */, 0x40806685ULL /* verity */,
          0x1277ULL /* BLKDISCARD */})
      CHECK(control(refused) == (SECCOMP_RET_ERRNO | ENOTTY));
    CHECK(control(TIOCSTI) == eperm);
    CHECK(answer_of(filter, 469, {}) == enosys);
    CHECK(answer_of(filter, 470, {}) == enosys);
    CHECK(answer_of(filter, 100'000, {}) == enosys);
    CHECK(answer_of(filter, SYS_getpid, {}) == allow);
    CHECK(answer_of(filter, 54, {}, AUDIT_ARCH_I386) == SECCOMP_RET_KILL_PROCESS);
#if defined(__x86_64__)
    CHECK(answer_of(filter, 0x40000000 | SYS_ioctl, {}) == SECCOMP_RET_KILL_PROCESS);
#endif
  }

  TEST_CASE("a foreign architecture is killed, x32 as well") {
    const auto filter = build_filter(init::full, false);
    CHECK(answer_of(filter, 20, {}, AUDIT_ARCH_I386) == SECCOMP_RET_KILL_PROCESS);
    CHECK(answer_of(filter, 20, {}, AUDIT_ARCH_ARM) == SECCOMP_RET_KILL_PROCESS);
#if defined(__x86_64__)
    CHECK(answer_of(filter, 0x40000000 | SYS_getpid, {}) == SECCOMP_RET_KILL_PROCESS);
#endif
  }

  TEST_CASE("the description lists what the program does") {
    for (const auto& rule : describe_filter(init::isolated, true))
      CHECK_FALSE(rule.condition.empty());
    CHECK(describe_filter(init::isolated, true).size() >
          describe_filter(init::isolated, false).size());
  }
}
