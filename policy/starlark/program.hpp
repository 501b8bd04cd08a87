#pragma once

#include "policy/starlark/value.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy::starlark {

struct diagnostic {
  position where;
  std::string message; ///< one sentence
  std::string excerpt; ///< the source line and a line with a caret
};

struct run_limits {
  std::size_t memory = std::size_t{256} << 20; ///< bytes, syntax and values together
  std::uint64_t steps = 20'000'000;            ///< a fraction of a second
  int call_depth = 50;                         ///< the module and builtins count
  std::size_t problems = 50;                   ///< more are not reported
};

struct run_report {
  std::vector<diagnostic> problems; ///< in source order
  bool over_limit = false;          ///< the rest of the file was not looked at
};

/// Evaluates a file of the dialect once. Where a top-level statement does not parse, names
/// something unknown or fails, that is a problem, and the statements after it are still evaluated:
/// the caller decides what of their effects counts. `host` functions are names of the file like
/// builtins.
/// @pre `text` is UTF-8 without NUL
run_report run(std::string_view text, std::span<const host_function> host,
               const run_limits& limits = {});

/// The line of `text` that `where` lies in, and a caret below the column; empty when there is none.
std::string excerpt_at(std::string_view text, position where);

} // namespace gatehouse::policy::starlark
