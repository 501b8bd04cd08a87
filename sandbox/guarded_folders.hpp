#pragma once

#include "sandbox/caller.hpp"
#include "sandbox/plan.hpp"

#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace gatehouse::sandbox {

/// The guards of a plan, found by path and also by what a folder is: a mount may show a guarded
/// folder under a second path.
class guarded_folders {
public:
  /// Looks at the folders of the guards. `guards` must outlive the object.
  explicit guarded_folders(std::span<const creation_guard> guards);

  /// The guard that forbids `operation` at `at`, or null.
  [[nodiscard]] const creation_guard* find(const place& at, guarded_operation operation) const;

private:
  struct folder {
    std::string path;
    dev_t device;
    ino_t inode;
  };
  std::span<const creation_guard> guards_;
  std::vector<folder> folders_;
};

} // namespace gatehouse::sandbox
