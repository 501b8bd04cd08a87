#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// Which ids were used, each for ever, in 16 to 32 bytes: of every id only 64 bits. Two ids may
/// share these by accident, once in 10^13 for a full memory: then a new one counts as used, never a
/// used one as new.
class id_memory {
public:
  /// @param most that are told apart; whoever asks for more is refused by its owner (is_full)
  explicit id_memory(std::size_t most = 1'000'000);

  [[nodiscard]] bool contains(std::string_view id) const;
  /// An id that is already in it changes nothing. A full memory takes more all the same.
  void add(std::string_view id);
  [[nodiscard]] bool is_full() const noexcept { return size_ >= most_; }
  [[nodiscard]] std::size_t most() const noexcept { return most_; }

private:
  [[nodiscard]] std::uint64_t mark_of(std::string_view id) const;
  /// Where the mark is, or would go.
  [[nodiscard]] std::size_t place_of(std::uint64_t mark) const;
  void grow();

  std::size_t most_;
  std::uint64_t seed_; ///< nobody outside can choose ids that fall into one place
  std::size_t size_ = 0;
  std::vector<std::uint64_t> marks_; ///< open addressing, a power of two; 0: free
};

} // namespace gatehouse::actors
