#include "sandbox/caller.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>

namespace gatehouse::sandbox {
namespace {

constexpr int most_links = 40; // the kernel's own limit
constexpr ino_t proc_root_inode = 1;

std::string read_link(int fd, const char* name) {
  char text[PATH_MAX];
  const ssize_t size = readlinkat(fd, name, text, sizeof text);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

bool is_proc(int folder) {
  struct statfs fs {};
  return fstatfs(folder, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

bool is_proc_root(int folder) {
  struct stat st {};
  return is_proc(folder) && fstat(folder, &st) == 0 && st.st_ino == proc_root_inode;
}

/// The value of "KEY:\t…" in the text of /proc/PID/status.
std::string status_line(const std::string& path, std::string_view key) {
  const file_descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  char text[8192];
  const ssize_t size = file ? read(file.get(), text, sizeof text) : -1;
  const std::string_view all{text, size > 0 ? static_cast<std::size_t>(size) : 0};
  const auto at = all.find(key);
  if (at == std::string_view::npos) return {};
  const auto start = at + key.size();
  return std::string{all.substr(start, all.find('\n', start) - start)};
}

/// Takes the first name off `path`. `last`: nothing but slashes follows.
std::string take_name(std::string_view& path, bool& last, bool& slash) {
  while (path.starts_with('/'))
    path.remove_prefix(1);
  const auto end = std::min(path.find('/'), path.size());
  std::string name{path.substr(0, end)};
  path.remove_prefix(end);
  slash = path.starts_with('/');
  last = path.find_first_not_of('/') == std::string_view::npos;
  return name;
}

place failed_call(int error) {
  place p;
  p.error = error;
  return p;
}

} // namespace

std::string caller::proc(const char* what) const {
  return "/proc/" + std::to_string(thread_) + "/" + what;
}

bool caller::still_waits() const noexcept {
  return ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &id_) == 0;
}

bool caller::read_memory(std::uint64_t address, void* to, std::size_t size) const {
  const iovec local{to, size};
  const iovec remote{reinterpret_cast<void*>(address), size};
  return process_vm_readv(thread_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

std::optional<std::string> caller::read_text(std::uint64_t address, int& failure) const {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::string text;
  while (text.size() < PATH_MAX) {
    // Never across a page, because the next one may not exist.
    char part[PATH_MAX];
    const std::uint64_t at = address + text.size();
    const std::uint64_t size = std::min<std::uint64_t>(page - at % page, sizeof part);
    if (!read_memory(at, part, size)) {
      failure = EFAULT;
      return std::nullopt;
    }
    const auto* end = static_cast<const char*>(std::memchr(part, 0, size));
    text.append(part, end ? static_cast<std::size_t>(end - part) : size);
    if (end && text.size() < PATH_MAX) return text;
  }
  failure = ENAMETOOLONG;
  return std::nullopt;
}

signal_target caller::signal_due() const {
  const std::string path = proc("status");
  const auto mask = [&](std::string_view key) {
    return std::strtoull(status_line(path, key).c_str(), nullptr, 16);
  };
  const auto taken = ~mask("\nSigBlk:");
  const bool shared = (mask("\nShdPnd:") & taken) != 0;
  const bool alone = std::atoi(status_line(path, "\nThreads:").c_str()) == 1;
  if ((mask("\nSigPnd:") & taken) != 0 || (shared && alone)) return signal_target::this_thread;
  return shared ? signal_target::any_thread : signal_target::nobody;
}

file_descriptor caller::borrow(int fd) const {
  constexpr unsigned thread_flag = O_EXCL; // PIDFD_THREAD, Linux 6.9
  file_descriptor process{static_cast<int>(syscall(SYS_pidfd_open, thread_, thread_flag))};
  if (!process && errno == EINVAL) {
    const int leader = std::atoi(status_line(proc("status"), "\nTgid:").c_str());
    process.reset(static_cast<int>(syscall(SYS_pidfd_open, leader, 0)));
  }
  if (!process) return {};
  return file_descriptor{static_cast<int>(syscall(SYS_pidfd_getfd, process.get(), fd, 0))};
}

mode_t caller::file_mode_mask() const {
  const std::string text = status_line(proc("status"), "\nUmask:");
  return text.empty() ? 077 : static_cast<mode_t>(std::strtoul(text.c_str(), nullptr, 8));
}

std::optional<place> caller::terminal(bool shares_ours) const {
  if (shares_ours && getsid(thread_) == getsid(0)) return locate(AT_FDCWD, "/dev/tty", false);
  const file_descriptor file{open(proc("stat").c_str(), O_RDONLY | O_CLOEXEC)};
  char text[4096];
  const ssize_t size = file ? read(file.get(), text, sizeof text - 1) : -1;
  text[size > 0 ? size : 0] = 0;
  // Behind the name, which may hold anything: state, parent, group, session, terminal.
  const char* rest = std::strrchr(text, ')');
  unsigned number = 0;
  if (!rest || std::sscanf(rest, ") %*c %*d %*d %*d %u", &number) != 1 || number == 0)
    return std::nullopt;
  const unsigned minor_number = (number & 0xff) | (number >> 12 & 0xfff00);
  auto found = locate(AT_FDCWD, "/dev/pts/" + std::to_string(minor_number), false);
  if (found.error != 0 || !found.exists() || !S_ISCHR(found.object_mode) ||
      found.object_rdev != makedev(number >> 8 & 0xfff, minor_number))
    return std::nullopt;
  return found;
}

place caller::locate(int dirfd, const std::string& path, bool follow_last) const {
  if (path.empty()) return failed_call(ENOENT);
  const file_descriptor root{open(proc("root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!root) return failed_call(EACCES);
  const auto from_root = [&] { return file_descriptor{fcntl(root.get(), F_DUPFD_CLOEXEC, 3)}; };

  place p;
  if (path.front() == '/') {
    p.folder = from_root();
  } else {
    const std::string base = dirfd == AT_FDCWD ? "cwd" : "fd/" + std::to_string(dirfd);
    p.folder.reset(open(proc(base.c_str()).c_str(), O_PATH | O_CLOEXEC));
    if (!p.folder) return failed_call(dirfd == AT_FDCWD ? ENOENT : EBADF);
  }

  std::string rest_text = path;
  std::string_view rest = rest_text;
  for (int links = 0;;) {
    bool last = false, slash = false;
    std::string name = take_name(rest, last, slash);
    if (name.empty()) name = ".";
    // Names of itself that only the calling process can resolve.
    if ((name == "self" || name == "thread-self") && is_proc_root(p.folder.get())) {
      const std::string ids =
          status_line(proc("status"), name == "self" ? "\nNStgid:" : "\nNSpid:");
      const auto inner = ids.find_last_of("\t ");
      const std::string id = ids.substr(inner == std::string::npos ? 0 : inner + 1);
      rest_text = (name == "self" ? id : "self/task/" + id) + std::string{rest};
      rest = rest_text;
      continue;
    }
    if (name == "." || name == "..") {
      if (name == "..") {
        p.folder.reset(openat(p.folder.get(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!p.folder) return failed_call(errno);
      }
      if (!last) continue;
      p.name = ".";
      p.object.reset(openat(p.folder.get(), ".", O_PATH | O_CLOEXEC));
    } else {
      p.object.reset(openat(p.folder.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      if (!p.object && (!last || errno != ENOENT)) return failed_call(errno);
      p.name = name;
    }
    p.trailing_slash = last && slash;
    struct stat st {};
    if (p.object && fstat(p.object.get(), &st) != 0) return failed_call(errno);

    if (p.object && S_ISLNK(st.st_mode) && (!last || follow_last || slash)) {
      if (++links > most_links) return failed_call(ELOOP);
      if (is_proc(p.folder.get()) && !is_proc_root(p.folder.get())) {
        // Not a text but a way straight to an open file or folder.
        p.object.reset(openat(p.folder.get(), name.c_str(), O_PATH | O_CLOEXEC));
        if (!p.object || fstat(p.object.get(), &st) != 0) return failed_call(errno);
      } else {
        const std::string target = read_link(p.object.get(), "");
        if (target.empty()) return failed_call(ENOENT);
        if (target.front() == '/') p.folder = from_root();
        rest_text = target + std::string{rest};
        rest = rest_text;
        continue;
      }
    }
    p.object_mode = st.st_mode;
    p.object_rdev = st.st_rdev;
    if (last) break;
    if (!S_ISDIR(st.st_mode)) return failed_call(ENOTDIR);
    p.folder = std::move(p.object);
  }
  p.folder_path = read_link(AT_FDCWD, ("/proc/self/fd/" + std::to_string(p.folder.get())).c_str());
  if (!p.folder_path.starts_with('/')) return failed_call(ENOENT);
  return p;
}

} // namespace gatehouse::sandbox
