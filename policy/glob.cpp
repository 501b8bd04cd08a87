#include "policy/glob.hpp"

#include "policy/path_text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace gatehouse::policy {
namespace {

constexpr std::string_view special_characters = "*?[{}\\";
constexpr std::size_t max_alternatives = 256;
constexpr std::size_t max_components = 1000;

error bad_glob(std::string_view pattern, std::size_t offset, std::string_view what) {
  return {errc::invalid_profile,
          "deny glob `" + std::string{pattern} + "`: " + std::string{what} + " at byte " +
              std::to_string(offset),
          "correct the pattern; until then nothing below it can be granted"};
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
        for (const std::string_view posix : {"[:", "[.", "[="})
          if (body.find(posix) != std::string_view::npos)
            return bad_glob(pattern, at, "a class cannot contain `" + std::string{posix} + "`");
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
  if (parts.size() > max_components) return bad_glob(pattern, 0, "more than 1000 components");
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
  const auto& tokens = pattern.tokens;
  const auto one = [&](const token& t, char32_t c) {
    if (t.kind == kind::any) return true;
    if (t.kind == kind::character) return t.character == c;
    const bool member = std::any_of(t.ranges.begin(), t.ranges.end(),
                                    [&](const auto& r) { return r.first <= c && c <= r.second; });
    return member != t.negated;
  };
  // One point of return is enough: a later star can always stand in for an earlier one.
  std::size_t p = 0;
  std::size_t i = 0;
  std::size_t star = tokens.size();
  std::size_t star_from = 0;
  while (i < name.size()) {
    if (p < tokens.size() && tokens[p].kind == kind::star) {
      star = p++;
      star_from = i;
    } else if (p < tokens.size() && one(tokens[p], name[i])) {
      ++p;
      ++i;
    } else if (star < tokens.size()) {
      p = star + 1;
      i = ++star_from;
    } else {
      return false;
    }
  }
  while (p < tokens.size() && tokens[p].kind == kind::star)
    ++p;
  return p == tokens.size();
}

void path_glob::add_position(state& s, std::uint32_t alternative_index,
                             std::uint32_t position) const {
  const auto& parts = alternatives_[alternative_index];
  for (;; ++position) {
    const auto code = (alternative_index << 16) | position;
    const auto at = std::lower_bound(s.begin(), s.end(), code);
    if (at == s.end() || *at != code) s.insert(at, code);
    if (position >= parts.size() || !parts[position].any_depth) return;
  }
}

path_glob::state path_glob::start() const {
  state s;
  for (std::uint32_t a = 0; a < alternatives_.size(); ++a)
    add_position(s, a, 0);
  return s;
}

std::u32string path_glob::decode(std::string_view text) {
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

path_glob::state path_glob::step(const state& above, std::string_view name) const {
  return step(above, std::u32string_view{decode(name)});
}

path_glob::state path_glob::step(const state& above, std::u32string_view text) const {
  state next;
  for (const auto code : above) {
    const auto a = code >> 16;
    const auto position = code & 0xFFFFU;
    if (position >= alternatives_[a].size()) continue;
    const auto& part = alternatives_[a][position];
    if (part.any_depth)
      add_position(next, a, position);
    else if (matches_name(part, text))
      add_position(next, a, position + 1);
  }
  return next;
}

bool path_glob::accepts(const state& s) const {
  return std::any_of(s.begin(), s.end(), [&](std::uint32_t code) {
    return (code & 0xFFFFU) == alternatives_[code >> 16].size();
  });
}

bool path_glob::accepts_below(const state& above, std::u32string_view text) const {
  return std::any_of(above.begin(), above.end(), [&](std::uint32_t code) {
    const auto& parts = alternatives_[code >> 16];
    std::size_t next = code & 0xFFFFU;
    if (next >= parts.size()) return false;
    const auto& part = parts[next];
    if (!part.any_depth) ++next;
    const bool is_last = std::all_of(parts.begin() + static_cast<std::ptrdiff_t>(next), parts.end(),
                                     [](const component& one) { return one.any_depth; });
    return is_last && (part.any_depth || matches_name(part, text));
  });
}

bool path_glob::matches(std::string_view path) const {
  state s = start();
  for (auto name : components_of(path))
    s = step(s, name);
  return accepts(s);
}

bool path_glob::matches_at_or_above(std::string_view path) const {
  state s = start();
  for (auto name : components_of(path)) {
    s = step(s, name);
    if (accepts(s)) return true;
  }
  return false;
}

bool path_glob::by_name_only_below(std::string_view folder) const {
  std::vector<std::u32string> names;
  for (auto part : components_of(folder))
    names.push_back(decode(part));
  return std::all_of(alternatives_.begin(), alternatives_.end(), [&](const alternative& a) {
    if (a.size() < 2 || !a[a.size() - 2].any_depth || a.size() - 2 > names.size()) return false;
    for (std::size_t i = 0; i + 2 < a.size(); ++i)
      if (a[i].any_depth || !matches_name(a[i], names[i])) return false;
    return true;
  });
}

std::string escape_glob(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (special_characters.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

split_glob split_literal_folder(std::string_view pattern) {
  while (pattern.size() > 1 && pattern.ends_with('/'))
    pattern.remove_suffix(1);
  const auto wild = std::min(pattern.find_first_of("*?[{\\"), pattern.size());
  const auto slash = pattern.rfind('/', wild == 0 ? 0 : wild - 1);
  auto folder = pattern.substr(0, slash + 1);
  auto rest = pattern.substr(slash + 1);
  // Dots are for compile() to refuse, not to be resolved here.
  if (const auto dots = folder.find("/."); dots != std::string_view::npos)
    for (auto part : components_of(folder.substr(dots)))
      if (part == "." || part == "..") {
        folder = pattern.substr(0, dots + 1);
        rest = pattern.substr(dots + 1);
        break;
      }
  return {lexically_normal(folder), std::string{rest}};
}

} // namespace gatehouse::policy
