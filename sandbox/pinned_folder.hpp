#pragma once

#include "sandbox/file_descriptor.hpp"

#include <string>
#include <string_view>

namespace gatehouse::sandbox {

/// A folder opened without following a single link: what was checked by its canonical path is what
/// is used, whatever is renamed or linked meanwhile.
class pinned_folder {
public:
  /// @param canonical absolute, without links. @param create makes the missing folders
  static pinned_folder open(const std::string& canonical, bool create = false);

  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  [[nodiscard]] int failure() const noexcept { return failure_; } ///< errno; 0: it is open

private:
  file_descriptor fd_;
  int failure_ = 0;
};

} // namespace gatehouse::sandbox
