#pragma once

#include "policy/starlark/evaluator.hpp"

#include <compare>

namespace gatehouse::policy::starlark {

/// What operators and builtins do with values. All count their work on the evaluator, bound their
/// depth, and throw `failure` for operands they do not take.

value apply(evaluator& on, binary_operator op, const value& a, const value& b);
/// `a += b`: a list grows in place.
value apply_in_place(evaluator& on, binary_operator op, const value& a, const value& b);

bool equal(evaluator& on, const value& a, const value& b, int depth = 0);
std::weak_ordering order(evaluator& on, const value& a, const value& b, int depth = 0);
std::uint64_t hash(evaluator& on, const value& v, int depth = 0);
bool contains(evaluator& on, const value& container, const value& item);

value index(evaluator& on, const value& object, const value& at);
void assign_index(evaluator& on, const value& object, const value& at, const value& item);
/// `from`, `to`, `step` may be None.
value slice(evaluator& on, const value& object, const value& from, const value& to,
            const value& step);

value list_from(evaluator& on, const value& iterable);
value tuple_from(evaluator& on, const value& iterable);
value new_list(evaluator& on, std::span<const value> items);
value new_tuple(evaluator& on, std::span<const value> items);
value new_dict(evaluator& on);

/// Throws while a loop runs over it.
void require_mutable(const list_object& list);
void require_mutable(const dict_object& dict);

/// Null when there is none.
value* find_key(evaluator& on, dict_object& dict, const value& key);
void set_key(evaluator& on, dict_object& dict, const value& key, const value& item);
bool erase_key(evaluator& on, dict_object& dict, const value& key);
/// `into.update(pairs, **named)`, and how `dict(…)` is filled. `pairs` may be null.
void update_dict(evaluator& on, dict_object& into, const value* pairs,
                 const call_arguments& arguments);

/// As `str(v)` and `repr(v)`.
std::string text_of(evaluator& on, const value& v);
std::string repr_of(evaluator& on, const value& v);
/// `template % operands` for a string.
std::string format_percent(evaluator& on, std::string_view format, const value& operands);
/// `template.format(…)`.
std::string format_braces(evaluator& on, std::string_view format, const call_arguments& arguments);

/// A method or null-kind `unbound`.
value find_attribute(evaluator& on, const value& object, std::string_view name);
std::vector<std::string_view> attribute_names(const value& object);

/// Steps to charge for looking for `wanted` in `text`, also at its worst.
std::uint64_t search_cost(std::string_view text, std::string_view wanted) noexcept;

/// Characters (code points) of UTF-8 text.
std::size_t character_count(std::string_view text) noexcept;
/// Byte offset of character `index`; the size when there are fewer.
std::size_t character_offset(std::string_view text, std::size_t index) noexcept;

/// The universe of names: `len`, `True`, …, and the host's functions.
struct builtin_table {
  std::vector<std::string_view> names;
  std::vector<value> values;
};
builtin_table make_builtins(arena& heap, std::span<const host_function> host);

} // namespace gatehouse::policy::starlark
