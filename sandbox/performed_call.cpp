#include "sandbox/performed_call.hpp"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <thread>

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <linux/stat.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

namespace gatehouse::sandbox {
namespace {

/// ERESTARTSYS, which user space never sees: the kernel delivers the signal and then repeats the
/// call or makes it EINTR, as the handler was installed.
constexpr int restart_after_signal = 512;

constexpr int most_waiting = 128;
std::atomic<int> waiting{0};

/// Interrupts system calls of the thread that made it, again and again.
class interrupter {
public:
  interrupter() noexcept {
    // Without SA_RESTART, so that a waiting call ends with EINTR.
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    const int number = SIGRTMIN + 1;
    sigaction(number, &nothing, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = number;
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    made_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
    constexpr timespec period{0, 20'000'000};
    const itimerspec each{period, period};
    if (made_) timer_settime(timer_, 0, &each, nullptr);
  }
  ~interrupter() {
    if (made_) timer_delete(timer_);
  }
  interrupter(const interrupter&) = delete;
  interrupter& operator=(const interrupter&) = delete;

private:
  timer_t timer_{};
  bool made_ = false;
};

answer wait_for(const caller& who, const std::function<answer()>& call) {
  const interrupter again;
  for (int rounds_shared = 0;;) {
    auto a = call();
    if (a.error != EINTR || !who.still_waits()) return a;
    const auto due = who.signal_due();
    if (due == signal_target::this_thread) return answer::failure(restart_after_signal);
    // Any thread of the process may take it; when none does, this is the one that should.
    rounds_shared = due == signal_target::any_thread ? rounds_shared + 1 : 0;
    if (rounds_shared > 2) return a;
  }
}

template <class F>
answer perform(F call) {
  return call() == 0 ? answer{} : answer::failure(errno);
}

std::string own_path(const file_descriptor& fd) {
  return "/proc/self/fd/" + std::to_string(fd.get());
}

bool is_mount_point(const place& at) {
  struct statx info {};
  return at.exists() && statx(at.object.get(), "", AT_EMPTY_PATH, 0, &info) == 0 &&
         (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/// The name with its slashes, which change what the kernel accepts.
std::string spelled(const place& at) {
  return at.trailing_slash ? at.name + "/" : at.name;
}

answer open_with(const std::string& path, int flags) {
  answer a;
  a.opened.reset(open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY));
  if (!a.opened) return answer::failure(errno);
  a.close_on_exec = (flags & O_CLOEXEC) != 0;
  return a;
}

} // namespace

bool give_up_capabilities() noexcept {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &head, none) == 0;
}

answer open_existing(const place& at, int flags, bool may_write) {
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return answer::failure(EEXIST);
  if (S_ISDIR(at.object_mode)) return answer::failure(EISDIR);
  if (S_ISLNK(at.object_mode)) return answer::failure(ELOOP);
  if ((flags & O_DIRECTORY) != 0 || at.trailing_slash) return answer::failure(ENOTDIR);
  if (!may_write) return answer::failure(refusal_of(at));
  const int kept = flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW);
  if (S_ISFIFO(at.object_mode) && (flags & O_NONBLOCK) == 0) {
    answer a;
    auto fifo = std::make_shared<file_descriptor>(fcntl(at.object.get(), F_DUPFD_CLOEXEC, 3));
    a.later = [fifo, kept] { return open_with(own_path(*fifo), kept); };
    return a;
  }
  return open_with(own_path(at.object), kept);
}

answer open_new(const place& at, int flags, mode_t mode) {
  answer a;
  a.opened.reset(openat(at.folder.get(), at.name.c_str(),
                        flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode));
  if (!a.opened) return answer::failure(errno);
  a.close_on_exec = (flags & O_CLOEXEC) != 0;
  return a;
}

bool is_nameless_open(int flags) noexcept {
  return (flags & O_TMPFILE) == O_TMPFILE;
}

answer open_nameless(const place& folder, int flags, mode_t mode) {
  answer a;
  a.opened.reset(open(own_path(folder.object).c_str(), (flags & ~O_NOFOLLOW) | O_CLOEXEC, mode));
  if (!a.opened) return answer::failure(errno);
  a.close_on_exec = (flags & O_CLOEXEC) != 0;
  return a;
}

answer set_length(const place& at, off_t length) {
  return perform([&] { return truncate(own_path(at.object).c_str(), length); });
}

answer make_folder(const place& at, mode_t mode) {
  return perform([&] { return mkdirat(at.folder.get(), at.name.c_str(), mode); });
}

answer make_node(const place& at, mode_t mode, dev_t device) {
  return perform([&] { return mknodat(at.folder.get(), at.name.c_str(), mode, device); });
}

answer make_link_text(const place& at, const std::string& text) {
  return perform([&] { return symlinkat(text.c_str(), at.folder.get(), at.name.c_str()); });
}

answer make_hard_link(const place& from, const place& to) {
  if (to.exists()) return answer::failure(EEXIST);
  return perform([&] {
    // Through the pinned object, so that what was looked at is what gets the name.
    return linkat(AT_FDCWD, own_path(from.object).c_str(), to.folder.get(), to.name.c_str(),
                  S_ISLNK(from.object_mode) ? 0 : AT_SYMLINK_FOLLOW);
  });
}

answer rename_entry(const place& from, const place& to, unsigned flags) {
  if (from.name == "." || to.name == "." || is_mount_point(from) || is_mount_point(to))
    return answer::failure(EBUSY);
  return perform([&] {
    return syscall(SYS_renameat2, from.folder.get(), spelled(from).c_str(), to.folder.get(),
                   spelled(to).c_str(), flags);
  });
}

answer remove_entry(const place& at, int flags) {
  if (at.name == ".") return answer::failure((flags & AT_REMOVEDIR) != 0 ? EINVAL : EISDIR);
  if (is_mount_point(at)) return answer::failure(EBUSY);
  return perform([&] { return unlinkat(at.folder.get(), spelled(at).c_str(), flags); });
}

bool is_own_stream(const place& at) {
  struct stat wanted {};
  if (fstat(at.object.get(), &wanted) != 0) return false;
  // A named pipe that a path leads to is a file like any other; one without a name is the caller's
  // own.
  if (S_ISFIFO(wanted.st_mode)) return at.folder_path.starts_with("/proc/");
  for (int fd = 0; fd < 3; ++fd) {
    struct stat own {};
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &own) == 0 &&
        own.st_dev == wanted.st_dev && own.st_ino == wanted.st_ino)
      return true;
  }
  return false;
}

bool is_controlling_terminal(const place& at) noexcept {
  return S_ISCHR(at.object_mode) && at.object_rdev == makedev(5, 0);
}

bool is_process_information(const place& at) {
  struct statfs fs {};
  return fstatfs(at.object.get(), &fs) != 0 || fs.f_type == PROC_SUPER_MAGIC;
}

std::string path_on_host(const file_descriptor& file) {
  char text[PATH_MAX];
  const auto size = readlink(own_path(file).c_str(), text, sizeof text);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

int refusal_of(const place& at) {
  struct statvfs mount {};
  const int fd = at.exists() ? at.object.get() : at.folder.get();
  return fstatvfs(fd, &mount) == 0 && (mount.f_flag & ST_RDONLY) != 0 ? EROFS : EACCES;
}

void deliver(int listener, pid_t thread, std::uint64_t id, answer what) {
  if (what.later && waiting.fetch_add(1) >= most_waiting) {
    waiting.fetch_sub(1);
    what = answer::failure(EAGAIN);
  }
  if (what.later) {
    // The listener may be closed meanwhile: the thread has a copy of its own.
    std::thread{[thread, id,
                 copy = std::make_shared<file_descriptor>(fcntl(listener, F_DUPFD_CLOEXEC, 3)),
                 work = std::move(what.later)] {
      deliver(copy->get(), thread, id, wait_for(caller{thread, copy->get(), id}, work));
      waiting.fetch_sub(1);
    }}.detach();
    return;
  }
  if (what.opened) {
    seccomp_notif_addfd handed{};
    handed.id = id;
    handed.flags = SECCOMP_ADDFD_FLAG_SEND;
    handed.srcfd = static_cast<std::uint32_t>(what.opened.get());
    handed.newfd_flags = what.close_on_exec ? O_CLOEXEC : 0;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &handed) >= 0) return;
    what.error = errno == ENOENT ? EINTR : errno;
  }
  seccomp_notif_resp response{};
  response.id = id;
  response.error = -what.error;
  if (what.let_through) response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

} // namespace gatehouse::sandbox
