#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <sys/types.h>

namespace gatehouse::config {

/// Sole owner of a descriptor; -1 is empty.
class descriptor {
public:
  explicit descriptor(int fd) : fd_{fd} {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor();
  [[nodiscard]] int get() const noexcept { return fd_; }

private:
  int fd_;
};

/// Makes one folder for this user alone (0700), flushed; one that exists is fine. errc::io.
result<void> make_private_folder(const std::string& folder);
/// Makes every missing folder above `path` so. errc::io.
result<void> make_folders_above(const std::string& path);

/// A folder that exists must be one in which only this user or root can change anything (others, if
/// at all, as in /tmp); neither it nor a link that stands for it may belong to somebody else, who
/// took the name first (BR-047). One that is missing is fine. errc::invalid_config.
result<void> require_own_folder(const std::string& folder);

/// What is to be done when the file is there already.
enum class existing_file : std::uint8_t {
  /// In one step: a reader, or a crash, sees the old file or the new one. Writers take turns by a
  /// lock of their own.
  replace,
  keep, ///< whoever came first has written it; no error
};
/// Writes `text` as the whole of `path`, flushed with its folder; never half of it. errc::io.
result<void> write_whole_file(const std::string& path, std::string_view text, mode_t mode,
                              existing_file there);

} // namespace gatehouse::config
