#pragma once

#include "policy/starlark/token.hpp"

#include <string_view>
#include <vector>

namespace gatehouse::policy::starlark {

/// Turns source text into tokens, with indentation as INDENT and DEDENT. Tokens are views into the
/// text. Throws `failure` where the text is not Starlark.
class lexer {
public:
  enum class context : std::uint8_t {
    file,    ///< statements: lines and indentation count
    bracket, ///< inside brackets: they do not
  };
  /// @pre `text` is UTF-8 without NUL; `where` is the position of its first character
  lexer(std::string_view text, position where, context in);

  token next();

private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool ended() const noexcept { return at_ >= text_.size(); }
  position here();
  void take_line_end();
  bool skip_blank_in_line();
  token read_indentation();
  token read_token();
  token read_string(std::size_t prefix);
  token read_number();
  token read_symbol();
  token read_word();
  token made(token_kind kind, std::size_t begin, position where) const;
  [[noreturn]] void refuse_character();

  std::string_view text_;
  std::size_t at_ = 0;
  position counted_; ///< position of byte `counted_at_`
  std::size_t counted_at_ = 0;
  int brackets_ = 0;
  bool line_start_;
  bool ends_with_newline_ = true; ///< the last token ended a line
  int pending_dedents_ = 0;
  std::vector<int> indents_{0};
};

bool is_name_start(char c) noexcept;

} // namespace gatehouse::policy::starlark
