#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gatehouse::cli {

/// The newest output of one process, in numbered pieces, for a client that comes back. Pure.
class retained_output {
public:
  struct chunk {
    std::uint64_t seq = 0; ///< rising
    std::string_view stream;
    std::shared_ptr<const std::string> bytes; ///< may still be on its way to a client, too
  };
  /// What a piece takes beside its bytes: 108 to 147 bytes were measured, by the size of the piece.
  static constexpr std::size_t piece_overhead = 147;

  /// @param most_bytes of memory, with what the pieces take beside their bytes
  explicit retained_output(std::size_t most_bytes) : most_bytes_{most_bytes} {}

  /// Drops the oldest pieces for it.
  void add(chunk said);
  [[nodiscard]] const std::deque<chunk>& chunks() const noexcept { return chunks_; }
  /// Bytes that came after number `seq` and are kept no longer. Exact for the newest 4,096 pieces
  /// that were dropped; for an older number all that was dropped.
  [[nodiscard]] std::uint64_t missing_after(std::uint64_t seq) const;

private:
  std::size_t most_bytes_;
  std::deque<chunk> chunks_;
  std::size_t held_ = 0; ///< bytes of memory
  std::uint64_t dropped_ = 0;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> gone_; ///< number, bytes dropped up to it
};

} // namespace gatehouse::cli
