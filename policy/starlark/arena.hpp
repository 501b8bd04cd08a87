#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::policy::starlark {

/// Owns everything one evaluation makes, syntax and values alike, until it ends: reference cycles
/// cost nothing and the bound on memory is exact. Objects made here are never destroyed one by one,
/// so they may own memory only from here. Over its limit it throws a `failure`.
class arena final : public std::pmr::memory_resource {
public:
  explicit arena(std::size_t limit_in_bytes) noexcept : limit_{limit_in_bytes} {}

  template <class T, class... Args>
  T* make(Args&&... args) {
    return ::new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  template <class T>
  std::span<T> make_array(std::size_t size) {
    if (size == 0) return {};
    auto* first = static_cast<T*>(allocate(checked_size(size, sizeof(T)), alignof(T)));
    std::uninitialized_value_construct_n(first, size);
    return {first, size};
  }
  template <class T>
  std::span<T> copy(std::span<const T> items) {
    if (items.empty()) return {};
    auto* first = static_cast<T*>(allocate(items.size_bytes(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), first);
    return {first, items.size()};
  }
  std::string_view copy(std::string_view text) {
    const auto bytes = copy(std::span<const char>{text});
    return {bytes.data(), bytes.size()};
  }

private:
  [[nodiscard]] std::size_t checked_size(std::size_t count, std::size_t each) const;
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t used_ = 0;
  std::size_t limit_;
};

} // namespace gatehouse::policy::starlark
