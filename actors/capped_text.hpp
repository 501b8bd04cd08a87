#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse::actors {

/// Keeps the beginning and the end of a stream within a bound (§96): errors stand at the end,
/// what it was about at the beginning. Memory stays below twice the bound.
class capped_text {
public:
  /// `cap`: bytes kept at most, half of them of each end.
  explicit capped_text(std::size_t cap) noexcept : half_{cap / 2} {}

  void append(std::string_view bytes);

  /// Bytes seen and not kept.
  [[nodiscard]] std::uint64_t omitted() const noexcept;
  /// What was kept; where bytes are missing stands "\n… N bytes omitted …\n".
  [[nodiscard]] std::string text() const;

private:
  [[nodiscard]] std::string_view kept_tail() const noexcept;

  std::size_t half_;
  std::string head_;
  std::string tail_; ///< cut back to half_ only when it has doubled
  std::uint64_t dropped_ = 0;
};

} // namespace gatehouse::actors
