#pragma once

#include "sandbox/file_descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace gatehouse::sandbox {

/// A name in a folder, as the calling process sees it, pinned: the folder is open, so that renaming
/// anything afterwards cannot change what is meant.
struct place {
  int error = 0; ///< errno of the walk; then nothing else is set
  file_descriptor folder;
  std::string folder_path; ///< absolute in the process's view, canonical
  std::string name;        ///< last name, without slashes; "." when the path ends in "." or ".."
  bool trailing_slash = false;
  /// What stands there now, opened without rights, links not followed; none: nothing does.
  file_descriptor object;
  mode_t object_mode = 0;
  dev_t object_rdev = 0;

  [[nodiscard]] bool exists() const noexcept { return static_cast<bool>(object); }
  [[nodiscard]] std::string path() const {
    return folder_path == "/" ? "/" + name : folder_path + "/" + name;
  }
};

/// Who is to take a signal that has been sent and not been taken yet.
enum class signal_target { nobody, this_thread, any_thread };

/// A process of the sandbox that waits in a supervised call. Reads its memory, its descriptors and
/// its view of the file system. Until still_waits() is asked, every answer may be about a process
/// that has died meanwhile, or about another one that got its number.
class caller {
public:
  /// `listener` and `id`: the notification it waits for.
  caller(pid_t thread, int listener, std::uint64_t id) noexcept
      : thread_{thread}, listener_{listener}, id_{id} {}

  /// True when the process has waited all the time: what was read is its own. To be asked after
  /// reading and before anything is done.
  [[nodiscard]] bool still_waits() const noexcept;

  bool read_memory(std::uint64_t address, void* to, std::size_t size) const;
  /// A NUL-terminated string of less than PATH_MAX bytes. @return errno (EFAULT, ENAMETOOLONG) in
  /// `failure` when there is none
  std::optional<std::string> read_text(std::uint64_t address, int& failure) const;

  /// Has a signal come that the thread does not block? While it waits for us it takes none but
  /// those that end it.
  [[nodiscard]] signal_target signal_due() const;

  /// Our own descriptor of the same open file. Empty with errno set when there is none.
  [[nodiscard]] file_descriptor borrow(int fd) const;
  [[nodiscard]] mode_t file_mode_mask() const;

  /// What /dev/tty means to it, if it has a controlling terminal that can be reached from its view.
  /// `shares_ours`: our terminal is that of the sandbox's first session too.
  [[nodiscard]] std::optional<place> terminal(bool shares_ours) const;

  /// Walks `path` as the kernel would for this process: from its root, its working folder or its
  /// `dirfd`, links resolved in its view. With `follow_last` a link at the end is followed too.
  [[nodiscard]] place locate(int dirfd, const std::string& path, bool follow_last) const;

private:
  [[nodiscard]] std::string proc(const char* what) const;

  pid_t thread_;
  int listener_;
  std::uint64_t id_;
};

} // namespace gatehouse::sandbox
