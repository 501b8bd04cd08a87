#include "policy/glob.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace gatehouse::policy {
namespace {

constexpr std::size_t max_alternatives = 256;

error bad_glob(std::string_view pattern, std::size_t offset, std::string_view what) {
  return {errc::invalid_profile,
          "deny glob `" + std::string{pattern} + "`: " + std::string{what} + " at byte " +
              std::to_string(offset),
          "correct the pattern; until then nothing below it can be granted"};
}

/// Code points; a byte that is not part of valid UTF-8 stands for itself, outside of Unicode.
std::u32string decode(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80             ? 1
                               : (lead & 0xE0) == 0xC0 ? 2
                               : (lead & 0xF0) == 0xE0 ? 3
                               : (lead & 0xF8) == 0xF0 ? 4
                                                       : 0;
    char32_t code = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    bool valid = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      valid = (next & 0xC0) == 0x80;
      code = (code << 6) | (next & 0x3FU);
    }
    out.push_back(valid ? code : 0x110000U + lead);
    i += valid ? length : 1;
  }
  return out;
}

/// Where the class that opens at `open` closes, or nothing: `]` right after `[`, `[!` is a member.
std::optional<std::size_t> class_end(std::string_view pattern, std::size_t open) {
  std::size_t i = open + 1;
  if (i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^')) ++i;
  for (std::size_t first = i; i < pattern.size(); ++i)
    if (pattern[i] == ']' && i != first) return i;
  return std::nullopt;
}

/// Writes out `{a,b}` from the left; `\x` and classes are passed over whole.
result<std::vector<std::string>> expand_braces(std::string_view pattern) {
  std::vector<std::string> done;
  std::vector<std::string> open{std::string{pattern}};
  while (!open.empty()) {
    const std::string text = std::move(open.back());
    open.pop_back();
    std::size_t start = std::string::npos;
    std::size_t depth = 0;
    std::vector<std::size_t> cuts; // the brace, its commas, its end
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (const auto end = text[i] == '[' ? class_end(text, i) : std::nullopt) {
        i = *end;
      } else if (text[i] == '{') {
        if (depth++ == 0) {
          start = i;
          cuts = {i};
        }
      } else if (text[i] == '}' && depth == 0) {
        return bad_glob(pattern, i, "`}` without `{`");
      } else if (text[i] == ',' && depth == 1) {
        cuts.push_back(i);
      } else if (text[i] == '}' && --depth == 0) {
        cuts.push_back(i);
        break;
      }
    }
    if (depth > 0) return bad_glob(pattern, start, "`{` is not closed");
    if (start == std::string::npos) {
      done.push_back(text);
    } else {
      for (std::size_t c = cuts.size() - 1; c > 0; --c)
        open.push_back(text.substr(0, start) +
                       text.substr(cuts[c - 1] + 1, cuts[c] - cuts[c - 1] - 1) +
                       text.substr(cuts.back() + 1));
    }
    if (done.size() + open.size() > max_alternatives)
      return bad_glob(pattern, 0, "more than 256 alternatives in braces");
  }
  return done;
}

std::vector<std::u32string> names_of(std::string_view path) {
  std::vector<std::u32string> names;
  for (auto part : components_of(path))
    names.push_back(decode(part));
  return names;
}

/// Wildcard matching with one point of return: `star(p)` may swallow any number of elements,
/// `one(p, i)` says whether pattern element p matches element i.
template <class Star, class One>
bool match_elements(std::size_t pattern_size, std::size_t size, Star star, One one) {
  std::size_t p = 0;
  std::size_t i = 0;
  std::size_t star_at = pattern_size;
  std::size_t star_from = 0;
  while (i < size) {
    if (p < pattern_size && star(p)) {
      star_at = p++;
      star_from = i;
    } else if (p < pattern_size && one(p, i)) {
      ++p;
      ++i;
    } else if (star_at < pattern_size) {
      p = star_at + 1;
      i = ++star_from;
    } else {
      return false;
    }
  }
  while (p < pattern_size && star(p))
    ++p;
  return p == pattern_size;
}

} // namespace

bool path_glob::component::literal() const {
  return !any_depth && std::all_of(tokens.begin(), tokens.end(), [](const token& t) {
    return t.kind == token::kind_t::character;
  });
}

result<path_glob::alternative> path_glob::compile_alternative(std::string_view pattern) {
  alternative parts;
  std::size_t at = 0;
  while (at < pattern.size()) {
    if (pattern[at] == '/') {
      ++at;
      continue;
    }
    component part;
    for (; at < pattern.size() && pattern[at] != '/'; ++at) {
      token t;
      const char c = pattern[at];
      if (c == '*') {
        t.kind = token::kind_t::star;
      } else if (c == '?') {
        t.kind = token::kind_t::any;
      } else if (const auto end = c == '[' ? class_end(pattern, at) : std::nullopt) {
        t.kind = token::kind_t::set;
        auto body = pattern.substr(at + 1, *end - at - 1);
        if (body.find('/') != std::string_view::npos)
          return bad_glob(pattern, at, "a class cannot contain `/`");
        if (body.starts_with('!') || body.starts_with('^')) {
          t.negated = true;
          body.remove_prefix(1);
        }
        const auto members = decode(body);
        for (std::size_t m = 0; m < members.size(); ++m) {
          const bool range = m + 2 < members.size() && members[m + 1] == U'-';
          const char32_t last = range ? members[m + 2] : members[m];
          if (last < members[m]) return bad_glob(pattern, at, "a class range runs backwards");
          t.ranges.emplace_back(members[m], last);
          if (range) m += 2;
        }
        at = *end;
      } else {
        if (c == '\\' && ++at == pattern.size())
          return bad_glob(pattern, at - 1, "`\\` escapes nothing");
        std::size_t end_of_char = at + 1;
        while (end_of_char < pattern.size() &&
               (static_cast<unsigned char>(pattern[end_of_char]) & 0xC0) == 0x80)
          ++end_of_char;
        for (char32_t code : decode(pattern.substr(at, end_of_char - at))) {
          t.character = code;
          part.tokens.push_back(t);
        }
        at = end_of_char - 1;
        continue;
      }
      part.tokens.push_back(std::move(t));
    }
    part.any_depth = part.tokens.size() == 2 &&
                     std::all_of(part.tokens.begin(), part.tokens.end(),
                                 [](const token& t) { return t.kind == token::kind_t::star; });
    if (part.literal() && part.tokens.size() <= 2 &&
        std::all_of(part.tokens.begin(), part.tokens.end(),
                    [](const token& t) { return t.character == U'.'; }))
      return bad_glob(pattern, at - part.tokens.size(), "`.` and `..` are not allowed");
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return bad_glob(pattern, 0, "names nothing below `/`");
  // `a/**` means what lies below `a`, so that its last step takes at least one name.
  if (parts.back().any_depth) {
    component one;
    one.tokens.push_back({token::kind_t::star, 0, false, {}});
    parts.push_back(std::move(one));
  }
  return parts;
}

result<path_glob> path_glob::compile(std::string_view pattern) {
  if (!pattern.starts_with('/')) return bad_glob(pattern, 0, "not absolute");
  if (const auto nul = pattern.find('\0'); nul != std::string_view::npos)
    return bad_glob(pattern.substr(0, nul), nul, "a NUL byte");
  auto expanded = expand_braces(pattern);
  if (!expanded) return expanded.error();
  path_glob glob;
  for (const auto& text : *expanded) {
    auto one = compile_alternative(text);
    if (!one) return one.error();
    glob.alternatives_.push_back(std::move(*one));
  }
  return glob;
}

bool path_glob::matches_name(const component& pattern, std::u32string_view name) {
  using kind = token::kind_t;
  return match_elements(
      pattern.tokens.size(), name.size(),
      [&](std::size_t p) { return pattern.tokens[p].kind == kind::star; },
      [&](std::size_t p, std::size_t i) {
        const token& t = pattern.tokens[p];
        if (t.kind == kind::any) return true;
        if (t.kind == kind::character) return t.character == name[i];
        const bool member = std::any_of(t.ranges.begin(), t.ranges.end(), [&](const auto& r) {
          return r.first <= name[i] && name[i] <= r.second;
        });
        return member != t.negated;
      });
}

bool path_glob::matches_all(const alternative& pattern, const std::vector<std::u32string>& names) {
  return match_elements(
      pattern.size(), names.size(), [&](std::size_t p) { return pattern[p].any_depth; },
      [&](std::size_t p, std::size_t i) { return matches_name(pattern[p], names[i]); });
}

bool path_glob::matches(std::string_view path) const {
  const auto names = names_of(path);
  return std::any_of(alternatives_.begin(), alternatives_.end(),
                     [&](const alternative& a) { return matches_all(a, names); });
}

bool path_glob::matches_at_or_above(std::string_view path) const {
  auto names = names_of(path);
  for (; !names.empty(); names.pop_back())
    if (std::any_of(alternatives_.begin(), alternatives_.end(),
                    [&](const alternative& a) { return matches_all(a, names); }))
      return true;
  return false;
}

bool path_glob::may_match_below(std::string_view folder) const {
  const auto names = names_of(folder);
  return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const alternative& a) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (i >= a.size()) return false;
      if (a[i].any_depth) return true;
      if (!matches_name(a[i], names[i])) return false;
    }
    return names.size() < a.size();
  });
}

namespace {

void append_utf8(std::string& text, char32_t code) {
  if (code >= 0x110000) { // a raw byte, see decode()
    text += static_cast<char>(code - 0x110000);
  } else if (code < 0x80) {
    text += static_cast<char>(code);
  } else {
    const int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const unsigned lead = extra == 1 ? 0xC0 : extra == 2 ? 0xE0 : 0xF0;
    text += static_cast<char>(lead | (code >> (6 * extra)));
    for (int k = extra - 1; k >= 0; --k)
      text += static_cast<char>(0x80 | ((code >> (6 * k)) & 0x3F));
  }
}

} // namespace

std::vector<std::string> path_glob::literal_folders() const {
  std::vector<std::string> folders;
  for (const auto& a : alternatives_) {
    std::string folder;
    for (std::size_t i = 0; i + 1 < a.size() && a[i].literal(); ++i) {
      folder += '/';
      for (const auto& t : a[i].tokens)
        append_utf8(folder, t.character);
    }
    folders.push_back(folder.empty() ? "/" : std::move(folder));
  }
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

bool path_glob::by_name_only_below(std::string_view folder) const {
  const auto names = names_of(folder);
  return std::all_of(alternatives_.begin(), alternatives_.end(), [&](const alternative& a) {
    if (a.size() < 2 || !a[a.size() - 2].any_depth || a.size() - 2 > names.size()) return false;
    for (std::size_t i = 0; i + 2 < a.size(); ++i)
      if (a[i].any_depth || !matches_name(a[i], names[i])) return false;
    return true;
  });
}

} // namespace gatehouse::policy
