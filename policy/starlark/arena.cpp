#include "policy/starlark/arena.hpp"

#include "policy/starlark/failure.hpp"

namespace gatehouse::policy::starlark {
namespace {

constexpr std::size_t chunk_size = std::size_t{64} << 10;

[[noreturn]] void over_limit(std::size_t limit) {
  throw failure{
      "the rule file needs more than " + std::to_string(limit >> 20) + " MiB of memory", {}, true};
}

} // namespace

std::size_t arena::checked_size(std::size_t count, std::size_t each) const {
  if (count > limit_ / each) over_limit(limit_);
  return count * each;
}

void* arena::do_allocate(std::size_t bytes, std::size_t alignment) {
  const auto padding =
      (alignment - reinterpret_cast<std::uintptr_t>(next_) % alignment) % alignment;
  if (bytes <= left_ && padding <= left_ - bytes) {
    auto* result = next_ + padding;
    next_ = result + bytes;
    left_ -= padding + bytes;
    return result;
  }
  const auto size = bytes > chunk_size / 4 ? bytes : chunk_size;
  if (size > limit_ - used_) over_limit(limit_);
  used_ += size;
  auto* result = chunks_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get();
  if (size == chunk_size) {
    next_ = result + bytes;
    left_ = size - bytes;
  }
  return result;
}

} // namespace gatehouse::policy::starlark
