#pragma once

#include "policy/starlark/failure.hpp"

#include <string_view>

namespace gatehouse::policy::starlark {

enum class token_kind : std::uint8_t {
  end,
  newline,
  indent,
  dedent,
  name,
  keyword,
  integer,
  real,
  string,
  symbol,
};

struct token {
  token_kind kind = token_kind::end;
  position where;
  /// As written; for a string what stands between its quotes.
  std::string_view text;
  bool raw = false;       ///< r"…"
  bool bytes = false;     ///< b"…"
  bool formatted = false; ///< f"…"
  position text_where;    ///< of the first character between the quotes
};

} // namespace gatehouse::policy::starlark
