#pragma once

#include "protocol/call_report.hpp"
#include "protocol/utf8.hpp"
#include "reactor/head_tail_buffer.hpp"
#include "reactor/output_stream.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

struct capture_limits {
  std::size_t bytes = 1024 * 1024; ///< kept of each stream, and again of their aggregate (§96)
  std::size_t deltas = 10'000;     ///< announced per call, over both streams (§96)
};

/// What one call's process says: kept in bounded memory, and announced piece by piece as text.
/// Reaching a limit only changes what is kept or announced, never the process.
class output_capture {
public:
  explicit output_capture(capture_limits limits = {});

  /// Takes bytes as they were read. Returns the text to announce as one delta event, or nothing
  /// when no character is complete yet or all deltas are spent.
  std::optional<std::string> append(output_stream stream, std::string_view bytes);

  /// The end of `stream`: as `append`, for what is left of an unfinished character.
  std::optional<std::string> finish(output_stream stream);

  /// So many bytes will not come: they count as seen and not kept.
  void lose(std::uint64_t bytes) noexcept { lost_ += bytes; }

  [[nodiscard]] std::uint64_t total_bytes() const noexcept;
  /// What has been kept so far, with a line in place of what is missing (head_tail_buffer).
  [[nodiscard]] captured_output output() const;

private:
  struct channel {
    explicit channel(std::size_t bytes) : kept{bytes} {}
    head_tail_buffer kept;
    utf8_decoder decoder;
    std::string begun; ///< an unfinished character, not yet in the aggregate
  };

  channel& at(output_stream stream) { return channels_[static_cast<std::size_t>(stream)]; }
  std::optional<std::string> announce(std::string text);

  std::array<channel, 2> channels_;
  head_tail_buffer aggregate_;
  std::size_t deltas_left_;
  std::uint64_t lost_ = 0;
};

} // namespace gatehouse::reactor
