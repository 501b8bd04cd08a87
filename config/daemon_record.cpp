#include "config/daemon_record.hpp"

#include "config/private_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::config {
namespace {

constexpr std::size_t largest_record = 64 * 1024;

error cannot(const std::string& what, const std::string& path) {
  return {errc::io, "cannot " + what + " " + path + ": " + std::strerror(errno), {}};
}

bool one_line(std::string_view text) {
  return text.find('\n') == std::string_view::npos;
}

/// Does `path` still name the file that is open as `fd`?
bool names(const std::string& path, int fd) {
  struct stat named {};
  struct stat open {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string read_whole(int fd) {
  std::string text(largest_record, '\0');
  const auto count = ::pread(fd, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

/// Lines of "word value"; others are passed over, for the records of later versions.
daemon_record read_record(std::string_view text) {
  daemon_record record;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const std::string value{line.substr(space + 1)};
    const auto word = line.substr(0, space);
    if (word == "url") record.urls.push_back(value);
    if (word == "reviewer-token") record.reviewer_token_file = value;
    if (word == "root") record.root = value;
  }
  return record;
}

} // namespace

result<std::unique_ptr<published_daemon>> published_daemon::publish(const std::string& state,
                                                                    const daemon_record& record) {
  const auto folder = state + "/daemons";
  const auto path = folder + "/" + std::to_string(::getpid());
  for (const auto& one : {state, folder})
    if (const auto own = require_own_folder(one); !own) return own.error();
  if (const auto made = make_folders_above(path); !made) return made.error();
  std::string text =
      "root " + record.root + "\nreviewer-token " + record.reviewer_token_file + "\n";
  bool lines = one_line(record.root) && one_line(record.reviewer_token_file);
  for (const auto& url : record.urls) {
    text += "url " + url + "\n";
    lines = lines && one_line(url);
  }
  if (!lines)
    return error{errc::invalid_request, "an address of the daemon is not one line of text", {}};
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return cannot("write", path);
    // Whoever cleans up may have taken the file away between these two.
    if (::flock(fd, LOCK_EX) == 0 && !names(path, fd)) {
      ::close(fd);
      continue;
    }
    if (::ftruncate(fd, 0) != 0 || !write_whole(fd, text)) {
      auto failure = cannot("write", path);
      ::close(fd);
      return failure;
    }
    return std::unique_ptr<published_daemon>{new published_daemon{path, fd}};
  }
}

published_daemon::~published_daemon() {
  ::unlink(path_.c_str());
  ::close(fd_);
}

std::vector<daemon_record> running_daemons(const std::string& state) {
  std::vector<daemon_record> running;
  std::error_code failed;
  std::filesystem::directory_iterator at{state + "/daemons", failed};
  for (; !failed && at != std::filesystem::directory_iterator{}; at.increment(failed)) {
    const auto path = at->path().string();
    const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    if (::flock(fd, LOCK_SH | LOCK_NB) == 0) {
      if (names(path, fd)) ::unlink(path.c_str());
    } else if (auto record = read_record(read_whole(fd)); !record.urls.empty()) {
      running.push_back(std::move(record));
    }
    ::close(fd);
  }
  return running;
}

} // namespace gatehouse::config
