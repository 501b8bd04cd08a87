#include "sandbox/patch_files.hpp"

#include "policy/path_text.hpp"
#include "protocol/json_quote.hpp"
#include "protocol/utf8.hpp"
#include "sandbox/file_descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace gatehouse::sandbox {
namespace {

constexpr std::size_t largest_file_bytes = 256U << 20;

std::string shown(std::string_view path) {
  return json_quote(to_valid_utf8(path));
}

error failed(std::string_view what, std::string_view path, int code) {
  return {errc::io, std::string{what} + " " + shown(path) + ": " + std::strerror(code), {}};
}

error refused(int line, const std::string& what) {
  return {errc::invalid_request, "patch line " + std::to_string(line) + ": " + what, {}};
}

/// A file as the patch has made it so far, in memory.
struct staged_file {
  bool exists = false;
  std::string content;
  mode_t mode = 0666; ///< of the file that is replaced, else the default for new files
  bool had_mode = false;
};

class stage {
public:
  explicit stage(std::string cwd) : cwd_{std::move(cwd)} {}

  std::optional<error> run(const patch& what, patch_report& report) {
    for (const auto& operation : what.operations) {
      std::optional<error> failure;
      switch (operation.what) {
      case patch_operation::kind::add: failure = add(operation); break;
      case patch_operation::kind::remove: failure = remove(operation); break;
      case patch_operation::kind::update: failure = update(operation, report); break;
      }
      if (failure) return failure;
    }
    return std::nullopt;
  }

  std::optional<error> commit(patch_report& report) {
    for (const auto& next : steps_) {
      auto failure = next.kind == 'D' ? unlink_file(next.real) : write_file(next);
      if (failure) return failure;
      if (!next.shown.empty()) report.committed.push_back({next.shown_kind, next.shown});
    }
    return std::nullopt;
  }

private:
  struct step {
    char kind = 'M';  ///< 'D' removes `real`, else `real` gets `content`
    std::string real; ///< absolute; links of the last name followed for writes
    std::string content;
    mode_t mode = 0666;
    bool keep_mode = false;
    char shown_kind = 'M';
    std::string shown; ///< empty: an inner step of a move, not listed
  };

  std::string absolute(const std::string& path) const { return policy::absolute_below(cwd_, path); }

  /// Where writing to `path` really writes: the end of its links.
  static std::string follow(const std::string& path) {
    struct stat link {};
    if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return path;
    char resolved[PATH_MAX];
    return ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
  }

  result<staged_file*> load(const std::string& real, int line, const std::string& spelled) {
    auto [place, is_new] = files_.try_emplace(real);
    auto& file = place->second;
    if (!is_new) return &file;
    struct stat status {};
    if (::stat(real.c_str(), &status) != 0) {
      if (errno == ENOENT) return &file;
      if (errno == ENOTDIR)
        return refused(line, shown(spelled) + " lies below something that is not a folder");
      return failed("cannot look at", real, errno);
    }
    if (S_ISDIR(status.st_mode)) return refused(line, shown(spelled) + " is a folder, not a file");
    if (!S_ISREG(status.st_mode)) return refused(line, shown(spelled) + " is not a regular file");
    if (static_cast<std::size_t>(status.st_size) > largest_file_bytes)
      return refused(line, shown(spelled) + " is larger than 256 MiB");
    auto locked = lock(real);
    if (!locked) return std::move(locked).error();
    file.exists = true;
    file.had_mode = true;
    file.mode = status.st_mode & 07777;
    char buffer[65536];
    for (ssize_t n = 0; (n = ::read(locked->get(), buffer, sizeof buffer)) != 0;) {
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed("cannot read", real, errno);
      file.content.append(buffer, static_cast<std::size_t>(n));
    }
    locks_.push_back(std::move(*locked));
    return &file;
  }

  /// Two patches on one file take turns; whoever waited reads what the other left.
  static result<file_descriptor> lock(const std::string& real) {
    for (;;) {
      file_descriptor fd{::open(real.c_str(), O_RDONLY | O_CLOEXEC)};
      if (fd.get() < 0) return failed("cannot read", real, errno);
      if (::flock(fd.get(), LOCK_EX) != 0) return failed("cannot lock", real, errno);
      struct stat held {};
      struct stat current {};
      if (::fstat(fd.get(), &held) == 0 && ::stat(real.c_str(), &current) == 0 &&
          held.st_ino == current.st_ino && held.st_dev == current.st_dev)
        return fd;
    }
  }

  std::optional<error> add(const patch_operation& operation) {
    const auto real = follow(absolute(operation.path));
    auto file = load(real, operation.line, operation.path);
    if (!file) return std::move(file).error();
    if (auto failure = check_parents(real, operation.line, operation.path)) return failure;
    write(**file, real, operation.content, 'A', operation.path);
    return std::nullopt;
  }

  std::optional<error> remove(const patch_operation& operation) {
    const auto named = absolute(operation.path);
    struct stat link {};
    const bool is_link = ::lstat(named.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
    if (is_link && !removed_links_.contains(named)) {
      removed_links_.insert(named);
      steps_.push_back({'D', named, {}, 0, false, 'D', operation.path});
      return std::nullopt;
    }
    auto file = load(named, operation.line, operation.path);
    if (!file) return std::move(file).error();
    if (!(*file)->exists)
      return refused(operation.line,
                     shown(operation.path) + " does not exist, so it cannot be deleted");
    (*file)->exists = false;
    steps_.push_back({'D', named, {}, 0, false, 'D', operation.path});
    return std::nullopt;
  }

  std::optional<error> update(const patch_operation& operation, patch_report& report) {
    const auto named = absolute(operation.path);
    const auto source = follow(named);
    auto file = load(source, operation.line, operation.path);
    if (!file) return std::move(file).error();
    if (!(*file)->exists)
      return refused(operation.line, shown(operation.path) +
                                         " does not exist, so it cannot be updated (use Add File)");
    auto patched = apply_chunks((*file)->content, operation.chunks, operation.path);
    if (!patched) return std::move(patched).error();
    report.tolerant_matches += patched->tolerant_matches;
    const auto target = operation.move_to ? absolute(*operation.move_to) : named;
    if (target == named) {
      write(**file, source, std::move(patched->content), 'M', operation.path);
      return std::nullopt;
    }
    const auto mode = (*file)->mode;
    const bool had_mode = (*file)->had_mode;
    const auto real_target = follow(target);
    auto moved = load(real_target, operation.line, *operation.move_to);
    if (!moved) return std::move(moved).error();
    if (auto failure = check_parents(real_target, operation.line, *operation.move_to))
      return failure;
    (*moved)->mode = mode;
    (*moved)->had_mode = had_mode;
    write(**moved, real_target, std::move(patched->content), 'M', *operation.move_to);
    // The destination stands before the source goes: a failure in between loses nothing.
    if (source == named) files_[source].exists = false;
    steps_.push_back({'D', named, {}, 0, false, 'D', {}});
    return std::nullopt;
  }

  void write(staged_file& file, const std::string& real, std::string content, char kind,
             const std::string& spelled) {
    file.exists = true;
    file.content = content;
    steps_.push_back({kind, real, std::move(content), file.mode, file.had_mode, kind, spelled});
  }

  /// No part of the way to `real` may be a file: neither on disk nor made by this patch.
  std::optional<error> check_parents(const std::string& real, int line,
                                     const std::string& spelled) {
    for (auto parent = policy::parent_of(real); parent != "/"; parent = policy::parent_of(parent)) {
      const auto staged = files_.find(std::string{parent});
      struct stat status {};
      const bool blocked =
          staged != files_.end()
              ? staged->second.exists
              : ::stat(std::string{parent}.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
      if (blocked) return refused(line, shown(spelled) + " lies below a file");
    }
    return std::nullopt;
  }

  static std::optional<error> make_parents(const std::string& real) {
    for (std::size_t slash = real.find('/', 1); slash != std::string::npos;
         slash = real.find('/', slash + 1)) {
      const auto folder = real.substr(0, slash);
      if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
        const int code = errno;
        struct stat status {};
        if (::stat(folder.c_str(), &status) != 0)
          return failed("cannot make the folder", folder, code);
      }
    }
    return std::nullopt;
  }

  static std::optional<error> unlink_file(const std::string& path) {
    if (::unlink(path.c_str()) != 0) return failed("cannot delete", path, errno);
    return std::nullopt;
  }

  static std::optional<error> write_file(const step& what) {
    if (auto failure = make_parents(what.real)) return failure;
    const auto temporary = std::string{policy::parent_of(what.real)} + "/.gatehouse-patch-" +
                           std::to_string(::getpid());
    file_descriptor fd{::open(temporary.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                              what.keep_mode ? 0600 : 0666)};
    if (fd.get() < 0) return failed("failed to write file", what.real, errno);
    std::string_view rest = what.content;
    int code = 0;
    while (!rest.empty() && code == 0) {
      const auto n = ::write(fd.get(), rest.data(), rest.size());
      if (n >= 0)
        rest.remove_prefix(static_cast<std::size_t>(n));
      else if (errno != EINTR)
        code = errno;
    }
    if (code == 0 && what.keep_mode && ::fchmod(fd.get(), what.mode) != 0) code = errno;
    if (code == 0 && ::rename(temporary.c_str(), what.real.c_str()) != 0) code = errno;
    if (code != 0) {
      ::unlink(temporary.c_str());
      return failed("failed to write file", what.real, code);
    }
    return std::nullopt;
  }

  std::string cwd_;
  std::map<std::string, staged_file> files_;
  std::set<std::string> removed_links_;
  std::vector<step> steps_;
  std::vector<file_descriptor> locks_;
};

} // namespace

patch_report apply_patch_files(const patch& what, const std::string& cwd) {
  patch_report report;
  stage staged{cwd};
  report.failure = staged.run(what, report);
  if (!report.failure) report.failure = staged.commit(report);
  return report;
}

std::string success_summary(const patch_report& report) {
  std::string text = "Success. Updated the following files:\n";
  for (char kind : {'A', 'M', 'D'})
    for (const auto& change : report.committed)
      if (change.kind == kind) text += std::string{kind} + " " + change.path + "\n";
  return text;
}

} // namespace gatehouse::sandbox
