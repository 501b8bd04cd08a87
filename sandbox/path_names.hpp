#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::sandbox {

/// Device and inode.
using device_and_inode = std::pair<std::uint64_t, std::uint64_t>;

/// Under which names the folders of a PATH hold a file: by links, and by hard links. Thread-safe.
class path_names {
public:
  /// Reads the absolute folders of `path`: once, and again when one, or a folder that its links
  /// lead into, has changed. What cannot be read holds nothing.
  void look_again(std::string_view path);

  /// Absolute paths to `file` in the folders of `path`, in its order, as last read.
  std::vector<std::string> names_of(std::string_view path, device_and_inode file);

  /// The files that the folders of `path` hold under `name`, each once.
  std::vector<device_and_inode> files_called(std::string_view path, std::string_view name);

private:
  struct stamp {
    device_and_inode folder{};
    std::int64_t changed_s = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const stamp&) const = default;
  };
  struct contents {
    std::map<std::string, stamp> read_at; ///< the folder, and those its links lead into
    std::multimap<device_and_inode, std::string> names;
    std::map<std::string, device_and_inode, std::less<>> files;
  };
  static stamp stamp_of(const std::string& folder);
  static contents read(const std::string& folder);

  std::mutex mutex_;
  std::map<std::string, contents> folders_;
};

} // namespace gatehouse::sandbox
