#include "sandbox/change_attributes.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

namespace gatehouse::sandbox {
namespace {

using file_times = std::array<timespec, 2>;

/// The registers of one call, brought to one form.
struct attribute_call {
  enum class what { mode, owner, time_in_ns, time_in_us, time_in_s };
  what kind = what::mode;
  int dirfd = AT_FDCWD;
  std::uint64_t path = 0; ///< 0: `dirfd` is the file
  bool follow = true;
  mode_t mode = 0;
  uid_t user = 0;
  gid_t group = 0;
  std::uint64_t times = 0; ///< 0: now

  [[nodiscard]] bool changes_times() const { return kind != what::mode && kind != what::owner; }
};

std::optional<attribute_call> decode_change(const seccomp_data& data) {
  using what = attribute_call::what;
  const auto& a = data.args;
  const int fd = static_cast<int>(a[0]);
  const auto mode = [&](what kind, int dirfd, std::uint64_t path, std::uint64_t value) {
    attribute_call c;
    c.kind = kind, c.dirfd = dirfd, c.path = path, c.mode = static_cast<mode_t>(value);
    return c;
  };
  const auto owner = [&](int dirfd, std::uint64_t path, unsigned first, bool follow) {
    attribute_call c;
    c.kind = what::owner, c.dirfd = dirfd, c.path = path, c.follow = follow;
    c.user = static_cast<uid_t>(a[first]), c.group = static_cast<gid_t>(a[first + 1]);
    return c;
  };
  const auto times = [&](what kind, int dirfd, std::uint64_t path, std::uint64_t at, bool follow) {
    attribute_call c;
    c.kind = kind, c.dirfd = dirfd, c.path = path, c.times = at, c.follow = follow;
    return c;
  };
  switch (data.nr) {
#ifdef SYS_chmod
  case SYS_chmod: return mode(what::mode, AT_FDCWD, a[0], a[1]);
  case SYS_chown: return owner(AT_FDCWD, a[0], 1, true);
  case SYS_lchown: return owner(AT_FDCWD, a[0], 1, false);
  case SYS_utime: return times(what::time_in_s, AT_FDCWD, a[0], a[1], true);
  case SYS_utimes: return times(what::time_in_us, AT_FDCWD, a[0], a[1], true);
  case SYS_futimesat: return times(what::time_in_us, fd, a[1], a[2], true);
#endif
  case SYS_fchmod: return mode(what::mode, fd, 0, a[1]);
  case SYS_fchmodat: return mode(what::mode, fd, a[1], a[2]);
  case SYS_fchown: return owner(fd, 0, 1, true);
  case SYS_fchownat: return owner(fd, a[1], 2, (a[4] & AT_SYMLINK_NOFOLLOW) == 0);
  case SYS_utimensat:
    return times(what::time_in_ns, fd, a[1], a[2], (a[3] & AT_SYMLINK_NOFOLLOW) == 0);
  default: return std::nullopt;
  }
}

/// @return false when the memory cannot be read
bool read_times(const caller& who, const attribute_call& call, file_times& times) {
  using what = attribute_call::what;
  times = {{{0, UTIME_NOW}, {0, UTIME_NOW}}};
  if (call.times == 0) return true;
  if (call.kind == what::time_in_ns) return who.read_memory(call.times, &times, sizeof times);
  if (call.kind == what::time_in_us) {
    std::array<timeval, 2> given{};
    if (!who.read_memory(call.times, &given, sizeof given)) return false;
    for (std::size_t i = 0; i < given.size(); ++i)
      times[i] = {given[i].tv_sec, given[i].tv_usec * 1000};
    return true;
  }
  utimbuf given{};
  if (!who.read_memory(call.times, &given, sizeof given)) return false;
  times = {{{given.actime, 0}, {given.modtime, 0}}};
  return true;
}

answer change_it(const file_descriptor& file, const attribute_call& call, const file_times& times) {
  int failed = 0;
  if (call.kind == attribute_call::what::mode)
    failed = chmod(("/proc/self/fd/" + std::to_string(file.get())).c_str(), call.mode);
  else if (call.kind == attribute_call::what::owner)
    failed = fchownat(file.get(), "", call.user, call.group, AT_EMPTY_PATH);
  else
    failed = utimensat(file.get(), "", times.data(), AT_EMPTY_PATH);
  return failed == 0 ? answer{} : answer::failure(errno);
}

} // namespace

bool is_attribute_call(const seccomp_data& call) noexcept {
  return decode_change(call).has_value();
}

answer change_attributes(const caller& who, const seccomp_data& data,
                         const std::function<bool(const std::string&)>& may_change) {
  const auto call = decode_change(data);
  if (!call) return answer::failure(EPERM);
  file_times times{};
  if (call->changes_times() && !read_times(who, *call, times)) return answer::failure(EFAULT);

  int failure = 0;
  std::optional<std::string> path;
  if (call->path != 0) {
    path = who.read_text(call->path, failure);
    if (!path) return answer::failure(failure);
  } else if (data.nr != SYS_fchmod && data.nr != SYS_fchown && data.nr != SYS_utimensat) {
    return answer::failure(EFAULT);
  }
  // `fchownat` names the file itself by an empty path.
  const bool itself = path && path->empty() && data.nr == SYS_fchownat &&
                      (data.args[4] & AT_EMPTY_PATH) != 0 && call->dirfd != AT_FDCWD;
  if (!path || itself) {
    const file_descriptor file = who.borrow(call->dirfd);
    if (!file) return answer::failure(EBADF);
    if (!itself && (fcntl(file.get(), F_GETFL) & O_PATH) != 0) return answer::failure(EBADF);
    const std::string where = path_on_host(file);
    if (!who.still_waits()) return answer::failure(EINTR);
    // What has no path (a pipe, a memory file) belongs to whoever holds it.
    if (where.starts_with('/') && !may_change(where)) return answer::failure(EACCES);
    return change_it(file, *call, times);
  }
  const place at = who.locate(call->dirfd, *path, call->follow);
  if (at.error != 0) return answer::failure(at.error);
  if (!at.exists()) return answer::failure(ENOENT);
  if (!who.still_waits()) return answer::failure(EINTR);
  if (!may_change(path_on_host(at.object))) return answer::failure(refusal_of(at));
  return change_it(at.object, *call, times);
}

} // namespace gatehouse::sandbox
