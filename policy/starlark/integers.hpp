#pragma once

#include "policy/starlark/value.hpp"

#include <compare>
#include <string>
#include <string_view>

namespace gatehouse::policy::starlark {

/// Whole numbers of any size up to 4096 bits. All take and give values for which is_integer()
/// holds; failing ones throw `failure`.

/// `text` in `base` (2, 8, 10, 16), without prefix and sign, every character a digit of the base.
value parse_integer(arena& heap, std::string_view text, int base);
/// Towards zero. @pre finite
value integer_from(arena& heap, double d);

value add(arena& heap, const value& a, const value& b);
value subtract(arena& heap, const value& a, const value& b);
value multiply(arena& heap, const value& a, const value& b);
value floor_divide(arena& heap, const value& a, const value& b);
value modulo(arena& heap, const value& a, const value& b);
value bit_and(arena& heap, const value& a, const value& b);
value bit_or(arena& heap, const value& a, const value& b);
value bit_xor(arena& heap, const value& a, const value& b);
value shift_left(arena& heap, const value& a, const value& b);
value shift_right(arena& heap, const value& a, const value& b);
value negate(arena& heap, const value& a);
value invert(arena& heap, const value& a);

std::strong_ordering compare_integers(const value& a, const value& b);
int sign_of(const value& a) noexcept;
/// Larger than any real, or smaller: has no nearest one.
bool is_beyond_reals(const value& a);
/// Raises when it is beyond them.
double to_real(const value& a);
std::uint64_t hash_integer(const value& a);
/// `base` 8, 10 or 16, lower case, with a leading `-` for negative ones.
std::string integer_text(const value& a, int base = 10);

} // namespace gatehouse::policy::starlark
