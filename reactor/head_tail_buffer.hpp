#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// The beginning and the end of a byte stream in bounded memory: errors tend to stand last, their
/// cause first. Counts all bytes exactly, whatever it keeps.
class head_tail_buffer {
public:
  /// Keeps at most `capacity` bytes (at least 2): the first half and the last half.
  explicit head_tail_buffer(std::size_t capacity);

  void append(std::string_view bytes);
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_bytes_; }

  struct text {
    /// Well-formed UTF-8: bytes that are none became U+FFFD, no character is torn at the cut, and
    /// where something is missing a line says how many bytes and lines.
    std::string value;
    std::uint64_t omitted_bytes = 0;
    std::uint64_t omitted_lines = 0; ///< line ends among them
  };
  [[nodiscard]] text render() const;
  /// What stands after some count of bytes, without a gap.
  struct rest {
    std::string value;      ///< well-formed UTF-8
    std::uint64_t from = 0; ///< later than asked for where the bytes between are no longer kept
    std::uint64_t next = 0; ///< where to go on: a character that is not complete waits
  };
  [[nodiscard]] rest render_after(std::uint64_t count) const;
  /// `render`, and begins anew with nothing: what a poll gets is what came since the last one. A
  /// character that is not yet complete stays for the next.
  text take();

private:
  void append_to_tail(std::string_view bytes);

  std::size_t head_capacity_;
  std::size_t tail_capacity_;
  std::string head_;
  std::string tail_; ///< a ring once it is full
  std::size_t tail_begin_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t total_lines_ = 0;
};

} // namespace gatehouse::reactor
