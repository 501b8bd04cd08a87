#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// A deny glob, compiled (§61, §64). The dialect: `*` and `?` do not cross `/`; `**` as a whole
/// component stands for any number of components (at the end for at least one); `[a-z]`, `[!a-z]`,
/// `[^a-z]`; `{a,b}`, nested too; `\` takes the next character literally; an unclosed `[` is
/// literal; case matters. Anything else that cannot be read (`[[:alpha:]]`) is an error, never a
/// literal.
class path_glob {
public:
  /// `pattern`: absolute. Errors: errc::invalid_profile with the byte offset.
  static result<path_glob> compile(std::string_view pattern);

  /// Does the pattern match `path` itself? `path`: absolute, normal.
  [[nodiscard]] bool matches(std::string_view path) const;
  /// … or a folder above it? What lies below a denied folder is denied.
  [[nodiscard]] bool matches_at_or_above(std::string_view path) const;
  /// True when a match depends on the last name alone, anywhere below `folder` (`…/**/*.env`):
  /// moving such a file within `folder` keeps it matched.
  [[nodiscard]] bool by_name_only_below(std::string_view folder) const;

  /// The same as a POSIX extended regular expression over bytes that matches what
  /// matches_at_or_above() does, and besides what differs from it in the case of ASCII letters
  /// only. A class that names characters beyond ASCII stands for all of those.
  [[nodiscard]] std::string as_regex() const;

  /// Code points; a byte that is not part of valid UTF-8 stands for itself, outside of Unicode.
  static std::u32string decode(std::string_view text);

  /// How far a path has come through the pattern, for walks: folders in the same state have the
  /// same matches below them; nothing can match below a folder whose state is empty.
  using state = std::vector<std::uint32_t>;
  [[nodiscard]] state start() const; ///< the state of `/`
  [[nodiscard]] state step(const state& above, std::string_view name) const;
  [[nodiscard]] state step(const state& above, std::u32string_view decoded_name) const;
  [[nodiscard]] bool accepts(const state& s) const;
  /// accepts(step(above, decoded_name)), without making that state.
  [[nodiscard]] bool accepts_below(const state& above, std::u32string_view decoded_name) const;

private:
  struct token {
    enum class kind_t : std::uint8_t { character, any, star, set } kind = kind_t::character;
    char32_t character = 0;
    bool negated = false;
    std::vector<std::pair<char32_t, char32_t>> ranges;
  };
  struct component {
    bool any_depth = false; ///< `**`
    std::vector<token> tokens;
    [[nodiscard]] bool literal() const;
  };
  using alternative = std::vector<component>;

  static result<alternative> compile_alternative(std::string_view pattern);
  static bool matches_name(const component& pattern, std::u32string_view name);
  void add_position(state& s, std::uint32_t alternative_index, std::uint32_t position) const;

  std::vector<alternative> alternatives_;
};

/// `text` as a pattern that matches exactly it.
std::string escape_glob(std::string_view text);

/// A pattern as the folder that every match lies below and the rest behind its slash. The folder
/// holds no wildcard and no escape: `/w/a/**/*.env` is `/w/a` and `**/*.env`.
struct split_glob {
  std::string folder;
  std::string rest;
};
/// @pre pattern is absolute
split_glob split_literal_folder(std::string_view pattern);

} // namespace gatehouse::policy
