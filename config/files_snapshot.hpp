#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gatehouse::config {

/// What some files and folders looked like at one moment, to notice a change without reading them.
/// Take it before reading: what is written while the files are read then counts as a change.
class files_snapshot {
public:
  files_snapshot() = default;
  /// `paths`: absolute; links are followed; a path may name nothing yet.
  explicit files_snapshot(std::vector<std::string> paths);

  /// A file was written, replaced, removed or made, or a folder's list of names changed. True also
  /// where that cannot be told: a file written in the same tick of the clock as the look at it.
  [[nodiscard]] bool changed() const;

private:
  struct seen {
    bool exists = false;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified_ns = 0; ///< since the epoch
    std::int64_t altered_ns = 0;  ///< … of the inode
    bool operator==(const seen&) const = default;
  };
  static seen look_at(const std::string& path);

  std::vector<std::string> paths_;
  std::vector<seen> seen_;
  bool uncertain_ = false;
};

} // namespace gatehouse::config
