#include "sandbox/staged_patch.hpp"

#include "policy/path_text.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"
#include "sandbox/pinned_folder.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

constexpr std::size_t largest_file_bytes = 64U << 20;
constexpr std::size_t largest_total_bytes = 256U << 20;

std::string in_quotes(std::string_view path) {
  return json_quote(to_valid_utf8(path));
}

error refused(int line, const std::string& what, std::string remedy = {}) {
  return {errc::invalid_request, "patch line " + std::to_string(line) + ": " + what,
          std::move(remedy)};
}

error failed(std::string_view what, std::string_view path, int code) {
  return {errc::io, std::string{what} + " " + in_quotes(path) + ": " + std::strerror(code), {}};
}

std::string folder_of(const std::string& path) {
  return std::string{policy::parent_of(path)};
}

std::string name_of(const std::string& path) {
  return std::string{policy::name_of(path)};
}

} // namespace

file_identity file_identity::of(const struct stat& status) noexcept {
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim};
}

bool file_identity::operator==(const file_identity& other) const noexcept {
  return device == other.device && inode == other.inode && size == other.size &&
         changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
}

result<staged_patch> staged_patch::make(const patch& what, const std::vector<patch_place>& places,
                                        std::size_t from) {
  staged_patch staged;
  for (std::size_t i = from; i < what.operations.size(); ++i) {
    staged.operation_ = i;
    if (auto failure = staged.take(what.operations[i], places[i])) return *std::move(failure);
  }
  staged.files_.clear();
  return staged;
}

std::optional<error> staged_patch::take(const patch_operation& operation,
                                        const patch_place& place) {
  switch (operation.what) {
  case patch_operation::kind::add: return add(operation, place);
  case patch_operation::kind::remove: return remove(operation, place);
  case patch_operation::kind::update: return update(operation, place);
  }
  return std::nullopt;
}

result<staged_patch::file*> staged_patch::look(const std::string& path, int line,
                                               const std::string& shown) {
  const auto [at, is_new] = files_.try_emplace(path);
  auto& which = at->second;
  if (!is_new) return &which;
  auto& identity = found[path];
  if (path == "/") return refused(line, shown + " is a folder, not a file");
  if (path.size() >= PATH_MAX)
    return refused(line, shown + " is too long a path: " + std::to_string(path.size()) +
                             " bytes, where this system takes " + std::to_string(PATH_MAX - 1));
  const auto folder = pinned_folder::open(folder_of(path));
  struct stat status {};
  const int code =
      folder.failure() != 0
          ? folder.failure()
          : (::fstatat(folder.get(), name_of(path).c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0
                 ? 0
                 : errno);
  if (code == ENOENT) return &which;
  if (code == ENOTDIR) return refused(line, shown + " lies below something that is not a folder");
  if (code == ENAMETOOLONG) return refused(line, shown + " is too long a name");
  if (code != 0) return failed("cannot look at", path, code);
  if (S_ISDIR(status.st_mode)) return refused(line, shown + " is a folder, not a file");
  which.is_link = S_ISLNK(status.st_mode);
  if (!which.is_link && !S_ISREG(status.st_mode))
    return refused(line, shown + " is not a regular file (a device, a pipe or a socket)");
  which.exists = which.on_disk = true;
  // A changed program loses the rights of its owner, as with any other way of writing.
  if (!which.is_link) which.mode = status.st_mode & 0777;
  identity = file_identity::of(status);
  return &which;
}

std::optional<error> staged_patch::read(file& which, const std::string& path, int line,
                                        const std::string& shown) {
  if (which.has_text) return std::nullopt;
  const auto folder = pinned_folder::open(folder_of(path));
  if (folder.failure() != 0) return failed("cannot read", path, folder.failure());
  const file_descriptor fd{::openat(folder.get(), name_of(path).c_str(),
                                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  if (!fd) return failed("cannot read", path, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failed("cannot read", path, errno);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || file_identity::of(status) != found[path])
    return refused(line, shown + " was changed while the patch was checked", "try it again");
  if (size > largest_file_bytes)
    return refused(line, shown + " is larger than 64 MiB, too large for a patch");
  if ((bytes_read_ += size) > largest_total_bytes)
    return refused(line, "the files of this patch are larger than 256 MiB together",
                   "split the patch");
  which.content.resize(size);
  std::size_t filled = 0;
  while (filled < size) {
    const auto n = ::read(fd.get(), which.content.data() + filled, size - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("cannot read", path, errno);
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  which.content.resize(filled);
  which.has_text = true;
  return std::nullopt;
}

std::optional<error> staged_patch::check_place(const std::string& path, int line,
                                               const std::string& shown) {
  for (auto parent = folder_of(path); parent != "/"; parent = folder_of(parent)) {
    const auto staged = files_.find(parent);
    struct stat status {};
    const bool blocked = staged != files_.end()
                             ? staged->second.exists
                             : ::lstat(parent.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
    if (blocked) return refused(line, shown + " lies below a file");
  }
  for (auto below = files_.lower_bound(path + "/");
       below != files_.end() && policy::is_below(below->first, path); ++below)
    if (below->second.exists)
      return refused(line, shown + " is a folder, since this patch puts a file into it");
  return std::nullopt;
}

std::optional<error> staged_patch::write(file& which, const patch_place& place, std::string content,
                                         int line, bool last) {
  if ((bytes_made_ += content.size()) > largest_total_bytes)
    return refused(line, "what this patch writes is larger than 256 MiB together",
                   "split the patch");
  which.exists = which.has_text = true;
  which.on_disk = which.is_link = false;
  which.content = content;
  steps.push_back({patch_step::kind::write, operation_, last, place.change.path,
                   place.existing_folder, std::move(content), which.mode,
                   !which.mode           ? std::string{}
                   : place.reads.empty() ? place.change.path
                                         : place.reads});
  return std::nullopt;
}

std::optional<error> staged_patch::add(const patch_operation& operation, const patch_place& place) {
  const auto shown = in_quotes(operation.path);
  auto which = look(place.change.path, operation.line, shown);
  if (!which) return std::move(which).error();
  if ((*which)->exists && (*which)->is_link)
    return refused(operation.line, shown + " is a symbolic link that leads nowhere");
  if (auto failure = check_place(place.change.path, operation.line, shown)) return failure;
  if (!(*which)->exists) (*which)->mode.reset();
  return write(**which, place, operation.content, operation.line, true);
}

std::optional<error> staged_patch::remove(const patch_operation& operation,
                                          const patch_place& place) {
  const auto shown = in_quotes(operation.path);
  auto which = look(place.change.path, operation.line, shown);
  if (!which) return std::move(which).error();
  if (!(*which)->exists)
    return refused(operation.line, shown + " does not exist, so it cannot be deleted");
  (*which)->exists = (*which)->has_text = false;
  steps.push_back({patch_step::kind::remove, operation_, true, place.change.path, {}, {}, {}});
  return std::nullopt;
}

std::optional<error> staged_patch::update(const patch_operation& operation,
                                          const patch_place& place) {
  const auto shown = in_quotes(operation.path);
  auto source = look(place.reads, operation.line, shown);
  if (!source) return std::move(source).error();
  if (!(*source)->exists)
    return refused(operation.line,
                   shown + " does not exist, so it cannot be updated (use Add File)");
  if ((*source)->is_link)
    return refused(operation.line, shown + " is a symbolic link that leads nowhere");
  if (auto failure = read(**source, place.reads, operation.line, shown)) return failure;
  auto patched = apply_chunks((*source)->content, operation.chunks, operation.path);
  if (!patched) return std::move(patched).error();
  tolerant_matches += patched->tolerant_matches;
  if (place.change.what == change_kind::update)
    return write(**source, place, std::move(patched->content), operation.line, true);
  const auto mode = (*source)->mode;
  const auto shown_target = in_quotes(*operation.move_to);
  auto target = look(place.change.path, operation.line, shown_target);
  if (!target) return std::move(target).error();
  if ((*target)->exists && (*target)->is_link)
    return refused(operation.line, shown_target + " is a symbolic link that leads nowhere");
  // The name that goes may be a link to the file that was read.
  auto leaving = look(place.change.from, operation.line, shown);
  if (!leaving) return std::move(leaving).error();
  (*leaving)->exists = (*leaving)->has_text = false;
  if (auto failure = check_place(place.change.path, operation.line, shown_target)) return failure;
  (*target)->mode = mode;
  // The destination stands before the source goes: a failure in between loses nothing.
  if (auto failure = write(**target, place, std::move(patched->content), operation.line, false))
    return failure;
  steps.push_back({patch_step::kind::remove, operation_, true, place.change.from, {}, {}, {}});
  return std::nullopt;
}

} // namespace gatehouse::sandbox
