#include "policy/starlark/each_item.hpp"
#include "policy/starlark/integers.hpp"
#include "policy/starlark/operators.hpp"
#include "policy/starlark/string_literal.hpp"
#include "policy/starlark/syntax.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace gatehouse::policy::starlark {
namespace {

constexpr int deepest_printed = 200;
constexpr std::size_t longest_text = std::size_t{64} << 20;

std::string real_text(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "+inf";
  std::array<char, 64> digits{};
  const auto [end, failed] = std::to_chars(digits.data(), digits.data() + digits.size(), d);
  std::string text{digits.data(), end};
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

/// Writes values as `repr` does; bounded, since values may hold one another many times over.
class writer {
public:
  writer(evaluator& on, std::string& out) : on_{on}, out_{out} {}

  void put(const value& v, int depth = 0) {
    if (depth > deepest_printed) raise("values are nested too deeply to print");
    switch (v.kind) {
    case value_kind::unbound:
    case value_kind::none: return put("None");
    case value_kind::ellipsis: return put("Ellipsis");
    case value_kind::boolean: return put(v.boolean ? "True" : "False");
    case value_kind::big_integer: on_.spend(1000); [[fallthrough]];
    case value_kind::integer: return put(integer_text(v));
    case value_kind::real: return put(real_text(v.real));
    case value_kind::string: return put_quoted(v.str());
    case value_kind::bytes: put("b"); return put_quoted(v.str());
    case value_kind::list: return put_items(v.list->items, "[", "]", depth);
    case value_kind::tuple:
      return put_items(v.tuple->items, "(", v.tuple->items.size() == 1 ? ",)" : ")", depth);
    case value_kind::dict: {
      std::string_view before = "{";
      for (const auto& entry : v.dict->entries) {
        put(before);
        put(entry.key, depth + 1);
        put(": ");
        put(entry.item, depth + 1);
        before = ", ";
      }
      return put(v.dict->entries.empty() ? "{}" : "}");
    }
    case value_kind::range: {
      const auto& r = *v.range;
      put("range(" + std::to_string(r.start) + ", " + std::to_string(r.start + r.size * r.step));
      return put(r.step == 1 ? ")" : ", " + std::to_string(r.step) + ")");
    }
    case value_kind::function:
      put("<function ");
      put(v.function->syntax->name);
      return put(">");
    case value_kind::native:
      put("<built-in function ");
      put(v.native->name);
      return put(">");
    }
  }

private:
  void put(std::string_view text) {
    on_.spend(1 + text.size() / 16);
    if (out_.size() + text.size() > longest_text) raise("a text grows beyond 64 MiB");
    out_ += text;
  }

  void put_items(std::span<const value> items, std::string_view open, std::string_view close,
                 int depth) {
    put(open);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) put(", ");
      put(items[i], depth + 1);
    }
    put(close);
  }

  void put_quoted(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
      switch (c) {
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      case '\n': quoted += "\\n"; break;
      case '\r': quoted += "\\r"; break;
      case '\t': quoted += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) {
          quoted += c;
        } else {
          std::array<char, 8> escape{};
          std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(c));
          quoted += escape.data();
        }
      }
    }
    put(quoted + "\"");
  }

  evaluator& on_;
  std::string& out_;
};

std::string formatted_real(char conversion, double d) {
  const std::array<char, 3> format{'%', conversion, '\0'};
  std::array<char, 512> text{};
  const auto size = std::snprintf(text.data(), text.size(), format.data(), d);
  return {text.data(), static_cast<std::size_t>(size)};
}

std::string converted(evaluator& on, char conversion, const value& v) {
  const auto need = [&](bool good, std::string_view wanted) {
    if (!good)
      raise("`%" + std::string{conversion} + "` needs " + std::string{wanted} +
            ", not a value of type " + std::string{type_name(v)});
  };
  switch (conversion) {
  case 's': return text_of(on, v);
  case 'r': return repr_of(on, v);
  case 'd':
  case 'i':
  case 'o':
  case 'x':
  case 'X': {
    need(v.is_number(), "a number");
    if (v.is(value_kind::real) && !std::isfinite(v.real)) need(false, "a finite number");
    if (v.is(value_kind::big_integer)) on.spend(1000);
    const auto whole = v.is(value_kind::real) ? integer_from(on.heap(), v.real) : v;
    auto text = integer_text(whole, conversion == 'o'                        ? 8
                                    : conversion == 'x' || conversion == 'X' ? 16
                                                                             : 10);
    if (conversion == 'X')
      for (char& c : text)
        if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
    return text;
  }
  case 'e':
  case 'f':
  case 'g':
    need(v.is_number(), "a number");
    return formatted_real(conversion, v.is_integer() ? to_real(v) : v.real);
  case 'c': {
    if (v.is(value_kind::string) && character_count(v.str()) == 1) return std::string{v.str()};
    need(v.is(value_kind::integer) && v.integer >= 0 && v.integer <= 0x10FFFF &&
             (v.integer < 0xD800 || v.integer > 0xDFFF),
         "one character or its number");
    std::string text;
    append_utf8(text, static_cast<std::uint32_t>(v.integer));
    return text;
  }
  default: raise("`%" + std::string{conversion} + "` is not a conversion");
  }
}

void append_bounded(std::string& out, std::string_view text) {
  if (out.size() + text.size() > longest_text) raise("a text grows beyond 64 MiB");
  out += text;
}

} // namespace

std::string repr_of(evaluator& on, const value& v) {
  std::string out;
  writer{on, out}.put(v);
  return out;
}

std::string text_of(evaluator& on, const value& v) {
  if (!v.is(value_kind::string)) return repr_of(on, v);
  on.spend(v.str().size() / 16);
  return std::string{v.str()};
}

std::string format_percent(evaluator& on, std::string_view format, const value& operands) {
  const std::span<const value> values =
      operands.is(value_kind::tuple) ? operands.tuple->items : std::span{&operands, 1};
  std::size_t used = 0;
  std::string out;
  on.spend(format.size() / 16);
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    if (++i == format.size()) raise("a format ends in `%`; write `%%`");
    if (format[i] == '%') {
      out += '%';
      continue;
    }
    if (used == values.size()) raise("a format needs more values than are given");
    append_bounded(out, converted(on, format[i], values[used++]));
  }
  if (used < values.size()) raise("a format uses fewer values than are given");
  return out;
}

std::string format_braces(evaluator& on, std::string_view format, const call_arguments& arguments) {
  std::string out;
  std::size_t next_automatic = 0;
  bool numbered = false;
  on.spend(format.size() / 16);
  const auto argument = [&](std::string_view field) -> value {
    std::size_t number = 0;
    const auto [end, failed] = std::from_chars(field.data(), field.data() + field.size(), number);
    const bool is_number = failed == std::errc{} && end == field.data() + field.size();
    if (field.empty() || is_number) {
      if (is_number ? next_automatic > 0 : numbered) raise("a format mixes `{}` and `{0}`");
      numbered = is_number;
      if (!is_number) number = next_automatic++;
      if (number >= arguments.positional.size()) raise("a format needs more values than are given");
      return arguments.positional[number];
    }
    for (const auto& n : arguments.named)
      if (n.name == field) return n.item;
    raise("a format names `" + std::string{field} + "`, which is not given");
  };
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if ((c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c) {
      out += c;
      ++i;
    } else if (c == '}') {
      raise("a format has a single `}`; write `}}`");
    } else if (c == '{') {
      const auto close = format.find('}', i);
      if (close == std::string_view::npos) raise("a format has a `{` that is not closed");
      auto field = format.substr(i + 1, close - i - 1);
      bool as_repr = false;
      if (const auto mark = field.find('!'); mark != std::string_view::npos) {
        const auto conversion = field.substr(mark + 1);
        if (conversion != "r" && conversion != "s")
          raise("a format knows only the conversions `!r` and `!s`");
        as_repr = conversion == "r";
        field = field.substr(0, mark);
      }
      if (field.find_first_of(":.[]{,") != std::string_view::npos)
        raise("a format field may hold only a number or a name");
      const auto v = argument(field);
      append_bounded(out, as_repr ? repr_of(on, v) : text_of(on, v));
      i = close;
    } else {
      out += c;
    }
  }
  return out;
}

std::uint64_t search_cost(std::string_view text, std::string_view wanted) noexcept {
  return 1 + text.size() / 16 * (1 + wanted.size() / 16);
}

std::size_t character_count(std::string_view text) noexcept {
  std::size_t count = 0;
  for (const char c : text)
    count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

std::size_t character_offset(std::string_view text, std::size_t index) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) continue;
    if (index-- == 0) return i;
  }
  return text.size();
}

} // namespace gatehouse::policy::starlark
