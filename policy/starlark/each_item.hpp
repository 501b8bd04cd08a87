#pragma once

#include "policy/starlark/evaluator.hpp"

namespace gatehouse::policy::starlark {

/// Marks a list or dict as being looped over for as long as it lives.
class iteration {
public:
  explicit iteration(int& count) noexcept : count_{count} { ++count_; }
  ~iteration() { --count_; }
  iteration(const iteration&) = delete;
  iteration& operator=(const iteration&) = delete;

private:
  int& count_;
};

/// Calls `visit(item)` for every item of an iterable, which cannot be changed meanwhile. `visit`
/// returns false to stop. Throws for anything else (a string is not iterable).
template <class Visit>
void each_item(evaluator& on, const value& iterable, Visit visit) {
  switch (iterable.kind) {
  case value_kind::list: {
    const iteration guard{iterable.list->iterations};
    for (const auto& item : iterable.list->items) {
      on.spend(1);
      if (!visit(item)) return;
    }
    return;
  }
  case value_kind::dict: {
    const iteration guard{iterable.dict->iterations};
    for (const auto& entry : iterable.dict->entries) {
      on.spend(1);
      if (!visit(entry.key)) return;
    }
    return;
  }
  case value_kind::tuple:
    for (const auto& item : iterable.tuple->items) {
      on.spend(1);
      if (!visit(item)) return;
    }
    return;
  case value_kind::range:
    for (std::int64_t i = 0; i < iterable.range->size; ++i) {
      on.spend(1);
      if (!visit(of(iterable.range->at(i)))) return;
    }
    return;
  case value_kind::string: raise("a string is not iterable; use `.elems()` for its characters");
  default: raise("a value of type " + std::string{type_name(iterable)} + " is not iterable");
  }
}

} // namespace gatehouse::policy::starlark
