#include "sandbox/patch_files.hpp"

#include "policy/path_text.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"
#include "sandbox/pinned_folder.hpp"
#include "sandbox/staged_patch.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace gatehouse::sandbox {
namespace {

std::string quoted(std::string_view path) {
  return json_quote(to_valid_utf8(path));
}

/// "failed to write file": words that tell a refusal by the system from a patch that does not fit.
error not_written(std::string_view path, int code) {
  return {errc::io, "failed to write file " + quoted(path) + ": " + std::strerror(code), {}};
}

error changed_meanwhile(std::string_view path) {
  return {errc::io, quoted(path) + " was changed since the patch was checked",
          "read the file again and make the patch anew"};
}

bool is_stopped(const patch_terms& terms) {
  return terms.stopped && terms.stopped();
}

error stopped() {
  return {errc::io, "the patch was stopped", {}};
}

std::string folder_above(const std::string& path) {
  return std::string{policy::parent_of(path)};
}

std::string last_name(const std::string& path) {
  return std::string{policy::name_of(path)};
}

/// Patches that meet in a folder take turns; whoever waited reads what the other left.
class folder_locks {
public:
  std::optional<error> take(const std::vector<patch_place>& places) {
    std::set<std::string> folders; // one order for all, so that no two patches wait for each other
    for (const auto& place : places) {
      folders.insert(place.existing_folder);
      for (const auto* path : {&place.reads, &place.change.from})
        if (!path->empty()) folders.insert(folder_above(*path));
    }
    for (const auto& folder : folders) {
      const auto pinned = pinned_folder::open(folder);
      file_descriptor fd{
          pinned.failure() == 0
              ? ::openat(pinned.get(), ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
              : -1};
      // What is missing or may not be read is reported by whoever needs it.
      if (!fd && errno == EMFILE)
        return error{errc::too_large,
                     "the patch touches files in " + std::to_string(folders.size()) +
                         " folders, more than this process may open",
                     "split the patch, or raise the limit of open files (ulimit -n)"};
      if (!fd) continue;
      if (!lock(fd.get()))
        return error{errc::io, "another program keeps the folder " + quoted(folder) + " locked",
                     "try it again when it has ended"};
      held_.push_back(std::move(fd));
    }
    return std::nullopt;
  }

private:
  static bool lock(int fd) {
    constexpr timespec pause{0, 10'000'000};
    constexpr int tries = 500; // 5 s
    for (int i = 0; i < tries; ++i) {
      if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
      if (errno != EWOULDBLOCK && errno != EINTR) return true; // a file system without locks
      ::nanosleep(&pause, nullptr);
    }
    return false;
  }

  std::vector<file_descriptor> held_;
};

/// The new contents, complete on disk under other names until their turn comes. What is left over
/// is taken away again.
class commit {
public:
  explicit commit(staged_patch& staged) : staged_{staged} {}
  ~commit() {
    for (const auto& made : parts_)
      if (!made.temporary.empty()) ::unlinkat(made.folder.get(), made.temporary.c_str(), 0);
  }
  commit(const commit&) = delete;
  commit& operator=(const commit&) = delete;

  std::optional<error> prepare(const patch_terms& terms) {
    constexpr std::size_t one_by_one = 16;
    parts_.resize(staged_.steps.size());
    bool flush = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      auto& step = staged_.steps[i];
      if (step.what != patch_step::kind::write) continue;
      if (is_stopped(terms)) return stopped();
      const bool each = parts_.size() <= one_by_one;
      if (auto failure = write_beside(step, parts_[i], each)) return failure;
      flush = flush || !each;
      step.content = {};
    }
    // A rename must not reach the disk before the content does.
    if (flush)
      for (const auto& made : parts_)
        if (made.folder.get() >= 0) {
          const file_descriptor any{::openat(made.folder.get(), ".", O_RDONLY | O_CLOEXEC)};
          if (any && ::syncfs(any.get()) != 0)
            return error{errc::io, std::string{"the disk failed: "} + std::strerror(errno), {}};
          break;
        }
    return std::nullopt;
  }

  std::optional<error> run(const patch_terms& terms, patch_progress& done) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto& step = staged_.steps[i];
      if (is_stopped(terms)) return stopped();
      auto failure = step.what == patch_step::kind::write
                         ? put(step, parts_[i], terms)
                         : remove(step, i > 0 ? &parts_[i - 1] : nullptr);
      if (failure) return failure;
      done = step.last ? patch_progress{step.operation + 1, false}
                       : patch_progress{step.operation, true};
      if (terms.on_progress) terms.on_progress(done);
    }
    return std::nullopt;
  }

private:
  struct part {
    pinned_folder folder;  ///< of the temporary file
    std::string temporary; ///< empty: none (any more)
    file_identity written;
    std::string in_place; ///< the content, where the folder takes no other file
    bool is_in_place = false;
  };

  std::optional<error> write_beside(patch_step& step, part& made, bool sync) {
    made.folder = pinned_folder::open(step.existing_folder);
    if (made.folder.failure() != 0) return not_written(step.path, made.folder.failure());
    file_descriptor fd;
    for (int i = 0; i < 100 && !fd; ++i) {
      made.temporary =
          ".gatehouse-patch-" + std::to_string(::getpid()) + "-" + std::to_string(next_name_++);
      fd.reset(::openat(made.folder.get(), made.temporary.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                        step.mode ? 0600 : 0666));
      if (!fd && errno != EEXIST) break;
    }
    if (!fd) {
      const int code = errno;
      made.temporary.clear();
      // The boundary may open this one file and not its folder.
      if (!staged_.found[step.path] || !may_write(step.path)) return not_written(step.path, code);
      made.is_in_place = true;
      made.in_place = std::move(step.content);
      return std::nullopt;
    }
    if (const auto lost = lost_attribute(step, fd.get()); !lost.empty()) {
      ::unlinkat(made.folder.get(), made.temporary.c_str(), 0);
      made.temporary.clear();
      if (step.like != step.path || !may_write(step.path))
        return error{errc::io,
                     "failed to write file " + quoted(step.path) + ": " + lost + " would be lost",
                     "make this change with a command instead"};
      made.is_in_place = true;
      made.in_place = std::move(step.content);
      return std::nullopt;
    }
    if (const int code = fill(fd.get(), step.content)) return not_written(step.path, code);
    if (step.mode && ::fchmod(fd.get(), *step.mode) != 0) return not_written(step.path, errno);
    if (sync && ::fsync(fd.get()) != 0) return not_written(step.path, errno);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return not_written(step.path, errno);
    made.written = file_identity::of(status);
    return std::nullopt;
  }

  /// Gives the new file the owner and the attributes of the one whose place it takes. What cannot
  /// be given, in words; empty: nothing. The rights of a program (set-id, capabilities) go, as they
  /// do with any other way of writing.
  std::string lost_attribute(const patch_step& step, int made) {
    const auto like = step.like.empty() ? std::optional<file_identity>{} : staged_.found[step.like];
    if (!like) return {};
    const auto folder = pinned_folder::open(folder_above(step.like));
    const file_descriptor old{::openat(folder.get(), last_name(step.like).c_str(),
                                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    struct stat was {};
    struct stat is {};
    if (!old || ::fstat(old.get(), &was) != 0 || ::fstat(made, &is) != 0) return "its owner";
    if ((was.st_uid != is.st_uid || was.st_gid != is.st_gid) &&
        ::fchown(made, was.st_uid == is.st_uid ? static_cast<uid_t>(-1) : was.st_uid,
                 was.st_gid == is.st_gid ? static_cast<gid_t>(-1) : was.st_gid) != 0)
      return was.st_uid != is.st_uid ? "its owner" : "its group";
    const auto size = ::flistxattr(old.get(), nullptr, 0);
    if (size <= 0) return {}; // none, or a file system without
    std::string names(static_cast<std::size_t>(size), '\0');
    if (::flistxattr(old.get(), names.data(), names.size()) != size) return "its attributes";
    for (std::size_t at = 0; at < names.size(); at += std::strlen(&names[at]) + 1) {
      const std::string name{&names[at]};
      if (name.starts_with("security.")) continue; // the system gives its own
      std::string value(65536, '\0');
      const auto length = ::fgetxattr(old.get(), name.c_str(), value.data(), value.size());
      if (length < 0 ||
          ::fsetxattr(made, name.c_str(), value.data(), static_cast<std::size_t>(length), 0) != 0)
        return "its attribute " + quoted(name);
    }
    return {};
  }

  static int fill(int fd, std::string_view content) {
    while (!content.empty()) {
      const auto n = ::write(fd, content.data(), content.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      content.remove_prefix(static_cast<std::size_t>(n));
    }
    return 0;
  }

  static file_descriptor open_for_writing(const std::string& path) {
    const auto folder = pinned_folder::open(folder_above(path));
    if (folder.failure() != 0) return {};
    return file_descriptor{::openat(folder.get(), last_name(path).c_str(),
                                    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  }
  static bool may_write(const std::string& path) { return bool{open_for_writing(path)}; }

  [[nodiscard]] std::optional<file_identity> now_at(int folder, const std::string& name) const {
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    return file_identity::of(status);
  }

  std::optional<error> put(const patch_step& step, part& made, const patch_terms& terms) {
    if (made.is_in_place) return overwrite(step, made);
    folder_making making{terms.stopped, {}};
    auto failure = put(step, made, making);
    // A file that does not come leaves no folders either; those that hold something stay.
    if (failure && !making.topmost.empty())
      for (auto folder = folder_above(step.path); policy::is_at_or_below(folder, making.topmost);
           folder = folder_above(folder))
        ::rmdir(folder.c_str());
    return failure;
  }

  std::optional<error> put(const patch_step& step, part& made, folder_making& making) {
    const auto folder = pinned_folder::open(folder_above(step.path), &making);
    if (folder.failure() == ECANCELED) return stopped();
    if (folder.failure() != 0)
      return folder.failure() == ELOOP || folder.failure() == ENOTDIR
                 ? changed_meanwhile(folder_above(step.path))
                 : not_written(step.path, folder.failure());
    const auto name = last_name(step.path);
    auto& expected = staged_.found[step.path];
    if (now_at(folder.get(), name) != expected) return changed_meanwhile(step.path);
    int failure = ::renameat2(made.folder.get(), made.temporary.c_str(), folder.get(), name.c_str(),
                              expected ? 0 : RENAME_NOREPLACE);
    if (failure != 0 && !expected && errno == EINVAL) // a file system that knows no such flag
      failure = ::renameat(made.folder.get(), made.temporary.c_str(), folder.get(), name.c_str());
    if (failure != 0)
      return errno == EEXIST ? changed_meanwhile(step.path) : not_written(step.path, errno);
    made.temporary.clear();
    expected = made.written;
    return std::nullopt;
  }

  /// Not atomic: all that a file whose folder is closed allows. What fails is put back.
  std::optional<error> overwrite(const patch_step& step, part& made) {
    const auto fd = open_for_writing(step.path);
    if (!fd) return not_written(step.path, errno);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return not_written(step.path, errno);
    if (!S_ISREG(status.st_mode) || file_identity::of(status) != staged_.found[step.path])
      return changed_meanwhile(step.path);
    std::string old(static_cast<std::size_t>(status.st_size), '\0');
    if (::pread(fd.get(), old.data(), old.size(), 0) != status.st_size)
      return changed_meanwhile(step.path);
    const auto size = static_cast<off_t>(made.in_place.size());
    int code = size > status.st_size
                   ? ::posix_fallocate(fd.get(), status.st_size, size - status.st_size)
                   : 0;
    if (code == 0) code = fill(fd.get(), made.in_place);
    if (code == 0 && ::ftruncate(fd.get(), size) != 0) code = errno;
    if (code == 0 && ::fsync(fd.get()) != 0) code = errno;
    if (code != 0) {
      if (::lseek(fd.get(), 0, SEEK_SET) == 0 && fill(fd.get(), old) == 0)
        (void)!::ftruncate(fd.get(), status.st_size);
      return not_written(step.path, code);
    }
    if (::fstat(fd.get(), &status) == 0) staged_.found[step.path] = file_identity::of(status);
    made.in_place = {};
    return std::nullopt;
  }

  /// @param before what was done just before: of a move, its destination
  std::optional<error> remove(const patch_step& step, const part* before) {
    const auto folder = pinned_folder::open(folder_above(step.path));
    if (folder.failure() != 0)
      return folder.failure() == ELOOP || folder.failure() == ENOTDIR
                 ? changed_meanwhile(folder_above(step.path))
                 : not_written(step.path, folder.failure());
    const auto name = last_name(step.path);
    const auto now = now_at(folder.get(), name);
    // One name for two spellings (a file system that ignores case): the move is complete.
    if (before && now && now == before->written && now != staged_.found[step.path])
      return std::nullopt;
    if (now != staged_.found[step.path]) return changed_meanwhile(step.path);
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0)
      return error{
          errc::io, "failed to delete file " + quoted(step.path) + ": " + std::strerror(errno), {}};
    staged_.found[step.path] = std::nullopt;
    return std::nullopt;
  }

  staged_patch& staged_;
  std::vector<part> parts_;
  std::size_t next_name_ = 0;
};

/// What is left of a move whose destination stands already.
std::optional<error> finish_move(const patch_terms& terms, const std::vector<patch_place>& places,
                                 patch_progress& done) {
  const auto& path = places[done.operations].change.from;
  const auto folder = pinned_folder::open(folder_above(path));
  if (folder.failure() != 0 ||
      (::unlinkat(folder.get(), last_name(path).c_str(), 0) != 0 && errno != ENOENT))
    return error{
        errc::io, "failed to delete file " + quoted(path) + ": " + std::strerror(errno), {}};
  done = {done.operations + 1, false};
  if (terms.on_progress) terms.on_progress(done);
  return std::nullopt;
}

std::optional<error> carry_out(const patch& what, const patch_terms& terms, patch_report& report) {
  auto places = find_patch_places(what, terms.cwd);
  folder_locks locks;
  if (!terms.only_verify)
    if (auto failure = locks.take(places)) return failure;
  if (!terms.expected.empty())
    for (std::size_t i = terms.done.operations; i < places.size(); ++i)
      if (i >= terms.expected.size() || places[i].change != terms.expected[i])
        return error{errc::io,
                     quoted(places[i].change.shown) +
                         " leads elsewhere since the patch was checked: to " +
                         quoted(places[i].change.path),
                     "look again at the links on the way to it"};
  std::size_t from = report.done.operations;
  const bool half = report.done.source_is_left && from < places.size();
  if (half) ++from;
  auto staged = staged_patch::make(what, places, from);
  if (!staged) return std::move(staged).error();
  if (terms.on_verified) terms.on_verified(staged->tolerant_matches);
  if (terms.only_verify) return std::nullopt;
  commit all{*staged};
  if (auto failure = all.prepare(terms)) return failure;
  if (half)
    if (auto failure = finish_move(terms, places, report.done)) return failure;
  return all.run(terms, report.done);
}

} // namespace

patch_report apply_patch_files(const patch& what, const patch_terms& terms) {
  patch_report report;
  report.done = terms.done;
  report.failure = carry_out(what, terms, report);
  return report;
}

} // namespace gatehouse::sandbox
