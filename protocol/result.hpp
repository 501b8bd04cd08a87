#pragma once

#include "protocol/error.hpp"

#include <cassert>
#include <utility>
#include <variant>

namespace gatehouse {

/// A value or an `error`. Member names follow std::expected, so that a later switch is one alias.
template <class T>
class [[nodiscard]] result {
public:
  using value_type = T;

  result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
  result(gatehouse::error failure) : state_{std::in_place_index<1>, std::move(failure)} {}

  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// @pre has_value()
  T& value() & { return *get(); }
  const T& value() const& { return *get(); }
  T&& value() && { return std::move(*get()); }
  T& operator*() & { return *get(); }
  const T& operator*() const& { return *get(); }
  T&& operator*() && { return std::move(*get()); }
  T* operator->() { return get(); }
  const T* operator->() const { return get(); }

  /// @pre !has_value()
  [[nodiscard]] const gatehouse::error& error() const& { return *failure(); }
  [[nodiscard]] gatehouse::error&& error() && {
    return std::move(const_cast<gatehouse::error&>(*failure()));
  }

  [[nodiscard]] T value_or(T fallback) && {
    return has_value() ? std::move(*get()) : std::move(fallback);
  }

private:
  T* get() {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  const T* get() const {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  const gatehouse::error* failure() const {
    assert(!has_value());
    return std::get_if<1>(&state_);
  }

  std::variant<T, gatehouse::error> state_;
};

/// Success without a value, or an `error`.
template <>
class [[nodiscard]] result<void> {
public:
  result() = default;
  result(gatehouse::error failure) : failed_{true}, failure_{std::move(failure)} {}

  [[nodiscard]] bool has_value() const noexcept { return !failed_; }
  explicit operator bool() const noexcept { return has_value(); }
  [[nodiscard]] const gatehouse::error& error() const& {
    assert(failed_);
    return failure_;
  }

private:
  bool failed_ = false;
  gatehouse::error failure_;
};

} // namespace gatehouse
