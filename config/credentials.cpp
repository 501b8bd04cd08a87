#include "config/credentials.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::config {
namespace {

constexpr std::size_t least_length = 32;
constexpr std::size_t most_length = 4096;

error failed(const std::string& path, std::string_view what) {
  return {errc::io, path + ": " + std::string{what} + ": " + std::strerror(errno), {}};
}

struct open_file {
  int fd = -1;
  ~open_file() {
    if (fd >= 0) ::close(fd);
  }
};

result<std::string> fresh_token() {
  std::array<unsigned char, 32> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
    return error{errc::io, "the kernel gives no random bits", {}};
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string token;
  unsigned value = 0;
  int bits_left = 0;
  for (const unsigned char byte : bits) {
    value = (value << 8U) | byte;
    bits_left += 8;
    while (bits_left >= 6) {
      bits_left -= 6;
      token += digits[(value >> static_cast<unsigned>(bits_left)) & 63U];
    }
  }
  if (bits_left > 0) token += digits[(value << static_cast<unsigned>(6 - bits_left)) & 63U];
  return token;
}

/// Every missing folder of `path`, for this user alone.
result<void> make_folders(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const auto folder = path.substr(0, at);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
      return failed(folder, "cannot be made");
  }
  return {};
}

/// Writes a file that is whole or not there: the link to its name fails when another came first.
result<void> write_new(const std::string& path, const std::string& token) {
  const auto draft = path + "." + std::to_string(::getpid()) + ".new";
  ::unlink(draft.c_str());
  open_file file{::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (file.fd < 0) return failed(draft, "cannot be made");
  const auto line = token + "\n";
  const bool written =
      ::write(file.fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      ::fsync(file.fd) == 0;
  const bool linked = written && (::link(draft.c_str(), path.c_str()) == 0 || errno == EEXIST);
  const auto failure = failed(path, "cannot be written");
  ::unlink(draft.c_str());
  if (!linked) return failure;
  return {};
}

result<std::string> read_token(const std::string& path) {
  open_file file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  if (file.fd < 0) return failed(path, "cannot be read");
  struct stat about {};
  if (::fstat(file.fd, &about) != 0) return failed(path, "cannot be read");
  const auto wrong = [&](const char* what) {
    return error{errc::invalid_config, path + " " + what,
                 "Delete it; a new token is made at the next start."};
  };
  if (!S_ISREG(about.st_mode)) return wrong("is no regular file");
  if (about.st_uid != ::geteuid()) return wrong("belongs to another user");
  if ((about.st_mode & 077U) != 0) return wrong("can be read by others");
  std::string text(most_length + 1, '\0');
  const auto length = ::read(file.fd, text.data(), text.size());
  if (length < 0) return failed(path, "cannot be read");
  text.resize(static_cast<std::size_t>(length));
  if (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() < least_length || text.size() > most_length)
    return wrong("holds no token of at least 32 characters");
  for (const char c : text)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
          c == '_'))
      return wrong("holds characters that are not base64url");
  return text;
}

} // namespace

result<std::string> read_or_make_token(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0 && errno == ENOENT) {
    if (const auto made = make_folders(path); !made) return made.error();
    auto token = fresh_token();
    if (!token) return token;
    if (const auto written = write_new(path, *token); !written) return written.error();
  }
  return read_token(path);
}

} // namespace gatehouse::config
