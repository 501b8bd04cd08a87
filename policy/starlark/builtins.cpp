#include "policy/starlark/arguments.hpp"
#include "policy/starlark/each_item.hpp"
#include "policy/starlark/integers.hpp"
#include "policy/starlark/string_literal.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <unistr.h>

namespace gatehouse::policy::starlark {
namespace {

using arguments = const call_arguments&;

value len(evaluator& on, arguments a) {
  const argument_reader args{"len", a, 1};
  const auto& v = args.need(0);
  const auto size = [](std::size_t n) { return of(static_cast<std::int64_t>(n)); };
  switch (v.kind) {
  case value_kind::string: on.spend(v.str().size() / 64); return size(character_count(v.str()));
  case value_kind::bytes: return size(v.str().size());
  case value_kind::list: return size(v.list->items.size());
  case value_kind::tuple: return size(v.tuple->items.size());
  case value_kind::dict: return size(v.dict->entries.size());
  case value_kind::range: return of(v.range->size);
  default: args.refuse(v, "something with a length");
  }
}

value range(evaluator& on, arguments a) {
  const argument_reader args{"range", a, 3};
  (void)args.need(0);
  const auto part = [&](std::size_t i, std::int64_t otherwise) {
    const auto* v = args.find(i);
    if (v && !v->is(value_kind::integer)) args.refuse(*v, "ints");
    return v ? v->integer : otherwise;
  };
  const bool one = a.positional.size() == 1;
  const auto start = one ? 0 : part(0, 0);
  const auto stop = one ? part(0, 0) : part(1, 0);
  const auto step = part(2, 1);
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (step == 0) raise("the step of a range is 0");
  if (std::abs(start) > most || std::abs(stop) > most || std::abs(step) > most)
    raise("a range goes beyond 2147483648");
  const auto span = step > 0 ? stop - start : start - stop;
  const auto stride = std::abs(step);
  auto* made = on.heap().make<range_object>();
  *made = {start, step, span > 0 ? (span + stride - 1) / stride : 0};
  return of(made);
}

value extreme(evaluator& on, std::string_view name, arguments a, bool greatest) {
  const argument_reader args{name, a, std::numeric_limits<std::size_t>::max(), {"key"}};
  const auto* key = args.find(SIZE_MAX, "key");
  const auto candidates =
      a.positional.size() == 1 ? tuple_from(on, args.need(0)).tuple->items : a.positional;
  if (candidates.empty()) raise("`" + std::string{name} + "` of nothing");
  const auto rank = [&](const value& v) {
    return key && !key->is(value_kind::none) ? on.call(*key, std::span{&v, 1}) : v;
  };
  auto best = candidates.front();
  auto best_rank = rank(best);
  for (const auto& v : candidates.subspan(1)) {
    const auto v_rank = rank(v);
    const auto by = order(on, v_rank, best_rank);
    if (greatest ? std::is_lteq(by) : std::is_gteq(by)) continue;
    best = v;
    best_rank = v_rank;
  }
  return best;
}
value min(evaluator& on, arguments a) {
  return extreme(on, "min", a, false);
}
value max(evaluator& on, arguments a) {
  return extreme(on, "max", a, true);
}

value any(evaluator& on, arguments a) {
  const argument_reader args{"any", a, 1};
  bool found = false;
  each_item(on, args.need(0), [&](const value& v) { return !(found = found || truth(v)); });
  return of(found);
}
value all(evaluator& on, arguments a) {
  const argument_reader args{"all", a, 1};
  bool good = true;
  each_item(on, args.need(0), [&](const value& v) { return good = good && truth(v); });
  return of(good);
}

value reversed(evaluator& on, arguments a) {
  const argument_reader args{"reversed", a, 1};
  const auto list = list_from(on, args.need(0));
  std::ranges::reverse(list.list->items);
  return list;
}

value sorted(evaluator& on, arguments a) {
  const argument_reader args{"sorted", a, 1, {"key", "reverse"}};
  const auto* key = args.find(SIZE_MAX, "key");
  const auto* reverse = args.find(SIZE_MAX, "reverse");
  struct ranked {
    value rank;
    value item;
  };
  std::vector<ranked> items;
  for (const auto& v : tuple_from(on, args.need(0)).tuple->items)
    items.push_back({key && !key->is(value_kind::none) ? on.call(*key, std::span{&v, 1}) : v, v});
  const bool backward = reverse && truth(*reverse);
  std::ranges::stable_sort(items, [&](const ranked& x, const ranked& y) {
    const auto by = order(on, x.rank, y.rank);
    return backward ? std::is_gt(by) : std::is_lt(by);
  });
  const auto list = new_list(on, {});
  for (const auto& i : items)
    list.list->items.push_back(i.item);
  return list;
}

value enumerate(evaluator& on, arguments a) {
  const argument_reader args{"enumerate", a, 2, {"start"}};
  auto next = args.integer_or(1, 0, "start");
  const auto list = new_list(on, {});
  each_item(on, args.need(0), [&](const value& v) {
    list.list->items.push_back(new_tuple(on, std::array{of(next), v}));
    return next++ < std::numeric_limits<std::int64_t>::max();
  });
  return list;
}

value zip(evaluator& on, arguments a) {
  const argument_reader args{"zip", a, std::numeric_limits<std::size_t>::max()};
  std::vector<std::span<const value>> columns;
  auto rows = a.positional.empty() ? 0 : std::numeric_limits<std::size_t>::max();
  for (const auto& v : a.positional) {
    columns.push_back(tuple_from(on, v).tuple->items);
    rows = std::min(rows, columns.back().size());
  }
  const auto list = new_list(on, {});
  std::vector<value> row(columns.size());
  for (std::size_t i = 0; i < rows; ++i) {
    std::ranges::transform(columns, row.begin(), [&](auto column) { return column[i]; });
    on.spend(row.size());
    list.list->items.push_back(new_tuple(on, row));
  }
  return list;
}

value dict(evaluator& on, arguments a) {
  if (a.positional.size() > 1) raise("`dict` takes at most 1 positional argument");
  const auto made = new_dict(on);
  update_dict(on, *made.dict, a.positional.empty() ? nullptr : a.positional.data(), a);
  return made;
}

value list(evaluator& on, arguments a) {
  const argument_reader args{"list", a, 1};
  const auto* from = args.find(0);
  return from ? list_from(on, *from) : new_list(on, {});
}

value tuple(evaluator& on, arguments a) {
  const argument_reader args{"tuple", a, 1};
  const auto* from = args.find(0);
  return from ? tuple_from(on, *from) : new_tuple(on, {});
}

value str(evaluator& on, arguments a) {
  const argument_reader args{"str", a, 1};
  const auto& v = args.need(0);
  return v.is(value_kind::string) ? v : make_string(on.heap(), text_of(on, v));
}
value repr(evaluator& on, arguments a) {
  const argument_reader args{"repr", a, 1};
  return make_string(on.heap(), repr_of(on, args.need(0)));
}

value read_integer(evaluator& on, std::string_view text, std::int64_t base) {
  const auto refuse = [&]() { raise("`int` cannot read " + std::string{text.substr(0, 80)}); };
  if (base != 0 && (base < 2 || base > 36)) raise("`int` needs a base from 2 to 36, or 0");
  auto digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.size() > 1 && digits.front() == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    const int marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    if (marked != 0 && (base == 0 || base == marked)) {
      base = marked;
      digits.remove_prefix(2);
    }
  }
  if (base == 0) base = 10;
  const auto is_digit = [&](char c) {
    const int digit = c >= '0' && c <= '9'                     ? c - '0'
                      : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10
                                                               : 99;
    return digit < base;
  };
  if (digits.empty() || digits.size() > 1300 || !std::ranges::all_of(digits, is_digit)) refuse();
  on.spend(digits.size() * digits.size() / 64);
  const auto magnitude = parse_integer(on.heap(), digits, static_cast<int>(base));
  return negative ? negate(on.heap(), magnitude) : magnitude;
}

value integer(evaluator& on, arguments a) {
  const argument_reader args{"int", a, 2, {"base"}};
  const auto* v = args.find(0);
  if (!v) return of(std::int64_t{0});
  if (v->is(value_kind::string)) return read_integer(on, v->str(), args.integer_or(1, 10, "base"));
  if (args.find(1, "base")) raise("`int` takes a base only with a string");
  if (v->is_integer()) return *v;
  if (v->is(value_kind::boolean)) return of(std::int64_t{v->boolean});
  if (v->is(value_kind::real) && std::isfinite(v->real)) return integer_from(on.heap(), v->real);
  args.refuse(*v, "a number or a string");
}

value real(evaluator&, arguments a) {
  const argument_reader args{"float", a, 1};
  const auto* v = args.find(0);
  if (!v) return of(0.0);
  if (v->is(value_kind::real)) return *v;
  if (v->is_integer()) return of(to_real(*v));
  if (v->is(value_kind::boolean)) return of(v->boolean ? 1.0 : 0.0);
  if (!v->is(value_kind::string)) args.refuse(*v, "a number or a string");
  auto text = v->str();
  if (text.starts_with('+')) text.remove_prefix(1);
  double d = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), d);
  if (failed != std::errc{} || end != text.data() + text.size() || text.empty())
    raise("`float` cannot read " + std::string{v->str().substr(0, 80)});
  return of(d);
}

value boolean(evaluator&, arguments a) {
  const argument_reader args{"bool", a, 1};
  const auto* v = args.find(0);
  return of(v && truth(*v));
}

value type(evaluator& on, arguments a) {
  const argument_reader args{"type", a, 1};
  return make_string(on.heap(), type_name(args.need(0)));
}

value hasattr(evaluator& on, arguments a) {
  const argument_reader args{"hasattr", a, 2};
  return of(!find_attribute(on, args.need(0), args.need_string(1)).is(value_kind::unbound));
}

value getattr(evaluator& on, arguments a) {
  const argument_reader args{"getattr", a, 3};
  const auto found = find_attribute(on, args.need(0), args.need_string(1));
  if (!found.is(value_kind::unbound)) return found;
  if (const auto* otherwise = args.find(2)) return *otherwise;
  raise("a value of type " + std::string{type_name(args.need(0))} + " has no `" +
        std::string{args.need_string(1)} + "`");
}

value dir(evaluator& on, arguments a) {
  const argument_reader args{"dir", a, 1};
  const auto made = new_list(on, {});
  for (const auto name : attribute_names(args.need(0)))
    made.list->items.push_back(make_string(on.heap(), name));
  return made;
}

value chr(evaluator& on, arguments a) {
  const argument_reader args{"chr", a, 1};
  const auto& v = args.need(0);
  if (!v.is(value_kind::integer)) args.refuse(v, "an int");
  if (v.integer < 0 || v.integer > 0x10FFFF || (v.integer >= 0xD800 && v.integer <= 0xDFFF))
    raise("`chr` needs the number of a Unicode character");
  std::string text;
  append_utf8(text, static_cast<std::uint32_t>(v.integer));
  return make_string(on.heap(), text);
}

value ord(evaluator&, arguments a) {
  const argument_reader args{"ord", a, 1};
  const auto text = args.need_string(0);
  if (character_count(text) != 1) raise("`ord` needs a string of one character");
  ucs4_t code = 0;
  u8_mbtouc(&code, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return of(static_cast<std::int64_t>(code));
}

value hash_of_text(evaluator& on, arguments a) {
  const argument_reader args{"hash", a, 1};
  std::uint32_t sum = 0;
  const auto text = args.need_string(0);
  on.spend(text.size() / 16);
  for (const char c : text)
    sum = sum * 31 + static_cast<unsigned char>(c);
  return of(static_cast<std::int64_t>(static_cast<std::int32_t>(sum)));
}

value absolute(evaluator& on, arguments a) {
  const argument_reader args{"abs", a, 1};
  const auto& v = args.need(0);
  if (v.is(value_kind::real)) return of(std::fabs(v.real));
  if (!v.is_integer()) args.refuse(v, "a number");
  return sign_of(v) < 0 ? negate(on.heap(), v) : v;
}

value fail(evaluator& on, arguments a) {
  std::string message = "fail:";
  for (const auto& v : a.positional)
    message += " " + text_of(on, v);
  raise(message);
}

struct builtin {
  std::string_view name;
  native_function function;
  bool is_type = false;
};
constexpr std::array builtins{
    builtin{"abs", absolute},      builtin{"all", all},
    builtin{"any", any},           builtin{"bool", boolean, true},
    builtin{"chr", chr},           builtin{"dict", dict, true},
    builtin{"dir", dir},           builtin{"enumerate", enumerate},
    builtin{"fail", fail},         builtin{"float", real, true},
    builtin{"getattr", getattr},   builtin{"hasattr", hasattr},
    builtin{"hash", hash_of_text}, builtin{"int", integer, true},
    builtin{"len", len},           builtin{"list", list, true},
    builtin{"max", max},           builtin{"min", min},
    builtin{"ord", ord},           builtin{"range", range, true},
    builtin{"repr", repr},         builtin{"reversed", reversed},
    builtin{"sorted", sorted},     builtin{"str", str, true},
    builtin{"tuple", tuple, true}, builtin{"type", type},
    builtin{"zip", zip},
};

} // namespace

builtin_table make_builtins(arena& heap, std::span<const host_function> host) {
  builtin_table table;
  const auto add = [&](std::string_view name, const value& v) {
    table.names.push_back(name);
    table.values.push_back(v);
  };
  add("None", none());
  add("True", of(true));
  add("False", of(false));
  for (const auto& b : builtins) {
    auto* made = heap.make<native_object>();
    made->name = b.name;
    made->function = b.function;
    made->is_type = b.is_type;
    add(b.name, of(made));
  }
  for (const auto& h : host) {
    auto* made = heap.make<native_object>();
    made->name = h.name;
    made->host = &h;
    add(h.name, of(made));
  }
  return table;
}

} // namespace gatehouse::policy::starlark
