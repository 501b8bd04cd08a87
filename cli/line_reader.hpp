#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gatehouse::cli {

/// Reads lines from a descriptor. Says when the next read would wait, so that answers can be sent
/// before: a peer that waits for one answer before it asks again never hangs.
class line_reader {
public:
  explicit line_reader(int fd) : fd_{fd} {}

  enum class status {
    line,     ///< `line` holds one, without its newline
    too_long, ///< a line above max_line_bytes was passed over
    end,      ///< no more input
    failed,   ///< errno says why
  };
  /// `line` is valid until the next call. The last line needs no newline.
  status next(std::string_view& line);

  /// No whole line is here already and a read would block now.
  [[nodiscard]] bool would_wait() const;

  static constexpr std::size_t max_line_bytes = 8u << 20;

private:
  int fd_;
  std::string buffer_;
  std::size_t start_ = 0;   ///< of the unread part
  std::size_t scanned_ = 0; ///< no newline before this offset
  bool skipping_ = false;   ///< inside a line that is too long
  bool ended_ = false;
};

} // namespace gatehouse::cli
