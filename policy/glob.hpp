#pragma once

#include "protocol/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// A deny glob, compiled (§61, §64). The dialect: `*` and `?` do not cross `/`; `**` as a whole
/// component stands for any number of components (at the end for at least one); `[a-z]`, `[!a-z]`,
/// `[^a-z]`; `{a,b}`, nested too; `\` takes the next character literally; an unclosed `[` is
/// literal; case matters. Anything else that cannot be read is an error, never a literal.
class path_glob {
public:
  /// `pattern`: absolute. Errors: errc::invalid_profile with the byte offset.
  static result<path_glob> compile(std::string_view pattern);

  /// Does the pattern match `path` itself? `path`: absolute, normal.
  [[nodiscard]] bool matches(std::string_view path) const;
  /// … or a folder above it? What lies below a denied folder is denied.
  [[nodiscard]] bool matches_at_or_above(std::string_view path) const;
  /// Can anything below `folder` match? Used to prune walks.
  [[nodiscard]] bool may_match_below(std::string_view folder) const;
  /// The folders below which every match lies, one for each alternative, without wildcards.
  [[nodiscard]] std::vector<std::string> literal_folders() const;
  /// True when a match depends on the last name alone, anywhere below `folder` (`…/**/*.env`):
  /// moving such a file within `folder` keeps it matched.
  [[nodiscard]] bool by_name_only_below(std::string_view folder) const;

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
  static bool matches_all(const alternative& pattern, const std::vector<std::u32string>& names);

  std::vector<alternative> alternatives_;
};

} // namespace gatehouse::policy
