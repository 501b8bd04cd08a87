#pragma once

#include "policy/starlark/arena.hpp"
#include "policy/starlark/failure.hpp"

#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gatehouse::policy::starlark {

class evaluator;
struct function_syntax;
struct list_object;
struct tuple_object;
struct dict_object;
struct range_object;
struct big_integer;
struct function_object;
struct native_object;

enum class value_kind : std::uint8_t {
  unbound, ///< a variable before its first assignment; never a value of an expression
  none,
  ellipsis,
  boolean,
  integer,
  big_integer, ///< outside the range of `integer`
  real,
  string,
  bytes,
  list,
  tuple,
  dict,
  range,
  function,
  native,
};

struct string_object {
  std::string_view text;
};

/// A Starlark value: small ones inside, others by pointer into the arena of the evaluation.
struct value {
  value_kind kind = value_kind::unbound;
  union {
    bool boolean;
    std::int64_t integer = 0;
    double real;
    const string_object* text; ///< string and bytes
    list_object* list;
    const tuple_object* tuple;
    dict_object* dict;
    const range_object* range;
    const big_integer* big;
    const function_object* function;
    const native_object* native;
  };

  [[nodiscard]] bool is(value_kind k) const noexcept { return kind == k; }
  [[nodiscard]] bool is_integer() const noexcept {
    return kind == value_kind::integer || kind == value_kind::big_integer;
  }
  [[nodiscard]] bool is_number() const noexcept { return is_integer() || kind == value_kind::real; }
  /// @pre string or bytes
  [[nodiscard]] std::string_view str() const noexcept { return text->text; }
};

value none() noexcept;
value ellipsis() noexcept;
value of(bool b) noexcept;
value of(std::int64_t i) noexcept;
value of(double d) noexcept;
value of(list_object* l) noexcept;
value of(const tuple_object* t) noexcept;
value of(dict_object* d) noexcept;
value of(const range_object* r) noexcept;
value of(const function_object* f) noexcept;
value of(const native_object* n) noexcept;
value make_string(arena& heap, std::string_view text);
value make_bytes(arena& heap, std::string_view bytes);

struct list_object {
  explicit list_object(arena& heap) : items{&heap} {}
  std::pmr::vector<value> items;
  int iterations = 0; ///< loops over it that run now: it may not change meanwhile
};

struct tuple_object {
  std::span<const value> items;
};

/// Keeps insertion order.
struct dict_object {
  struct entry {
    value key;
    value item;
    std::uint64_t hash;
  };
  explicit dict_object(arena& heap) : entries{&heap}, by_hash{&heap} {}

  std::pmr::vector<entry> entries;
  std::pmr::unordered_multimap<std::uint64_t, std::uint32_t> by_hash; ///< only for large ones
  int iterations = 0;
};

struct range_object {
  std::int64_t start;
  std::int64_t step;
  std::int64_t size;
  [[nodiscard]] std::int64_t at(std::int64_t i) const noexcept { return start + i * step; }
};

/// The variables of one running function, or of the module; kept for the closures that see them.
struct frame {
  frame* outer = nullptr; ///< of the function around it, in the text
  std::span<value> slots;
};

struct function_object {
  const function_syntax* syntax;
  frame* outer;
  std::span<const value> defaults; ///< of the parameters that have one, in order
};

struct named_value {
  std::string_view name;
  value item;
};

/// What a call passes, before anything is bound to parameters.
struct call_arguments {
  value receiver; ///< for methods
  std::span<const value> positional;
  std::span<const named_value> named;
  position where; ///< of the call
};

using native_function = value (*)(evaluator&, const call_arguments&);

/// A function of the program around the interpreter. It gets the arguments unbound and returns what
/// is wrong with the call, if anything; its value is None.
struct host_function {
  std::string name;
  std::function<std::optional<std::string>(const call_arguments&)> call;
};

struct native_object {
  std::string_view name;
  native_function function = nullptr;
  const host_function* host = nullptr; ///< instead of `function`
  value receiver;                      ///< for methods
  bool is_type = false;                ///< may stand in an annotation: `str`, `list`, …
};

/// "int", "string", "NoneType", …: what `type(x)` gives.
std::string_view type_name(const value& v) noexcept;

bool truth(const value& v) noexcept;

} // namespace gatehouse::policy::starlark
