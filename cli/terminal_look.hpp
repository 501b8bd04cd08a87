#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gatehouse::cli {

/// How text is written to people at one terminal.
struct terminal_look {
  bool colours = false;    ///< never without a terminal, with NO_COLOR, or with TERM=dumb
  std::size_t columns = 0; ///< 0: unknown; nothing is wrapped

  [[nodiscard]] std::string bold(std::string_view text) const;
  /// For what a yes may cost.
  [[nodiscard]] std::string warning(std::string_view text) const;
  [[nodiscard]] std::string dim(std::string_view text) const;
};

/// The look of the terminal at `fd`, as it is now: windows change their size.
terminal_look look_of_terminal(int fd);

} // namespace gatehouse::cli
