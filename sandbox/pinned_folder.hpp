#pragma once

#include "sandbox/file_descriptor.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace gatehouse::sandbox {

/// The making of missing folders.
struct folder_making {
  std::function<bool()> stopped; ///< asked before each; true ends it with ECANCELED. May be empty
  std::string topmost;           ///< the first that was made; empty: none
};

/// A folder opened without following a single link: what was checked by its canonical path is what
/// is used, whatever is renamed or linked meanwhile.
class pinned_folder {
public:
  /// @param canonical absolute, without links. @param making makes the missing folders; null: none
  static pinned_folder open(const std::string& canonical, folder_making* making = nullptr);

  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  [[nodiscard]] int failure() const noexcept { return failure_; } ///< errno; 0: it is open

private:
  file_descriptor fd_;
  int failure_ = 0;
};

} // namespace gatehouse::sandbox
