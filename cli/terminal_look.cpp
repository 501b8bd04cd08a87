#include "cli/terminal_look.hpp"

#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

std::string coloured(bool really, std::string_view code, std::string_view text) {
  if (!really) return std::string{text};
  return "\x1b[" + std::string{code} + "m" + std::string{text} + "\x1b[0m";
}

} // namespace

std::string terminal_look::bold(std::string_view text) const {
  return coloured(colours, "1", text);
}
std::string terminal_look::warning(std::string_view text) const {
  return coloured(colours, "1;31", text);
}
std::string terminal_look::dim(std::string_view text) const {
  return coloured(colours, "2", text);
}

terminal_look look_of_terminal(int fd) {
  terminal_look look;
  if (::isatty(fd) == 0) return look;
  const char* off = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  look.colours = !(off && *off) && term && std::string_view{term} != "dumb";
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0) look.columns = size.ws_col;
  return look;
}

} // namespace gatehouse::cli
