#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace gatehouse::policy::starlark {

/// 1-based; columns count characters. Line 0: not known yet.
struct position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool operator==(const position&) const = default;
};

/// How an evaluation or a parse stops. Thrown inside this folder only; `run` catches it.
struct failure {
  std::string message;
  position where;          ///< line 0: where the evaluator stands
  bool over_limit = false; ///< a budget is used up: nothing more of the file is looked at
};

[[noreturn]] inline void raise(std::string message, position where = {}) {
  throw failure{std::move(message), where, false};
}

} // namespace gatehouse::policy::starlark
