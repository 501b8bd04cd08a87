#include "cli/output.hpp"

#include <cerrno>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

bool write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

} // namespace

bool print_error(std::string_view text) noexcept {
  return write_all(STDERR_FILENO, text);
}

bool print(std::string_view text) noexcept {
  return write_all(STDOUT_FILENO, text);
}

void complain(std::string_view text) {
  write_all(STDERR_FILENO, "gatehouse: " + std::string{text} + "\n");
}

void complain(const error& failure) {
  complain(to_string(failure));
}

void warn(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings)
    complain("warning: " + warning);
}

int wrong_usage(std::string_view what, std::string_view example) {
  complain(std::string{what} + "\n  for example: " + std::string{example});
  return exit_wrong_usage;
}

} // namespace gatehouse::cli
