#pragma once

#include "policy/shell/script.hpp"

#include <optional>

namespace gatehouse::policy::shell {

/// Stands among the values of a variable for one that is too long to be kept.
inline constexpr std::string_view long_value = "${_}${_}";

/// A part of a word before brace expansion.
struct word_piece {
  enum class kind { bare, quoted, unknown };
  kind type = kind::bare;
  std::string text;                ///< bare and quoted
  bool in_quotes = false;          ///< unknown: no word splitting
  std::vector<std::string> values; ///< unknown: values it may have
  bool has_braces = false; ///< unknown: braces inside it, which brace expansion sees as well
};

struct raw_word {
  std::vector<word_piece> pieces;
  bool is_process = false;
  command_range process{};
  /// Pieces before this one are `NAME=`, `NAME+=` or `NAME[…]=`; `assigned` is the name.
  std::size_t value_begin = 0;
  std::string assigned;

  void add_bare(std::string_view text) { add(word_piece::kind::bare, text); }
  void add_quoted(std::string_view text) { add(word_piece::kind::quoted, text); }

private:
  void add(word_piece::kind type, std::string_view text);
};

/// True when `text` holds `NAME[…$(…)…]` or the same with a backtick: what bash runs where it takes
/// the text for arithmetic or for the name of a variable.
bool has_running_subscript(std::string_view text) noexcept;

/// Makes the words of a call positional parameters, from `first` on.
void note_positions(variable_values& variables, const std::vector<word>& words, std::size_t first);

/// The words that `raw` may become: one entry per reading.
std::vector<std::vector<word>> expand_word(const raw_word& raw);

/// The text of `pieces` without brace expansion or splitting (assignment values, redirections).
word join_pieces(const std::vector<word_piece>& pieces);

/// The beginning of `source`, on one line, for messages.
std::string shortened(std::string_view source);

/// Recursive descent over one text. After an error every function returns at once (`at_` is at the
/// end); commands found before it stay.
class script_reader {
public:
  script_reader(std::string_view text, script_reading& out, variable_values& variables,
                int depth) noexcept
      : text_(text), out_(out), variables_(variables), depth_(depth) {}

  void read_program();
  raw_word read_document(); ///< the whole text is the body of an expanding here-document
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] std::size_t resume_at() const noexcept { return resume_at_; }

private:
  // read_commands.cpp: the grammar
  void list();
  void and_or();
  void pipeline();
  void pipeline_prefixes(bool after_pipe);
  void command();
  void if_command();
  void for_command();
  void case_command();
  void function_command();
  void coproc_command(std::size_t after);
  void conditional();
  void function_body(std::string name);
  void expect_reserved(std::string_view reserved);
  void compound_end(std::size_t first);

  // read_simple_command.cpp
  void simple_command();
  void add_word(std::size_t index, const raw_word& raw);
  void add_assignment(std::size_t index, const raw_word& raw);
  void note_value(const raw_word& raw);
  void store_value(const std::string& name, const word& value);
  void note_words(const found_command& command);
  void note_subscript(const std::string& text);

  // read_redirections.cpp
  bool at_redirection() const noexcept;
  void redirection(found_command& into, std::size_t first, std::size_t last);
  std::string document_delimiter(bool& quoted);
  void document_bodies();
  struct pending_document {
    std::string delimiter;
    bool quoted = false;
    bool strip_tabs = false;
    std::size_t first = 0; ///< commands that read it
    std::size_t last = 0;
    int id = 0;
  };

  // read_words.cpp: words and quotes
  raw_word read_word(bool assignable);
  void element(raw_word& into, bool quotes_are_plain);
  void continuation(const raw_word& word_so_far, bool in_quotes);
  void double_quoted(raw_word& into);
  void ansi_quoted(raw_word& into);
  void subscript(raw_word& into);
  void array_value(raw_word& into);
  void parenthesised_pattern(raw_word& into);

  // read_expansions.cpp
  void dollar(raw_word& into, bool in_quotes);
  void braced_parameter(raw_word& into, bool in_quotes);
  void inner_list(const std::string& opening, const std::string& name);
  void command_substitution(raw_word& into, bool in_quotes);
  void backticks(raw_word& into, bool in_quotes);
  void process_substitution(raw_word& into);
  void arithmetic(std::size_t end); ///< `end`: where `))` is expected
  std::optional<std::size_t> arithmetic_end(std::size_t from) const noexcept;
  void unknown(raw_word& into, bool in_quotes, std::vector<std::string> values = {});
  void substituted(raw_word& into, bool in_quotes, std::size_t first);
  std::vector<std::string> values_of(std::string_view name) const;

  [[nodiscard]] bool is_posix() const noexcept { return out_.read_as == dialect::posix; }
  [[nodiscard]] bool starts_compound(std::string_view reserved) const noexcept;

  // characters
  [[nodiscard]] bool done() const noexcept { return at_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool looking_at(std::string_view expected) const noexcept {
    return text_.substr(at_, expected.size()) == expected;
  }
  [[nodiscard]] bool at_word() const noexcept; ///< a word, or a process substitution
  void skip_blanks();
  void newline();
  void skip_newlines();
  std::string_view reserved_word(std::size_t& end);
  void fail(std::string_view what);
  void unreadable(std::string why);
  bool enter();

  std::string_view text_;
  std::size_t at_ = 0;
  script_reading& out_;
  variable_values& variables_;
  int depth_;
  std::vector<pending_document> documents_;
  std::string reserved_buffer_;
  std::string error_;
  std::size_t resume_at_ = 0;
  int next_document_ = 1;
};

} // namespace gatehouse::policy::shell
