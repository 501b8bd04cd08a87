#include "config/text_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::config {
namespace {

error failure(const std::string& what, const std::string& path, int number) {
  return {errc::io, "cannot " + what + " " + path + ": " + std::strerror(number),
          "Check the file's owner and mode, then try again."};
}

struct closer {
  int fd;
  ~closer() { ::close(fd); }
};

} // namespace

result<std::optional<std::string>> read_text_file(const std::string& path, std::size_t max_bytes) {
  // Non-blocking, so that a FIFO put in the place of a file cannot hang us.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    // A dangling link is not a missing file: whoever made it meant something to be read.
    struct stat link {};
    const int number = errno;
    if (number == ENOENT && ::lstat(path.c_str(), &link) != 0) return std::optional<std::string>{};
    return failure("open", path, number);
  }
  const closer close_at_end{fd};
  struct stat about {};
  if (::fstat(fd, &about) != 0) return failure("examine", path, errno);
  if (!S_ISREG(about.st_mode))
    return error{errc::io, path + " is not a regular file", "Put a plain file there."};
  std::string text;
  text.reserve(std::min(static_cast<std::size_t>(about.st_size), max_bytes) + 1);
  char buffer[65536];
  for (;;) {
    const auto count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("read", path, errno);
    if (count == 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.size() > max_bytes)
      return error{errc::too_large,
                   path + " is larger than " + std::to_string(max_bytes) + " bytes",
                   "Split or shorten the file."};
  }
  return std::optional{std::move(text)};
}

} // namespace gatehouse::config
