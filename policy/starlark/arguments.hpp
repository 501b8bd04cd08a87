#pragma once

#include "policy/starlark/operators.hpp"

#include <algorithm>
#include <initializer_list>

namespace gatehouse::policy::starlark {

/// Takes the arguments of a builtin apart: the first ones by position, those that have a name here
/// also by name. Whatever is left over, missing or given twice is refused.
class argument_reader {
public:
  argument_reader(std::string_view function, const call_arguments& given,
                  std::size_t most_positional, std::initializer_list<std::string_view> names = {})
      : function_{function}, given_{given} {
    if (given.positional.size() > most_positional)
      raise("`" + std::string{function} + "` takes at most " + std::to_string(most_positional) +
            " positional arguments");
    for (const auto& n : given.named)
      if (std::ranges::find(names, n.name) == names.end())
        raise("`" + std::string{function} + "` has no parameter `" + std::string{n.name} + "`");
  }

  /// The argument at `position`, or called `name`; null when it is not given.
  [[nodiscard]] const value* find(std::size_t position, std::string_view name = {}) const {
    const value* found =
        position < given_.positional.size() ? &given_.positional[position] : nullptr;
    for (const auto& n : given_.named) {
      if (name.empty() || n.name != name) continue;
      if (found)
        raise("the argument `" + std::string{name} + "` of `" + std::string{function_} +
              "` is given twice");
      found = &n.item;
    }
    return found;
  }

  [[nodiscard]] const value& need(std::size_t position, std::string_view name = {}) const {
    const auto* found = find(position, name);
    if (!found)
      raise("`" + std::string{function_} + "` needs " + std::to_string(position + 1) +
            " arguments or more");
    return *found;
  }

  [[nodiscard]] std::string_view need_string(std::size_t position) const {
    const auto& v = need(position);
    if (!v.is(value_kind::string)) refuse(v, "a string");
    return v.str();
  }

  /// An int, or `otherwise` when not given or None.
  [[nodiscard]] std::int64_t integer_or(std::size_t position, std::int64_t otherwise,
                                        std::string_view name = {}) const {
    const auto* v = find(position, name);
    if (!v || v->is(value_kind::none)) return otherwise;
    if (!v->is(value_kind::integer)) refuse(*v, "an int");
    return v->integer;
  }

  [[noreturn]] void refuse(const value& v, std::string_view wanted) const {
    raise("`" + std::string{function_} + "` needs " + std::string{wanted} +
          ", not a value of type " + std::string{type_name(v)});
  }

private:
  std::string_view function_;
  const call_arguments& given_;
};

/// A method: its name and what it does with `arguments.receiver`.
struct method {
  std::string_view name;
  native_function function;
};
std::span<const method> string_methods() noexcept;
std::span<const method> list_methods() noexcept;
std::span<const method> dict_methods() noexcept;

} // namespace gatehouse::policy::starlark
