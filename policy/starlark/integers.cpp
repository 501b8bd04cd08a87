#include "policy/starlark/integers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

namespace gatehouse::policy::starlark {

struct big_integer {
  bool negative;
  std::span<const std::uint32_t> limbs; ///< least significant first
};

namespace {

using boost::multiprecision::cpp_int;
constexpr std::size_t most_bits = 4096;

cpp_int wide(const value& v) {
  if (v.is(value_kind::integer)) return v.integer;
  cpp_int result;
  import_bits(result, v.big->limbs.begin(), v.big->limbs.end(), 32, false);
  return v.big->negative ? cpp_int{-result} : result;
}

value made_integer(arena& heap, const cpp_int& n) {
  if (n >= std::numeric_limits<std::int64_t>::min() &&
      n <= std::numeric_limits<std::int64_t>::max())
    return of(static_cast<std::int64_t>(n));
  if (msb(cpp_int{abs(n)}) >= most_bits) raise("a number grows beyond 4096 bits");
  std::vector<std::uint32_t> limbs;
  export_bits(cpp_int{abs(n)}, std::back_inserter(limbs), 32, false);
  value v;
  v.kind = value_kind::big_integer;
  auto* big = heap.make<big_integer>();
  *big = {n < 0, heap.copy(std::span<const std::uint32_t>{limbs})};
  v.big = big;
  return v;
}

bool both_small(const value& a, const value& b) {
  return a.is(value_kind::integer) && b.is(value_kind::integer);
}

/// Quotient towards minus infinity and a remainder with the divisor's sign.
std::pair<cpp_int, cpp_int> floored(const value& a, const value& b) {
  if (sign_of(b) == 0) raise("division by zero");
  cpp_int quotient;
  cpp_int remainder;
  const auto divisor = wide(b);
  divide_qr(wide(a), divisor, quotient, remainder);
  if (remainder != 0 && (remainder < 0) != (divisor < 0)) {
    --quotient;
    remainder += divisor;
  }
  return {quotient, remainder};
}

unsigned shift_count(const value& b) {
  if (sign_of(b) < 0) raise("a number is shifted by a negative count");
  if (!b.is(value_kind::integer) || b.integer > static_cast<std::int64_t>(most_bits))
    raise("a number is shifted by more than 4096 bits");
  return static_cast<unsigned>(b.integer);
}

} // namespace

value parse_integer(arena& heap, std::string_view text, int base) {
  std::int64_t small = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), small, base);
  if (failed == std::errc{} && end == text.data() + text.size()) return of(small);
  cpp_int n;
  for (const char c : text) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    n = n * base + digit;
  }
  return made_integer(heap, n);
}

value integer_from(arena& heap, double d) {
  return made_integer(heap, cpp_int{std::trunc(d)});
}

value add(arena& heap, const value& a, const value& b) {
  std::int64_t sum = 0;
  if (both_small(a, b) && !__builtin_add_overflow(a.integer, b.integer, &sum)) return of(sum);
  return made_integer(heap, wide(a) + wide(b));
}

value subtract(arena& heap, const value& a, const value& b) {
  std::int64_t difference = 0;
  if (both_small(a, b) && !__builtin_sub_overflow(a.integer, b.integer, &difference))
    return of(difference);
  return made_integer(heap, wide(a) - wide(b));
}

value multiply(arena& heap, const value& a, const value& b) {
  std::int64_t product = 0;
  if (both_small(a, b) && !__builtin_mul_overflow(a.integer, b.integer, &product))
    return of(product);
  return made_integer(heap, wide(a) * wide(b));
}

value floor_divide(arena& heap, const value& a, const value& b) {
  return made_integer(heap, floored(a, b).first);
}
value modulo(arena& heap, const value& a, const value& b) {
  return made_integer(heap, floored(a, b).second);
}
value bit_and(arena& heap, const value& a, const value& b) {
  if (both_small(a, b)) return of(a.integer & b.integer);
  return made_integer(heap, wide(a) & wide(b));
}
value bit_or(arena& heap, const value& a, const value& b) {
  if (both_small(a, b)) return of(a.integer | b.integer);
  return made_integer(heap, wide(a) | wide(b));
}
value bit_xor(arena& heap, const value& a, const value& b) {
  if (both_small(a, b)) return of(a.integer ^ b.integer);
  return made_integer(heap, wide(a) ^ wide(b));
}
value shift_left(arena& heap, const value& a, const value& b) {
  return made_integer(heap, wide(a) << shift_count(b));
}
value shift_right(arena& heap, const value& a, const value& b) {
  const auto count = shift_count(b);
  const auto n = wide(a);
  if (n >= 0) return made_integer(heap, n >> count);
  return made_integer(heap, -((-n - 1) >> count) - 1);
}
value negate(arena& heap, const value& a) {
  return subtract(heap, of(std::int64_t{0}), a);
}
value invert(arena& heap, const value& a) {
  return subtract(heap, of(std::int64_t{-1}), a);
}

std::strong_ordering compare_integers(const value& a, const value& b) {
  if (both_small(a, b)) return a.integer <=> b.integer;
  const int order = wide(a).compare(wide(b));
  return order <=> 0;
}

int sign_of(const value& a) noexcept {
  if (a.is(value_kind::big_integer)) return a.big->negative ? -1 : 1;
  return (a.integer > 0) - (a.integer < 0);
}

bool is_beyond_reals(const value& a) {
  // What lies halfway between the largest real and the next power of two would be rounded up to it.
  static const cpp_int first = (cpp_int{1} << 1024) - (cpp_int{1} << 970);
  return a.is(value_kind::big_integer) && cpp_int{abs(wide(a))} >= first;
}

double to_real(const value& a) {
  if (is_beyond_reals(a)) raise("the number is too large for a float");
  return a.is(value_kind::integer) ? static_cast<double>(a.integer) : wide(a).convert_to<double>();
}

std::uint64_t hash_integer(const value& a) {
  if (a.is(value_kind::integer)) {
    // Mixed, so that numbers in step do not fall into one bucket.
    auto mixed = static_cast<std::uint64_t>(a.integer) * 0x9e3779b97f4a7c15ULL;
    return mixed ^ mixed >> 32;
  }
  std::uint64_t hash = a.big->negative ? 1 : 0;
  for (const auto limb : a.big->limbs)
    hash = hash * 1'000'003 + limb;
  return hash;
}

std::string integer_text(const value& a, int base) {
  if (base == 10) return wide(a).str();
  const auto n = wide(a);
  const auto digits = cpp_int{abs(n)}.str(0, base == 8 ? std::ios_base::oct : std::ios_base::hex);
  std::string text = n < 0 ? "-" + digits : digits;
  std::ranges::transform(text, text.begin(),
                         [](char c) { return static_cast<char>(c | (c >= 'A' ? 0x20 : 0)); });
  return text;
}

} // namespace gatehouse::policy::starlark
