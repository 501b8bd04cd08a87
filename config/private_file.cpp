#include "config/private_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::config {
namespace {

std::string remedy_for(int number) {
  std::string first = "Check the owner and the mode of it and of the folders above it";
  if (number == EROFS) first = "Mount its file system for writing";
  if (number == ENOSPC || number == EDQUOT) first = "Free space there";
  return first + "; XDG_STATE_HOME names another place for the state, GATEHOUSE_HOME one for the "
                 "configuration.";
}

error private_file_failure(const std::string& what, const std::string& path, int number = errno) {
  return {errc::io, "cannot " + what + " " + path + ": " + std::strerror(number),
          remedy_for(number)};
}

std::string parent_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.find_last_of('/'), 1));
}

result<void> flush_folder(const std::string& folder) {
  const descriptor fd{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) return private_file_failure("flush", folder);
  return {};
}

result<void> write_all(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return private_file_failure("write", path);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(fd) != 0) return private_file_failure("flush", path);
  return {};
}

} // namespace

descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

result<void> make_private_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0) return flush_folder(parent_of(folder));
  // A folder that exists may stand where none can be made (a read-only mount, say).
  const int number = errno;
  struct stat about {};
  if (number == EEXIST || (::stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode)))
    return {};
  return private_file_failure("make the folder", folder, number);
}

result<void> make_folders_above(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    if (auto made = make_private_folder(path.substr(0, at)); !made) return made;
  return {};
}

result<void> require_own_folder(const std::string& folder) {
  struct stat entry {
  }, about{};
  if (::lstat(folder.c_str(), &entry) != 0) {
    if (errno == ENOENT) return {};
    return private_file_failure("look at", folder);
  }
  if (::stat(folder.c_str(), &about) != 0) return private_file_failure("look at", folder);
  const auto wrong = [&](const std::string& what) {
    return error{errc::invalid_config, folder + " " + what,
                 "Remove it, or name another folder (XDG_STATE_HOME, GATEHOUSE_HOME)."};
  };
  const auto trusted = [](uid_t owner) { return owner == ::geteuid() || owner == 0; };
  if (!S_ISDIR(about.st_mode)) return wrong("is no folder");
  if (!trusted(entry.st_uid) || !trusted(about.st_uid)) return wrong("belongs to another user");
  if ((about.st_mode & 022U) != 0 && (about.st_mode & S_ISVTX) == 0)
    return wrong("can be changed by others");
  return {};
}

result<void> write_whole_file(const std::string& path, std::string_view text, mode_t mode,
                              existing_file there) {
  // Not "*.rules": never loaded. Without turns every writer needs a draft of its own.
  const auto draft = there == existing_file::replace
                         ? path + ".new"
                         : path + "." + std::to_string(::getpid()) + ".new";
  ::unlink(draft.c_str());
  const descriptor fd{
      ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (fd.get() < 0) return private_file_failure("create", draft);
  auto written = write_all(fd.get(), text, draft);
  if (written && ::fchmod(fd.get(), mode) != 0)
    written = private_file_failure("set the mode of", draft);
  if (written && there == existing_file::replace) {
    if (::rename(draft.c_str(), path.c_str()) == 0) return flush_folder(parent_of(path));
    written = private_file_failure("replace", path);
  } else if (written && ::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    written = private_file_failure("create", path);
  }
  ::unlink(draft.c_str());
  if (!written) return written;
  return flush_folder(parent_of(path));
}

} // namespace gatehouse::config
