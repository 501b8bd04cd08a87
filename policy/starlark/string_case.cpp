#include "policy/starlark/string_case.hpp"

#include "policy/starlark/string_receiver.hpp"

#include <cstdlib>
#include <memory>
#include <string>

#include <unicase.h>
#include <unictype.h>

namespace gatehouse::policy::starlark {
namespace {

using arguments = const call_arguments&;

using case_mapping = std::uint8_t* (*)(const std::uint8_t*, std::size_t, const char*, uninorm_t,
                                       std::uint8_t*, std::size_t*);

std::string mapped(std::string_view text, case_mapping mapping) {
  std::size_t size = 0;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> result{
      mapping(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), "", nullptr, nullptr,
              &size),
      &std::free};
  if (!result) return std::string{text};
  return {reinterpret_cast<const char*>(result.get()), size};
}

/// True when there is a character and every one is as `test` says.
template <class Test>
value all_characters(evaluator& on, std::string_view name, arguments a, Test test) {
  const argument_reader args{name, a, 0};
  on.spend(self(a).size());
  bool all = !self(a).empty();
  each_character(self(a), [&](std::string_view c) { all = all && test(decoded(c)); });
  return of(all);
}

/// Some letter has a case, and none has the other one.
value has_only_case(evaluator& on, std::string_view name, arguments a, bool upper_case) {
  const argument_reader args{name, a, 0};
  on.spend(self(a).size());
  bool some = false;
  bool wrong = false;
  each_character(self(a), [&](std::string_view c) {
    const bool is_upper = uc_is_upper(decoded(c));
    const bool is_lower = uc_is_lower(decoded(c));
    some = some || (upper_case ? is_upper : is_lower);
    wrong = wrong || (upper_case ? is_lower : is_upper);
  });
  return of(some && !wrong);
}
} // namespace

value lower(evaluator& on, arguments a) {
  const argument_reader args{"lower", a, 0};
  on.spend(self(a).size());
  return made(on, mapped(self(a), u8_tolower));
}
value upper(evaluator& on, arguments a) {
  const argument_reader args{"upper", a, 0};
  on.spend(self(a).size());
  return made(on, mapped(self(a), u8_toupper));
}

value capitalize(evaluator& on, arguments a) {
  const argument_reader args{"capitalize", a, 0};
  on.spend(self(a).size());
  const auto first = character_offset(self(a), 1);
  return made(on, mapped(self(a).substr(0, first), u8_toupper) +
                      mapped(self(a).substr(first), u8_tolower));
}

value title(evaluator& on, arguments a) {
  const argument_reader args{"title", a, 0};
  std::string out;
  bool in_word = false;
  on.spend(self(a).size() * 4);
  each_character(self(a), [&](std::string_view c) {
    out += mapped(c, in_word ? u8_tolower : u8_toupper);
    in_word = uc_is_alpha(decoded(c));
  });
  return made(on, out);
}

value isalnum(evaluator& on, arguments a) {
  return all_characters(on, "isalnum", a, [](ucs4_t c) { return uc_is_alnum(c); });
}
value isalpha(evaluator& on, arguments a) {
  return all_characters(on, "isalpha", a, [](ucs4_t c) { return uc_is_alpha(c); });
}
value isdigit(evaluator& on, arguments a) {
  return all_characters(on, "isdigit", a, [](ucs4_t c) { return uc_is_digit(c); });
}
value isspace(evaluator& on, arguments a) {
  return all_characters(on, "isspace", a, [](ucs4_t c) { return uc_is_space(c); });
}

value islower(evaluator& on, arguments a) {
  return has_only_case(on, "islower", a, false);
}
value isupper(evaluator& on, arguments a) {
  return has_only_case(on, "isupper", a, true);
}

value istitle(evaluator& on, arguments a) {
  const argument_reader args{"istitle", a, 0};
  on.spend(self(a).size());
  bool some = false;
  bool good = true;
  bool in_word = false;
  each_character(self(a), [&](std::string_view c) {
    const auto code = decoded(c);
    if (uc_is_upper(code)) good = good && !in_word;
    if (uc_is_lower(code)) good = good && in_word;
    in_word = uc_is_alpha(code);
    some = some || in_word;
  });
  return of(some && good);
}

} // namespace gatehouse::policy::starlark
