#include "policy/starlark/value.hpp"

#include "policy/starlark/syntax.hpp"

namespace gatehouse::policy::starlark {
namespace {

value made(value_kind kind) {
  value v;
  v.kind = kind;
  return v;
}

} // namespace

value none() noexcept {
  return made(value_kind::none);
}
value ellipsis() noexcept {
  return made(value_kind::ellipsis);
}
value of(bool b) noexcept {
  auto v = made(value_kind::boolean);
  v.boolean = b;
  return v;
}
value of(std::int64_t i) noexcept {
  auto v = made(value_kind::integer);
  v.integer = i;
  return v;
}
value of(double d) noexcept {
  auto v = made(value_kind::real);
  v.real = d;
  return v;
}
value of(list_object* l) noexcept {
  auto v = made(value_kind::list);
  v.list = l;
  return v;
}
value of(const tuple_object* t) noexcept {
  auto v = made(value_kind::tuple);
  v.tuple = t;
  return v;
}
value of(dict_object* d) noexcept {
  auto v = made(value_kind::dict);
  v.dict = d;
  return v;
}
value of(const range_object* r) noexcept {
  auto v = made(value_kind::range);
  v.range = r;
  return v;
}
value of(const function_object* f) noexcept {
  auto v = made(value_kind::function);
  v.function = f;
  return v;
}
value of(const native_object* n) noexcept {
  auto v = made(value_kind::native);
  v.native = n;
  return v;
}

namespace {

value made_text(arena& heap, value_kind kind, std::string_view text) {
  auto v = made(kind);
  auto* object = heap.make<string_object>();
  object->text = heap.copy(text);
  v.text = object;
  return v;
}

} // namespace

value make_string(arena& heap, std::string_view text) {
  return made_text(heap, value_kind::string, text);
}
value make_bytes(arena& heap, std::string_view bytes) {
  return made_text(heap, value_kind::bytes, bytes);
}

std::string_view type_name(const value& v) noexcept {
  switch (v.kind) {
  case value_kind::unbound:
  case value_kind::none: return "NoneType";
  case value_kind::ellipsis: return "ellipsis";
  case value_kind::boolean: return "bool";
  case value_kind::integer:
  case value_kind::big_integer: return "int";
  case value_kind::real: return "float";
  case value_kind::string: return "string";
  case value_kind::bytes: return "bytes";
  case value_kind::list: return "list";
  case value_kind::tuple: return "tuple";
  case value_kind::dict: return "dict";
  case value_kind::range: return "range";
  case value_kind::function:
  case value_kind::native: return "function";
  }
  return "NoneType";
}

bool truth(const value& v) noexcept {
  switch (v.kind) {
  case value_kind::unbound:
  case value_kind::none: return false;
  case value_kind::boolean: return v.boolean;
  case value_kind::integer: return v.integer != 0;
  case value_kind::real: return v.real != 0;
  case value_kind::string:
  case value_kind::bytes: return !v.str().empty();
  case value_kind::list: return !v.list->items.empty();
  case value_kind::tuple: return !v.tuple->items.empty();
  case value_kind::dict: return !v.dict->entries.empty();
  case value_kind::range: return v.range->size != 0;
  case value_kind::big_integer:
  case value_kind::ellipsis:
  case value_kind::function:
  case value_kind::native: return true;
  }
  return true;
}

std::string_view to_string(binary_operator op) noexcept {
  switch (op) {
  case binary_operator::add: return "+";
  case binary_operator::subtract: return "-";
  case binary_operator::multiply: return "*";
  case binary_operator::divide: return "/";
  case binary_operator::floor_divide: return "//";
  case binary_operator::modulo: return "%";
  case binary_operator::bit_and: return "&";
  case binary_operator::bit_or: return "|";
  case binary_operator::bit_xor: return "^";
  case binary_operator::shift_left: return "<<";
  case binary_operator::shift_right: return ">>";
  case binary_operator::equal: return "==";
  case binary_operator::not_equal: return "!=";
  case binary_operator::less: return "<";
  case binary_operator::greater: return ">";
  case binary_operator::less_equal: return "<=";
  case binary_operator::greater_equal: return ">=";
  case binary_operator::in: return "in";
  case binary_operator::not_in: return "not in";
  }
  return "?";
}

} // namespace gatehouse::policy::starlark
