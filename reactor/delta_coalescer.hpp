#pragma once

#include "reactor/clock.hpp"
#include "reactor/output_stream.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::reactor {

/// One piece of output as it is announced.
struct output_delta {
  output_stream stream = output_stream::standard_output;
  std::string bytes; ///< whole characters wherever they are UTF-8

  bool operator==(const output_delta&) const = default;
};

/// A line of a terminal is announced this long after its end: what a shell says right after it, its
/// prompt, goes along.
inline constexpr std::chrono::milliseconds line_wait{2};

struct delta_limits {
  std::size_t bytes = 8192; ///< of one delta: with so many it is full
  std::size_t largest = 0;  ///< of one delta when more wait than that; less than `bytes`: as it
  std::chrono::microseconds wait{10'000};                       ///< from its first byte
  bool terminal = false;                                        ///< on a terminal
  std::size_t deltas = std::numeric_limits<std::size_t>::max(); ///< of all; then only counted
};

/// Gathers output into deltas: a value that is told the time. A delta is due when it is full, when
/// its first byte has waited long enough, on a terminal soon after a line end. Streams keep the
/// order in which their deltas began. A little output of a terminal is told line by line, an
/// unfinished line with the one before it. No character is cut.
class delta_coalescer {
public:
  explicit delta_coalescer(delta_limits limits) : limits_{limits} {}

  void append(output_stream stream, std::string_view bytes, clock::time_point now);
  /// The same; a delta of all of it has its memory.
  void adopt(output_stream stream, std::string bytes, clock::time_point now);
  /// Of deltas that are taken from now on; see `delta_limits`.
  void set_largest(std::size_t bytes) noexcept { limits_.largest = bytes; }
  /// What is due.
  std::vector<output_delta> take(clock::time_point now);
  /// All of it: the streams have ended.
  std::vector<output_delta> take_all();
  /// When `take` next has something by time alone.
  [[nodiscard]] std::optional<clock::time_point> due() const;
  /// Bytes that were not announced because all deltas are spent.
  [[nodiscard]] std::uint64_t unannounced_bytes() const noexcept { return unannounced_; }

private:
  struct channel {
    std::string bytes;
    std::optional<clock::time_point> since; ///< unset: empty, or only the beginning of a character
    std::optional<clock::time_point> line;  ///< when the first line end of a terminal came
  };

  void note(channel& c, std::string_view came, clock::time_point now) const;
  [[nodiscard]] std::optional<clock::time_point> due_of(const channel& c) const;
  [[nodiscard]] bool is_due(const channel& c, clock::time_point now) const;
  [[nodiscard]] std::size_t earlier() const;
  [[nodiscard]] std::size_t next_piece(std::string_view bytes, bool short_output) const;
  void emit(std::size_t index, bool whole, std::vector<output_delta>& out);

  delta_limits limits_;
  std::array<channel, 2> channels_;
  std::size_t announced_ = 0;
  std::uint64_t unannounced_ = 0;
};

} // namespace gatehouse::reactor
