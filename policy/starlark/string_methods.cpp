#include "policy/starlark/arguments.hpp"
#include "policy/starlark/each_item.hpp"
#include "policy/starlark/string_case.hpp"
#include "policy/starlark/string_literal.hpp"
#include "policy/starlark/string_receiver.hpp"

#include <array>
#include <optional>

#include <unictype.h>

namespace gatehouse::policy::starlark {
namespace {

using arguments = const call_arguments&;

constexpr std::string_view ascii_blank = " \t\n\r\v\f";

/// The part of the text that `start` and `end` (characters) leave, and its byte offset.
struct part {
  std::string_view text;
  std::size_t begin;
};
std::optional<part> part_of(const argument_reader& args, std::string_view text) {
  const auto size = static_cast<std::int64_t>(character_count(text));
  const auto place = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const auto raw_start = args.integer_or(1, 0);
  if (raw_start > size) return std::nullopt;
  const auto start = place(raw_start);
  const auto end = place(args.integer_or(2, size));
  if (start > end) return std::nullopt;
  const auto begin = character_offset(text, static_cast<std::size_t>(start));
  const auto stop = character_offset(text, static_cast<std::size_t>(end));
  return part{text.substr(begin, stop - begin), begin};
}

/// Position in characters, or -1.
std::int64_t found_at(evaluator& on, std::string_view name, arguments a, bool last) {
  const argument_reader args{name, a, 3};
  const auto wanted = args.need_string(0);
  on.spend(search_cost(self(a), wanted));
  const auto searched = part_of(args, self(a));
  if (!searched) return -1;
  const auto at = last ? searched->text.rfind(wanted) : searched->text.find(wanted);
  if (at == std::string_view::npos) return -1;
  return static_cast<std::int64_t>(character_count(self(a).substr(0, searched->begin + at)));
}
value find(evaluator& on, arguments a) {
  return of(found_at(on, "find", a, false));
}
value rfind(evaluator& on, arguments a) {
  return of(found_at(on, "rfind", a, true));
}
value require_found(std::int64_t at) {
  if (at < 0) raise("the text to look for is not in the string");
  return of(at);
}
value string_index(evaluator& on, arguments a) {
  return require_found(found_at(on, "index", a, false));
}
value rindex(evaluator& on, arguments a) {
  return require_found(found_at(on, "rindex", a, true));
}

value string_count(evaluator& on, arguments a) {
  const argument_reader args{"count", a, 3};
  const auto wanted = args.need_string(0);
  const auto searched = part_of(args, self(a));
  if (!searched) return of(std::int64_t{0});
  on.spend(search_cost(self(a), wanted));
  if (wanted.empty()) return of(static_cast<std::int64_t>(character_count(searched->text)) + 1);
  std::int64_t count = 0;
  for (auto at = searched->text.find(wanted); at != std::string_view::npos;
       at = searched->text.find(wanted, at + wanted.size()))
    ++count;
  return of(count);
}

value has_edge(std::string_view name, arguments a, bool at_start) {
  const argument_reader args{name, a, 3};
  const auto& wanted = args.need(0);
  const auto searched = part_of(args, self(a));
  const auto has = [&](const value& v) {
    if (!v.is(value_kind::string)) args.refuse(v, "a string or a tuple of strings");
    if (!searched) return false;
    return at_start ? searched->text.starts_with(v.str()) : searched->text.ends_with(v.str());
  };
  if (!wanted.is(value_kind::tuple)) return of(has(wanted));
  return of(std::ranges::any_of(wanted.tuple->items, has));
}
value startswith(evaluator&, arguments a) {
  return has_edge("startswith", a, true);
}
value endswith(evaluator&, arguments a) {
  return has_edge("endswith", a, false);
}

value removeprefix(evaluator& on, arguments a) {
  const argument_reader args{"removeprefix", a, 1};
  const auto edge = args.need_string(0);
  return made(on, self(a).starts_with(edge) ? self(a).substr(edge.size()) : self(a));
}
value removesuffix(evaluator& on, arguments a) {
  const argument_reader args{"removesuffix", a, 1};
  const auto edge = args.need_string(0);
  return made(on,
              self(a).ends_with(edge) ? self(a).substr(0, self(a).size() - edge.size()) : self(a));
}

value stripped(evaluator& on, std::string_view name, arguments a, bool left, bool right) {
  const argument_reader args{name, a, 1};
  const auto* set = args.find(0);
  const bool by_blank = !set || set->is(value_kind::none);
  if (!by_blank && !set->is(value_kind::string)) args.refuse(*set, "a string");
  const auto goes = [&](std::string_view c) {
    return by_blank ? uc_is_space(decoded(c)) : set->str().find(c) != std::string_view::npos;
  };
  auto text = self(a);
  on.spend(search_cost(text, by_blank ? "" : set->str()) + text.size());
  const auto last_character = [&] {
    auto at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
      --at;
    return text.substr(at);
  };
  while (left && !text.empty() && goes(text.substr(0, character_offset(text, 1))))
    text.remove_prefix(character_offset(text, 1));
  while (right && !text.empty() && goes(last_character()))
    text.remove_suffix(last_character().size());
  return made(on, text);
}
value strip(evaluator& on, arguments a) {
  return stripped(on, "strip", a, true, true);
}
value lstrip(evaluator& on, arguments a) {
  return stripped(on, "lstrip", a, true, false);
}
value rstrip(evaluator& on, arguments a) {
  return stripped(on, "rstrip", a, false, true);
}

value replace(evaluator& on, arguments a) {
  const argument_reader args{"replace", a, 3};
  const auto before = args.need_string(0);
  const auto after = args.need_string(1);
  auto left = args.integer_or(2, INT64_MAX);
  if (left < 0) left = INT64_MAX;
  on.spend(search_cost(self(a), before));
  std::string out;
  auto text = self(a);
  const auto put = [&](std::string_view piece) {
    on.spend(1 + piece.size() / 16);
    out += piece;
  };
  if (before.empty()) {
    each_character(text, [&](std::string_view c) {
      if (left-- > 0) put(after);
      put(c);
    });
    if (left > 0) put(after);
    return made(on, out);
  }
  for (; left > 0; --left) {
    const auto at = text.find(before);
    if (at == std::string_view::npos) break;
    put(text.substr(0, at));
    put(after);
    text.remove_prefix(at + before.size());
  }
  put(text);
  return made(on, out);
}

value join(evaluator& on, arguments a) {
  const argument_reader args{"join", a, 1};
  std::string out;
  bool first = true;
  each_item(on, args.need(0), [&](const value& item) {
    if (!item.is(value_kind::string)) args.refuse(item, "strings");
    if (!first) out += self(a);
    out += item.str();
    on.spend((self(a).size() + item.str().size()) / 16);
    first = false;
    return true;
  });
  return made(on, out);
}

value partition_at(evaluator& on, std::string_view name, arguments a, bool last) {
  const argument_reader args{name, a, 1};
  const auto separator = args.need_string(0);
  if (separator.empty()) raise("the separator is empty");
  const auto text = self(a);
  on.spend(search_cost(text, separator));
  const auto at = last ? text.rfind(separator) : text.find(separator);
  std::array<value, 3> parts{};
  if (at == std::string_view::npos) {
    parts.fill(made(on, ""));
    parts[last ? 2 : 0] = a.receiver;
  } else {
    parts = {made(on, text.substr(0, at)), made(on, separator),
             made(on, text.substr(at + separator.size()))};
  }
  return new_tuple(on, parts);
}
value partition(evaluator& on, arguments a) {
  return partition_at(on, "partition", a, false);
}
value rpartition(evaluator& on, arguments a) {
  return partition_at(on, "rpartition", a, true);
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view separator,
                                       std::int64_t most, bool from_end) {
  std::vector<std::string_view> parts;
  while (most-- > 0) {
    const auto at = from_end ? text.rfind(separator) : text.find(separator);
    if (at == std::string_view::npos) break;
    if (from_end) {
      parts.push_back(text.substr(at + separator.size()));
      text = text.substr(0, at);
    } else {
      parts.push_back(text.substr(0, at));
      text.remove_prefix(at + separator.size());
    }
  }
  parts.push_back(text);
  if (from_end) std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string_view> split_at_blank(std::string_view text, std::int64_t most,
                                             bool from_end) {
  std::vector<std::string_view> parts;
  const auto trim = [&] {
    const auto first = text.find_first_not_of(ascii_blank);
    const auto last = text.find_last_not_of(ascii_blank);
    if (first == std::string_view::npos) {
      text = {};
    } else if (from_end) {
      text = text.substr(0, last + 1);
    } else {
      text.remove_prefix(first);
    }
  };
  for (trim(); !text.empty(); trim()) {
    const auto at = from_end ? text.find_last_of(ascii_blank) : text.find_first_of(ascii_blank);
    if (most-- <= 0 || at == std::string_view::npos) {
      parts.push_back(text);
      break;
    }
    parts.push_back(from_end ? text.substr(at + 1) : text.substr(0, at));
    text = from_end ? text.substr(0, at) : text.substr(at);
  }
  if (from_end) std::ranges::reverse(parts);
  return parts;
}

value split_as(evaluator& on, std::string_view name, arguments a, bool from_end) {
  const argument_reader args{name, a, 2, {"maxsplit"}};
  auto most = args.integer_or(1, INT64_MAX, "maxsplit");
  if (most < 0) most = INT64_MAX;
  const auto* separator = args.find(0);
  on.spend(self(a).size() / 4);
  std::vector<std::string_view> parts;
  if (!separator || separator->is(value_kind::none)) {
    parts = split_at_blank(self(a), most, from_end);
  } else {
    if (!separator->is(value_kind::string)) args.refuse(*separator, "a string");
    if (separator->str().empty()) raise("the separator is empty");
    on.spend(search_cost(self(a), separator->str()));
    parts = split_at(self(a), separator->str(), most, from_end);
  }
  const auto list = new_list(on, {});
  for (const auto p : parts)
    list.list->items.push_back(made(on, p));
  return list;
}
value split(evaluator& on, arguments a) {
  return split_as(on, "split", a, false);
}
value rsplit(evaluator& on, arguments a) {
  return split_as(on, "rsplit", a, true);
}

value splitlines(evaluator& on, arguments a) {
  const argument_reader args{"splitlines", a, 1};
  const auto* keep = args.find(0);
  const bool keeps_ends = keep && truth(*keep);
  const auto list = new_list(on, {});
  for (auto text = self(a); !text.empty();) {
    const auto at = text.find_first_of("\r\n");
    auto next = text.size();
    if (at != std::string_view::npos) next = at + (text.substr(at).starts_with("\r\n") ? 2 : 1);
    list.list->items.push_back(made(on, text.substr(0, keeps_ends ? next : at)));
    on.spend(1);
    text.remove_prefix(next);
  }
  return list;
}

value elems(evaluator& on, arguments a) {
  const argument_reader args{"elems", a, 0};
  const auto list = new_list(on, {});
  on.spend(self(a).size());
  each_character(self(a), [&](std::string_view c) { list.list->items.push_back(made(on, c)); });
  return list;
}

value codepoints(evaluator& on, arguments a) {
  const argument_reader args{"codepoints", a, 0};
  const auto list = new_list(on, {});
  on.spend(self(a).size());
  each_character(self(a), [&](std::string_view c) {
    list.list->items.push_back(of(static_cast<std::int64_t>(decoded(c))));
  });
  return list;
}

value format(evaluator& on, arguments a) {
  return made(on, format_braces(on, self(a), a));
}

constexpr std::array methods{
    method{"capitalize", capitalize},
    method{"codepoints", codepoints},
    method{"count", string_count},
    method{"elems", elems},
    method{"endswith", endswith},
    method{"find", find},
    method{"format", format},
    method{"index", string_index},
    method{"isalnum", isalnum},
    method{"isalpha", isalpha},
    method{"isdigit", isdigit},
    method{"islower", islower},
    method{"isspace", isspace},
    method{"istitle", istitle},
    method{"isupper", isupper},
    method{"join", join},
    method{"lower", lower},
    method{"lstrip", lstrip},
    method{"partition", partition},
    method{"removeprefix", removeprefix},
    method{"removesuffix", removesuffix},
    method{"replace", replace},
    method{"rfind", rfind},
    method{"rindex", rindex},
    method{"rpartition", rpartition},
    method{"rsplit", rsplit},
    method{"rstrip", rstrip},
    method{"split", split},
    method{"splitlines", splitlines},
    method{"startswith", startswith},
    method{"strip", strip},
    method{"title", title},
    method{"upper", upper},
};

} // namespace

std::span<const method> string_methods() noexcept {
  return methods;
}

} // namespace gatehouse::policy::starlark
