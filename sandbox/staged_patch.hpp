#pragma once

#include "protocol/patch_call.hpp"
#include "protocol/result.hpp"
#include "sandbox/patch_places.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/types.h>

namespace gatehouse::sandbox {

/// Tells one content of one file from another, as far as its status shows.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  timespec changed{};

  static file_identity of(const struct stat& status) noexcept;
  bool operator==(const file_identity& other) const noexcept;
};

/// One thing to be done on disk.
struct patch_step {
  enum class kind { write, remove };
  kind what = kind::write;
  std::size_t operation = 0; ///< index in the patch
  bool last = true;          ///< with it the operation is done
  std::string path;          ///< canonical
  std::string existing_folder;
  std::string content;        ///< write
  std::optional<mode_t> mode; ///< write: to be kept; unset: as new files get it
  std::string like{};         ///< write: whose owner and attributes are kept; empty: nobody's
};

/// A patch worked out in memory against the files as they are: operation by operation, each seeing
/// what the ones before it made.
class staged_patch {
public:
  /// Errors name the line of the patch; the files were only read.
  /// @param places one for each operation. @param from the first operation to take
  static result<staged_patch> make(const patch& what, const std::vector<patch_place>& places,
                                   std::size_t from);

  std::vector<patch_step> steps;
  /// What stood on disk at each path that will be written or removed; unset: nothing.
  std::map<std::string, std::optional<file_identity>> found;
  std::size_t tolerant_matches = 0;

private:
  struct file {
    bool exists = false;
    bool is_link = false;
    bool on_disk = false;  ///< not yet changed by an operation before
    bool has_text = false; ///< `content` is read or made
    std::string content;
    std::optional<mode_t> mode;
  };

  result<file*> look(const std::string& path, int line, const std::string& shown);
  std::optional<error> read(file& which, const std::string& path, int line,
                            const std::string& shown);
  std::optional<error> check_place(const std::string& path, int line, const std::string& shown);
  std::optional<error> take(const patch_operation& operation, const patch_place& place);
  std::optional<error> add(const patch_operation& operation, const patch_place& place);
  std::optional<error> remove(const patch_operation& operation, const patch_place& place);
  std::optional<error> update(const patch_operation& operation, const patch_place& place);
  std::optional<error> write(file& which, const patch_place& place, std::string content, int line,
                             bool last);

  std::map<std::string, file> files_;
  std::size_t bytes_read_ = 0;
  std::size_t bytes_made_ = 0;
  std::size_t operation_ = 0;
};

} // namespace gatehouse::sandbox
