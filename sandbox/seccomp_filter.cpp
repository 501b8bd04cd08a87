#include "sandbox/seccomp_filter.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

/// A named system call; `number` is used where libseccomp is older than the call.
struct call {
  const char* name;
  int number = -1;
};

constexpr call always_refused[] = {
    // other processes
    {"process_vm_readv"},
    {"process_vm_writev"},
    {"pidfd_getfd"},
    {"kcmp"},
    // submission rings do their work outside every filter
    {"io_uring_setup"},
    {"io_uring_enter"},
    {"io_uring_register"},
    // kernel keyrings are not namespaced
    {"add_key"},
    {"request_key"},
    {"keyctl"},
    // mounts and namespaces
    {"mount"},
    {"umount2"},
    {"pivot_root"},
    {"chroot"},
    {"fsopen"},
    {"fsconfig"},
    {"fsmount"},
    {"fspick"},
    {"open_tree"},
    {"open_tree_attr", 467},
    {"move_mount"},
    {"mount_setattr", 442},
    {"setns"},
    // paths that go around the mounts
    {"open_by_handle_at"},
    // kernel attack surface that commands of an agent have no use for
    {"userfaultfd"},
    {"bpf"},
    {"fanotify_init"},
    {"fanotify_mark"},
    {"lookup_dcookie"},
    {"kexec_load"},
    {"kexec_file_load"},
    {"init_module"},
    {"finit_module"},
    {"delete_module"},
    {"swapon"},
    {"swapoff"},
    {"reboot"},
    {"acct"},
    {"quotactl"},
    {"quotactl_fd", 443},
    {"vhangup"},
    {"iopl"},
    {"ioperm"},
    {"settimeofday"},
    {"clock_settime"},
    {"_sysctl"},
    {"uselib"},
    {"nfsservctl"},
};

/// Refused by the supervisor, which can say so: of these the caller tells people no more than
/// "Operation not permitted" (BR-120).
constexpr call refused_by_name[] = {{"ptrace"}, {"perf_event_open"}};

/// Calls that make, rename or remove a name, or change what it names.
constexpr call changing[] = {
    {"creat"},    {"mkdir"}, {"mkdirat"},   {"mknod"},    {"mknodat"}, {"rename"},
    {"renameat"}, {"link"},  {"renameat2"}, {"linkat"},   {"symlink"}, {"unlink"},
    {"unlinkat"}, {"rmdir"}, {"symlinkat"}, {"truncate"},
};

/// Landlock does not know these, and without an IPC namespace they reach objects of the host, by
/// number as well as by name.
constexpr call refused_on_host[] = {
    {"shmget"}, {"shmat"},  {"shmctl"}, {"semget"}, {"semop"},   {"semtimedop"}, {"semctl"},
    {"msgget"}, {"msgsnd"}, {"msgrcv"}, {"msgctl"}, {"mq_open"}, {"mq_unlink"},
};
/// Programs copy without attributes when these do not exist.
constexpr call unsupported_on_host[] = {
    {"setxattr"},       {"lsetxattr"},         {"fsetxattr"},    {"setxattrat", 463},
    {"removexattr"},    {"lremovexattr"},      {"fremovexattr"}, {"removexattrat", 466},
    {"fchmodat2", 452}, {"file_setattr", 469},
};
constexpr call supervised_on_host[] = {
    {"chmod"},    {"fchmod"}, {"fchmodat"}, {"chown"},     {"lchown"},    {"fchown"},
    {"fchownat"}, {"utime"},  {"utimes"},   {"futimesat"}, {"utimensat"},
};
/// Refused unless the argument says "myself" (0).
struct call_on_others {
  call what;
  unsigned argument;
};
constexpr call_on_others limited_on_host[] = {
    {{"prlimit64"}, 0},         {{"setpriority"}, 1},        {{"ioprio_set"}, 1},
    {{"sched_setaffinity"}, 0}, {{"sched_setscheduler"}, 0}, {{"sched_setparam"}, 0},
    {{"sched_setattr"}, 0},
};
/// The newest call that this program knows: a later one could do what no rule here looks at.
constexpr std::uint32_t newest_call = 469; // file_setattr, the same on every architecture

#if defined(__x86_64__)
constexpr std::uint32_t native_architecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t other_calls = 0x40000000; // x32, killed further down
#else
constexpr std::uint32_t native_architecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t other_calls = 0x80000000;
#endif

/// Stands before the program of libseccomp, which cannot say "everything but". File systems have
/// controls that make, remove or freeze files through a descriptor for reading, and no wall of ours
/// sees them, so that only those of terminals, sockets and the random device pass, and a few plain
/// ones. The next instruction behind it is the first of the other program.
std::vector<sock_filter> host_prelude() {
  constexpr std::uint32_t nr = offsetof(seccomp_data, nr);
  constexpr std::uint32_t arch = offsetof(seccomp_data, arch);
  constexpr std::uint32_t request = offsetof(seccomp_data, args[1]); // low word, little-endian
  constexpr std::uint32_t types[] = {'T' << 8, 0x89 << 8, 'R' << 8};
  constexpr std::uint32_t plain[] = {
      2,          // FIGETBSZ
      0x80086601, // FS_IOC_GETFLAGS
      0xc020660b, // FS_IOC_FIEMAP
      0x40049409, // FICLONE: the target is open for writing
      0x4020940d, // FICLONERANGE, likewise
  };
  std::vector<sock_filter> p;
  std::vector<std::size_t> to_end; // jumps that leave when true
  const auto leave_if_equal = [&](std::uint32_t value) {
    to_end.push_back(p.size());
    p.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0));
  };
  p.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arch));
  p.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, native_architecture, 1, 0));
  to_end.push_back(p.size());
  p.push_back(BPF_STMT(BPF_JMP | BPF_JA, 0));
  p.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, nr));
  to_end.push_back(p.size());
  p.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, other_calls, 0, 0));
  p.push_back(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, newest_call, 0, 1));
  p.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
  p.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 1, 0));
  to_end.push_back(p.size());
  p.push_back(BPF_STMT(BPF_JMP | BPF_JA, 0));
  p.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, request));
  for (const auto value : plain)
    leave_if_equal(value);
  p.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00));
  for (const auto type : types)
    leave_if_equal(type);
  p.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY));
  for (const auto at : to_end) {
    const auto distance = p.size() - at - 1;
    if (BPF_OP(p[at].code) == BPF_JA)
      p[at].k = static_cast<std::uint32_t>(distance);
    else
      p[at].jt = static_cast<std::uint8_t>(distance);
  }
  return p;
}

constexpr std::array<std::uint64_t, 8> namespace_flags = {
    CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
    CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET, 0x80 /* CLONE_NEWTIME */};

constexpr std::uint64_t low_word = 0xffffffff;

/// Adds each rule to a description, to a filter, or to both.
class rule_sink {
public:
  rule_sink(std::vector<filter_rule>* text, scmp_filter_ctx filter)
      : text_{text}, filter_{filter} {}

  void add(const call& c, filter_answer answer, std::string condition = "always",
           std::initializer_list<scmp_arg_cmp> comparisons = {}) {
    int number = seccomp_syscall_resolve_name(c.name);
    if (number == __NR_SCMP_ERROR) number = c.number;
    // A call that this architecture does not have cannot be made.
    if (number < 0) return;
    if (text_) text_->push_back({c.name, answer, std::move(condition)});
    if (!filter_) return;
    const std::uint32_t action = answer == filter_answer::refuse        ? SCMP_ACT_ERRNO(EPERM)
                                 : answer == filter_answer::unsupported ? SCMP_ACT_ERRNO(ENOSYS)
                                                                        : SCMP_ACT_NOTIFY;
    failed_ |=
        seccomp_rule_add_array(filter_, action, number, static_cast<unsigned>(comparisons.size()),
                               comparisons.begin()) != 0;
  }
  bool failed() const { return failed_; }

private:
  std::vector<filter_rule>* text_;
  scmp_filter_ctx filter_;
  bool failed_ = false;
};

scmp_arg_cmp equals(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}
scmp_arg_cmp greater(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_GT, value, 0};
}
scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

/// Only the listed families pass; with AF_UNIX only streams, because datagrams carry an address of
/// their own past `connect` (BR-055).
void limit_families(rule_sink& sink, const call& c, filter_answer answer,
                    std::initializer_list<std::uint64_t> allowed) {
  const std::uint64_t last = *std::max_element(allowed.begin(), allowed.end());
  for (std::uint64_t family = 0; family < last; ++family)
    if (std::find(allowed.begin(), allowed.end(), family) == allowed.end())
      sink.add(c, answer, "family " + std::to_string(family), {equals(0, family)});
  sink.add(c, answer, "family above " + std::to_string(last), {greater(0, last)});
  if (std::find(allowed.begin(), allowed.end(), AF_UNIX) == allowed.end()) return;
  const std::string condition = "AF_UNIX other than SOCK_STREAM";
  // SOCK_STREAM is 1 in the low four bits of the type; the rest are flags.
  for (const std::uint64_t bit : {2u, 4u, 8u})
    sink.add(c, filter_answer::refuse, condition, {equals(0, AF_UNIX), masked(1, bit, bit)});
  sink.add(c, filter_answer::refuse, condition, {equals(0, AF_UNIX), masked(1, 1, 0)});
}

/// Of the internet families only TCP: no datagrams (DNS, QUIC), no raw sockets, no other transport.
void only_tcp(rule_sink& sink, const call& c) {
  constexpr std::uint64_t tcp = 6;
  for (const std::uint64_t family : {AF_INET, AF_INET6}) {
    const std::string condition = "an internet family other than TCP";
    for (const std::uint64_t bit : {2u, 4u, 8u})
      sink.add(c, filter_answer::supervise, condition, {equals(0, family), masked(1, bit, bit)});
    sink.add(c, filter_answer::supervise, condition, {equals(0, family), masked(1, 1, 0)});
    for (std::uint64_t protocol = 1; protocol < tcp; ++protocol)
      sink.add(c, filter_answer::supervise, condition, {equals(0, family), equals(2, protocol)});
    sink.add(c, filter_answer::supervise, condition, {equals(0, family), greater(2, tcp)});
  }
}

void network_rules(rule_sink& sink, init::network_kind network) {
  constexpr call socket_call{"socket"};
  if (network == init::isolated) {
    limit_families(sink, socket_call, filter_answer::supervise, {AF_UNIX});
  } else if (network == init::proxy_only) {
    limit_families(sink, socket_call, filter_answer::supervise, {AF_UNIX, AF_INET, AF_INET6});
    only_tcp(sink, socket_call);
  } else {
    limit_families(sink, socket_call, filter_answer::refuse,
                   {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK});
    // Routing questions only (getifaddrs); the other protocols reach kernel subsystems.
    sink.add(socket_call, filter_answer::refuse, "AF_NETLINK other than NETLINK_ROUTE",
             {equals(0, AF_NETLINK), greater(2, 0)});
  }
  limit_families(sink, {"socketpair"}, filter_answer::refuse, {AF_UNIX});
  // A path leads to sockets of the host through any view (BR-054).
  for (const call& c : {call{"connect"}, call{"bind"}, call{"listen"}})
    sink.add(c, filter_answer::supervise);
}

void host_rules(rule_sink& sink) {
  for (const call& c : refused_on_host)
    sink.add(c, filter_answer::refuse);
  for (const call& c : unsupported_on_host)
    sink.add(c, filter_answer::unsupported);
  for (const call& c : supervised_on_host)
    sink.add(c, filter_answer::supervise);
  for (const auto& [c, argument] : limited_on_host)
    sink.add(c, filter_answer::refuse, "another process", {greater(argument, 0)});
  // Everybody of one user (PRIO_USER, IOPRIO_WHO_USER) is more than oneself.
  sink.add({"setpriority"}, filter_answer::refuse, "everybody of a user", {equals(0, 2)});
  sink.add({"ioprio_set"}, filter_answer::refuse, "everybody of a user", {equals(0, 3)});
}

void add_rules(rule_sink& sink, init::network_kind network, bool guard_creation, bool on_host) {
  for (const call& c : always_refused)
    sink.add(c, filter_answer::refuse);
  for (const call& c : refused_by_name)
    sink.add(c, filter_answer::supervise);

  // Its flags stand in memory, out of a filter's reach.
  sink.add({"clone3"}, filter_answer::unsupported);
  for (const std::uint64_t flag : namespace_flags) {
    const std::string condition = "a new namespace";
    sink.add({"unshare"}, filter_answer::refuse, condition, {masked(0, flag, flag)});
    // In clone the bits of CLONE_NEWTIME belong to the exit signal.
    if (flag != 0x80)
      sink.add({"clone"}, filter_answer::refuse, condition, {masked(0, flag, flag)});
  }
  // The kernel looks at 32 bits of the request only, so the filter does the same (BR-049).
  for (const std::uint64_t request : {std::uint64_t{TIOCSTI}, std::uint64_t{TIOCLINUX}})
    sink.add({"ioctl"}, filter_answer::refuse, "typing into a terminal",
             {masked(1, low_word, request)});

  // A lease on a file makes who opens it wait, also where it is only readable here.
  for (const std::uint64_t command : {F_SETLEASE, F_NOTIFY})
    sink.add({"fcntl"}, filter_answer::refuse, "a lease or a watch",
             {masked(1, low_word, command)});

  network_rules(sink, network);

  if (guard_creation) {
    for (const std::uint64_t flag : {O_CREAT, O_WRONLY, O_RDWR, O_TRUNC}) {
      const std::string condition = flag == O_CREAT ? "with O_CREAT" : "for writing";
      sink.add({"open"}, filter_answer::supervise, condition, {masked(1, flag, flag)});
      sink.add({"openat"}, filter_answer::supervise, condition, {masked(2, flag, flag)});
    }
    sink.add({"openat2"}, filter_answer::unsupported);
    // What the supervisor performs is done outside the walls that a program puts up for itself:
    // better it knows that there are none. On the host we put up one of our own behind this filter.
    if (!on_host) sink.add({"landlock_create_ruleset", 444}, filter_answer::unsupported);
    for (const call& c : changing)
      sink.add(c, filter_answer::supervise);
  }
  if (on_host) host_rules(sink);
}

} // namespace

std::vector<filter_rule> describe_filter(init::network_kind network, bool guard_creation,
                                         bool on_host) {
  std::vector<filter_rule> text;
  rule_sink sink{&text, nullptr};
  add_rules(sink, network, guard_creation, on_host);
  if (on_host)
    text.push_back({"ioctl", filter_answer::unsupported,
                    "other than of terminals, sockets, the random device; cloning, file layout"});
  return text;
}

std::vector<sock_filter> build_filter(init::network_kind network, bool guard_creation,
                                      bool on_host) {
  std::vector<sock_filter> program;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (!filter) return program;
  bool failed = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) != 0 ||
                seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0;
  rule_sink sink{nullptr, filter};
  add_rules(sink, network, guard_creation, on_host);
  failed = failed || sink.failed();

  const int file = memfd_create("filter", MFD_CLOEXEC);
  if (!failed && file >= 0 && seccomp_export_bpf(filter, file) == 0) {
    const off_t size = lseek(file, 0, SEEK_END);
    program.resize(static_cast<std::size_t>(size) / sizeof(sock_filter));
    if (pread(file, program.data(), static_cast<std::size_t>(size), 0) != size) program.clear();
  }
  if (file >= 0) close(file);
  seccomp_release(filter);
  if (on_host && !program.empty()) {
    const auto prelude = host_prelude();
    program.insert(program.begin(), prelude.begin(), prelude.end());
  }
  return program;
}

} // namespace gatehouse::sandbox
