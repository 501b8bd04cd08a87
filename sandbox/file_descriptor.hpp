#pragma once

#include <utility>

#include <unistd.h>

namespace gatehouse::sandbox {

/// Owns one descriptor of this process; -1 is none.
class file_descriptor {
public:
  file_descriptor() = default;
  explicit file_descriptor(int fd) noexcept : fd_{fd} {}
  file_descriptor(file_descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~file_descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }
  /// Gives up ownership.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

private:
  int fd_ = -1;
};

} // namespace gatehouse::sandbox
