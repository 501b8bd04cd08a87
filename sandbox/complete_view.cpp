#include "sandbox/complete_view.hpp"

#include "sandbox/kernel_call.hpp"

#include <cstdint>

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

namespace gatehouse::sandbox {
namespace {

constexpr unsigned detach = 2; // MNT_DETACH; <sys/mount.h> does not go with <linux/mount.h>
constexpr unsigned with_submounts = 0x8000;            // AT_RECURSIVE
constexpr std::uint64_t private_propagation = 1 << 18; // MS_PRIVATE

constexpr std::uint64_t private_mount = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

constexpr const char* device_names[] = {"null", "zero", "full", "random", "urandom", "tty"};
constexpr std::size_t device_count = sizeof device_names / sizeof *device_names;

bool is_bind(mount_kind kind) {
  return kind == mount_kind::read_only_bind || kind == mount_kind::writable_bind ||
         kind == mount_kind::device_bind;
}

/// `path` below `folder`, never through a link.
long open_below(long folder, const char* path) {
  const open_how how{O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
  return kernel_call(SYS_openat2, folder, path, &how, sizeof how);
}

long set_attributes(long mount, unsigned flags, std::uint64_t set, std::uint64_t cleared,
                    std::uint64_t propagation = 0) {
  const mount_attr attributes{set, cleared, propagation, 0};
  return kernel_call(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | flags, &attributes,
                     sizeof attributes);
}

/// A second mount of what `path` below `folder` shows, not yet placed anywhere.
long clone_mount(long folder, const char* path, unsigned flags) {
  const long object = open_below(folder, path);
  if (is_error(object)) return object;
  const long tree = kernel_call(SYS_open_tree, object, "",
                                OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | flags);
  kernel_call(SYS_close, object);
  return tree;
}

/// A new file system that is mounted nowhere yet. `options`: names and values in turn, up to null.
long new_mount(const char* type, std::uint64_t attributes, const char* const* options) {
  const long context = kernel_call(SYS_fsopen, type, FSOPEN_CLOEXEC);
  if (is_error(context)) return context;
  long answer = 0;
  for (; *options && !is_error(answer); options += 2)
    answer = kernel_call(SYS_fsconfig, context, FSCONFIG_SET_STRING, options[0], options[1], 0);
  if (!is_error(answer)) answer = kernel_call(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, 0, 0, 0);
  if (!is_error(answer)) answer = kernel_call(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes);
  kernel_call(SYS_close, context);
  return answer;
}

long new_tmpfs(unsigned perms) {
  char mode[] = {'0', static_cast<char>('0' + (perms >> 6 & 7)),
                 static_cast<char>('0' + (perms >> 3 & 7)), static_cast<char>('0' + (perms & 7)),
                 0};
  const char* const options[] = {"mode", mode, nullptr};
  return new_mount("tmpfs", private_mount, options);
}

long place_on(long mount, long target) {
  return kernel_call(SYS_move_mount, mount, "", target, "",
                     MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/// Places `mount` at `path` below `folder`.
long place_at(long mount, long folder, const char* path) {
  const long target = open_below(folder, path);
  if (is_error(target)) return target;
  const long answer = place_on(mount, target);
  kernel_call(SYS_close, target);
  return answer;
}

bool is_folder(long object) {
  struct statx st {};
  return !is_error(kernel_call(SYS_statx, object, "", AT_EMPTY_PATH, STATX_TYPE, &st)) &&
         S_ISDIR(st.stx_mode);
}

/// An empty file or folder as mount point, in a folder of ours.
long make_place(long folder, const char* path, bool for_folder) {
  char part[4096];
  for (std::size_t i = 0; path[i]; ++i) {
    if (i + 1 == sizeof part) return -ENAMETOOLONG;
    part[i] = 0;
    if (path[i] == '/')
      if (const long made = kernel_call(SYS_mkdirat, folder, part, 0755);
          is_error(made) && made != -EEXIST)
        return made;
    part[i] = path[i];
  }
  const long made = for_folder ? kernel_call(SYS_mkdirat, folder, path, 0755)
                               : kernel_call(SYS_mknodat, folder, path, S_IFREG | 0444, 0);
  return made == -EEXIST ? 0 : made;
}

std::size_t length(const char* text) {
  std::size_t size = 0;
  while (text[size])
    ++size;
  return size;
}

bool same(const char* a, const char* b) {
  for (; *a && *a == *b; ++a, ++b) {
  }
  return *a == *b;
}

/// `path` as seen from `folder`, or null when it is not strictly below.
const char* below(const char* path, const char* folder) {
  for (; *folder; ++folder, ++path)
    if (*path != *folder) return nullptr;
  return *path == '/' && path[1] ? path + 1 : nullptr;
}

class completion {
public:
  completion(inner_step* steps, std::size_t count) : steps_{steps}, count_{count} {}

  long run() {
    root_ = kernel_call(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (is_error(root_)) return root_;
    if (const long answer = keep_host_mounts_out(); is_error(answer)) return answer;
    if (const long answer = take_sources(); is_error(answer)) return answer;
    for (std::size_t i = 0; i < count_; ++i)
      if (const long answer = carry_out(i); is_error(answer)) return answer;
    return remove_masks();
  }

private:
  /// Mounts that the host makes later would come into the view, writable and with devices. Those
  /// that came while bubblewrap was at work become what it made of the others.
  long keep_host_mounts_out() {
    bool whole_tree = true;
    for (std::size_t i = 0; i < count_; ++i)
      whole_tree = whole_tree && !(steps_[i].kind == mount_kind::devices && *steps_[i].source);
    struct statfs fs {};
    if (const long seen = kernel_call(SYS_fstatfs, root_, &fs); is_error(seen)) return seen;
    const bool read_only = whole_tree && (fs.f_flags & ST_RDONLY) != 0;
    return set_attributes(root_, with_submounts,
                          MOUNT_ATTR_NOSUID | (whole_tree ? MOUNT_ATTR_NODEV : 0) |
                              (read_only ? MOUNT_ATTR_RDONLY : 0),
                          0, private_propagation);
  }

  /// Before the first step covers any of them.
  long take_sources() {
    for (std::size_t i = 0; i < count_; ++i) {
      auto& step = steps_[i];
      if (step.kind == mount_kind::devices)
        for (std::size_t d = 0; d < device_count; ++d) {
          char path[16] = "dev/";
          for (std::size_t c = 0; c <= length(device_names[d]); ++c)
            path[4 + c] = device_names[d][c];
          devices_[d] = clone_mount(root_, path, 0);
          if (is_error(devices_[d])) return devices_[d];
          if (const long answer = set_attributes(devices_[d], 0, MOUNT_ATTR_NOSUID,
                                                 MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY);
              is_error(answer))
            return answer;
        }
      if (!is_bind(step.kind)) continue;
      const long tree = clone_mount(root_, step.source + 1, with_submounts);
      if (is_error(tree)) return tree;
      step.fd = static_cast<int>(tree);
      const bool read_only = step.kind == mount_kind::read_only_bind;
      const bool device = step.kind == mount_kind::device_bind;
      // What the host itself shows read-only is locked, and then this is an error.
      if (const long answer =
              set_attributes(tree, with_submounts,
                             MOUNT_ATTR_NOSUID | (device ? 0 : MOUNT_ATTR_NODEV) |
                                 (read_only ? MOUNT_ATTR_RDONLY : 0),
                             (device ? MOUNT_ATTR_NODEV : 0) | (read_only ? 0 : MOUNT_ATTR_RDONLY));
          is_error(answer))
        return answer;
    }
    return 0;
  }

  struct location {
    long folder;
    const char* path;
    bool ours; ///< in a folder of ours, where mount points can be made
  };

  /// From the nearest mount that an earlier step has placed: nobody on the host can lead that away.
  location locate(std::size_t index) const {
    const char* target = steps_[index].target;
    location found{root_, target + 1, false};
    for (std::size_t i = 0; i < index; ++i) {
      const auto& step = steps_[i];
      if (step.fd < 0) continue;
      const char* path = below(target, step.target);
      if (path && length(path) < length(found.path))
        found = {step.fd, path,
                 step.kind == mount_kind::empty_folder || step.kind == mount_kind::devices};
    }
    return found;
  }

  long carry_out(std::size_t index) {
    auto& step = steps_[index];
    const location at = locate(index);
    switch (step.kind) {
    case mount_kind::read_only_bind:
    case mount_kind::writable_bind:
    case mount_kind::device_bind: {
      if (at.ours)
        if (const long made = make_place(at.folder, at.path, is_folder(step.fd)); is_error(made))
          return made;
      return place_at(step.fd, at.folder, at.path);
    }
    case mount_kind::devices: return make_devices(step, at);
    case mount_kind::processes: {
      const char* const options[] = {nullptr};
      const long proc =
          new_mount("proc", private_mount | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY, options);
      if (is_error(proc)) return proc;
      const long answer = place_at(proc, at.folder, at.path);
      kernel_call(SYS_close, proc);
      return answer;
    }
    case mount_kind::empty_folder: {
      if (is_closed_at_once(index)) return mask(at, "folder");
      const long tmpfs = new_tmpfs(step.perms);
      if (is_error(tmpfs)) return tmpfs;
      step.fd = static_cast<int>(tmpfs);
      return place_at(tmpfs, at.folder, at.path);
    }
    case mount_kind::folder: return kernel_call(SYS_mkdirat, at.folder, at.path, step.perms);
    case mount_kind::link: return kernel_call(SYS_symlinkat, step.source, at.folder, at.path);
    case mount_kind::denied_file: return mask(at, "file");
    case mount_kind::seal: return seal(index, at);
    }
    return -EPROTO;
  }

  [[nodiscard]] bool is_closed_at_once(std::size_t index) const {
    return steps_[index].perms == 0 && index + 1 < count_ &&
           steps_[index + 1].kind == mount_kind::seal &&
           same(steps_[index].target, steps_[index + 1].target);
  }

  long seal(std::size_t index, const location& at) {
    if (index > 0 && steps_[index - 1].kind == mount_kind::empty_folder &&
        is_closed_at_once(index - 1))
      return 0;
    for (std::size_t i = 0; i < index; ++i)
      if (steps_[i].kind == mount_kind::empty_folder && steps_[i].fd >= 0 &&
          same(steps_[i].target, steps_[index].target))
        return set_attributes(steps_[i].fd, 0, MOUNT_ATTR_RDONLY, 0);
    const long mounted = open_below(at.folder, at.path);
    if (is_error(mounted)) return mounted;
    const long answer = set_attributes(mounted, 0, MOUNT_ATTR_RDONLY, 0);
    kernel_call(SYS_close, mounted);
    return answer;
  }

  /// All denials show the same empty file or folder of mode 000.
  long mask(const location& at, const char* name) {
    if (masks_ < 0) {
      masks_ = new_tmpfs(0755);
      if (is_error(masks_)) return masks_;
      long answer = kernel_call(SYS_mkdirat, masks_, "folder", 0);
      if (!is_error(answer)) answer = kernel_call(SYS_mknodat, masks_, "file", S_IFREG, 0);
      if (!is_error(answer)) answer = set_attributes(masks_, 0, MOUNT_ATTR_RDONLY, 0);
      // Only what is mounted can be mounted again: over the root, where no path leads.
      if (!is_error(answer)) answer = place_on(masks_, root_);
      if (is_error(answer)) return answer;
    }
    const long one = clone_mount(masks_, name, 0);
    if (is_error(one)) return one;
    const long answer = place_at(one, at.folder, at.path);
    kernel_call(SYS_close, one);
    return answer;
  }

  long remove_masks() {
    if (masks_ < 0) return 0;
    const long answer = kernel_call(SYS_fchdir, masks_);
    return is_error(answer) ? answer : kernel_call(SYS_umount2, ".", detach);
  }

  /// As bubblewrap makes it.
  long make_devices(inner_step& step, const location& at) {
    const long tmpfs = new_tmpfs(0755);
    if (is_error(tmpfs)) return tmpfs;
    step.fd = static_cast<int>(tmpfs);
    if (*step.source)
      if (const long gone = kernel_call(SYS_umount2, step.target, detach); is_error(gone))
        return gone;
    // Mounts can be placed only on what is mounted itself.
    long answer = place_at(tmpfs, at.folder, at.path);
    for (std::size_t d = 0; d < device_count && !is_error(answer); ++d) {
      answer = make_place(tmpfs, device_names[d], false);
      if (!is_error(answer)) answer = place_at(devices_[d], tmpfs, device_names[d]);
      kernel_call(SYS_close, devices_[d]);
    }
    constexpr const char* links[][2] = {
        {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
        {"fd", "/proc/self/fd"},      {"core", "/proc/kcore"},       {"ptmx", "pts/ptmx"}};
    for (const auto& link : links)
      if (!is_error(answer)) answer = kernel_call(SYS_symlinkat, link[1], tmpfs, link[0]);
    if (!is_error(answer)) answer = make_place(tmpfs, "pts", true);
    if (!is_error(answer)) answer = make_place(tmpfs, "shm", true);
    if (is_error(answer)) return answer;
    const char* const options[] = {"ptmxmode", "0666", "mode", "620", nullptr};
    const long terminals = new_mount("devpts", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, options);
    if (is_error(terminals)) return terminals;
    answer = place_at(terminals, tmpfs, "pts");
    kernel_call(SYS_close, terminals);
    return answer;
  }

  inner_step* steps_;
  std::size_t count_;
  long root_ = -1;
  long masks_ = -1;
  long devices_[device_count] = {};
};

} // namespace

long complete_view(inner_step* steps, std::size_t count) {
  const long mask = kernel_call(SYS_umask, 0);
  const long answer = completion{steps, count}.run();
  kernel_call(SYS_umask, mask);
  return answer;
}

} // namespace gatehouse::sandbox
