#pragma once

#include "sandbox/caller.hpp"
#include "sandbox/plan.hpp"

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>
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
  /// The guard against a repository in the folder of `at`, or null, when what is made at `at` would
  /// be the last of the parts by which git knows a bare one, whose configuration it obeys.
  [[nodiscard]] const creation_guard* find_bare_repository(const place& at) const;

  /// The command has made the folder `at`. Only so many are remembered; in others the guards for
  /// nested names stay. One on the way to a guarded path is known from then on by what it is, too.
  void add_own(const place& at);
  /// The folder `at` is being removed: its number may come again for somebody else's.
  void forget_own(const place& at);
  /// A nested guard that would forbid `operation`, were the folder not the command's own; or null.
  [[nodiscard]] const creation_guard* find_waived(const place& at,
                                                  guarded_operation operation) const;

private:
  [[nodiscard]] bool is_own(const struct stat& status) const;
  [[nodiscard]] const creation_guard* find(const place& beside, const std::string& name,
                                           guarded_operation operation, bool in_own_folder) const;

  /// The paths of `name` beside what stands at `beside`: as it is called there, and as guards call
  /// the same folder.
  [[nodiscard]] std::vector<std::string> paths_of(const place& beside,
                                                  const std::string& name) const;

  struct folder {
    std::string path;
    dev_t device;
    ino_t inode;
  };
  std::span<const creation_guard> guards_;
  std::vector<folder> folders_;
  std::set<std::pair<dev_t, ino_t>> own_;
};

} // namespace gatehouse::sandbox
