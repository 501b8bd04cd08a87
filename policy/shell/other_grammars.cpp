#include "policy/shell/other_grammars.hpp"

#include "policy/shell/characters.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace gatehouse::policy::shell {
namespace {

/// Words that run other words or change what words mean, in zsh alone.
constexpr std::array<std::string_view, 29> zsh_words = {
    "-",           "aliases",       "always",  "autoload", "bindkey", "commands",
    "dis_aliases", "dis_functions", "emulate", "end",      "foreach", "functions",
    "galiases",    "nocorrect",     "noglob",  "options",  "print",   "repeat",
    "saliases",    "sched",         "select",  "vared",    "zargs",   "zcompile",
    "zle",         "zmodload",      "zmv",     "zpty",     "zstyle"};

/// Words of fish, csh and others that are no programs: behind them something else runs.
constexpr std::array<std::string_view, 40> foreign_words = {
    "-",     "@",        "abbr",  "and",      "begin",        "bind",         "case",
    "def",   "do",       "each",  "else",     "emit",         "end",          "endif",
    "endsw", "fn",       "for",   "foreach",  "function",     "functions",    "goto",
    "if",    "import",   "let",   "loop",     "match",        "not",          "onintr",
    "or",    "par-each", "peach", "repeat",   "run-external", "run-parallel", "switch",
    "try",   "use",      "while", "with-env", "sched"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// After these words a command may start.
bool opens_command(std::string_view word) {
  constexpr std::array<std::string_view, 11> openers = {
      "then", "do", "else", "elif", "if", "{", "time", "until", "!", "}", "while"};
  return std::find(openers.begin(), openers.end(), word) != openers.end();
}

/// Goes over a script that bash would read without an error, and stops at what zsh may read in
/// another way: generous with complaints, never with trust.
class zsh_scan {
public:
  explicit zsh_scan(std::string_view text) : text_(text) {}

  /// The text at which zsh and bash may part; empty: nowhere.
  std::string_view find() {
    while (at_ < text_.size() && found_.empty())
      step();
    return found_;
  }

private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void stop() { found_ = text_.substr(at_, 12); }

  void step() {
    const char c = peek();
    if (c == '\\') {
      word_ += "\\";
      at_ += 2;
      in_word_ = true;
    } else if (c == '$') {
      dollar();
    } else if (in_quotes_) {
      if (c == '"') in_quotes_ = false;
      ++at_;
    } else if (c == '\'') {
      const auto end = text_.find('\'', at_ + 1);
      if (end == std::string_view::npos) return stop();
      at_ = end + 1;
      in_word_ = true;
      word_ += "'";
    } else if (c == '"') {
      in_quotes_ = in_word_ = true;
      word_ += "'";
      ++at_;
    } else if (is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '`') {
      separator(c);
    } else if (c == '(') {
      group();
    } else if (c == ')') {
      end_word();
      if (parentheses_ == 0) return stop();
      --parentheses_;
      expects_command_ = false;
      ++at_;
    } else if (c == '<' || c == '>') {
      redirection();
    } else {
      character(c);
    }
  }

  void character(char c) {
    if (!in_word_ && c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    const bool lone = is_blank(peek(1)) || peek(1) == '\n' || peek(1) == '\0';
    if (!in_word_ && c == '=' && !lone) return stop(); // the path of a program
    if (!in_word_ && c == '{' && !lone && expects_command_) return stop();
    in_word_ = true;
    word_ += c;
    ++at_;
  }

  void separator(char c) {
    end_word();
    if (!found_.empty()) return;
    if ((c == '&' || c == '|') && (peek(1) == '!' || (c == '&' && peek(1) == '|'))) return stop();
    if (!is_blank(c)) expects_command_ = true;
    ++at_;
    if (c == '\n') skip_documents();
  }

  void end_word() {
    if (!in_word_) return;
    const std::string_view whole = word_;
    if (expects_command_) {
      const auto name = whole.substr(0, whole.find_first_of("[=+"));
      if (holds(zsh_words, name) || holds(zsh_words, whole)) return stop();
      expects_command_ = opens_command(whole) || !assigned_name(whole).empty();
    } else if (whole == "do" || whole == "then") {
      expects_command_ = true;
    }
    word_.clear();
    in_word_ = false;
  }

  /// A subshell; not the qualifiers of a glob, an anonymous function or an array.
  void group() {
    const auto inside = text_.find_first_not_of(" \t\n", at_ + 1);
    if (in_word_ || !expects_command_ || inside == std::string_view::npos || text_[inside] == ')' ||
        text_[inside] == '(' || text_[inside] == '#')
      return stop();
    ++parentheses_;
    ++at_;
  }

  void dollar() {
    in_word_ = true;
    word_ += "$";
    const char next = peek(1);
    if (next == '(') {
      if (in_quotes_ || peek(2) == '(') return quoted_substitution();
      ++parentheses_;
      word_.clear();
      in_word_ = false;
      expects_command_ = true;
      at_ += 2;
    } else if (next == '{') {
      parameter();
    } else if (next == '\'' && !in_quotes_) {
      for (at_ += 2; at_ < text_.size() && peek() != '\''; ++at_)
        if (peek() == '\\') ++at_;
      ++at_;
    } else if (is_name_start(next)) {
      for (++at_; is_name_part(peek()); ++at_) {
      }
      if (peek() == '[') stop();
    } else if (next != '\0' &&
               std::string_view("0123456789@*#?-$!").find(next) != std::string_view::npos) {
      at_ += 2;
    } else if (in_quotes_ || next == '\0' || is_word_end(next)) {
      ++at_;
    } else {
      stop(); // `$=x`, `$~x`, `$^x`
    }
  }

  /// Arithmetic, or a substitution in double quotes: only where nothing in it is special.
  void quoted_substitution() {
    int open = 0;
    for (auto i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == '(') ++open;
      if (text_[i] == ')' && --open == 0) {
        const bool arithmetic = peek(2) == '(';
        const auto inside = text_.substr(at_ + 2, i - at_ - 2);
        const auto special =
            arithmetic ? std::string_view("[`\"'\\{#") : std::string_view("({\"\\#=`~^");
        if (inside.find_first_of(special) != std::string_view::npos) return stop();
        if (arithmetic ? inside.find("$(") != std::string_view::npos
                       : !zsh_scan(inside).find().empty())
          return stop();
        at_ = i + 1;
        return;
      }
    }
    stop();
  }

  /// `${NAME}`, `${NAME:-plain}`, `${NAME%plain}`: no flags, no nesting, no subscripts.
  void parameter() {
    const auto end = text_.find('}', at_);
    if (end == std::string_view::npos) return stop();
    auto inside = text_.substr(at_ + 2, end - at_ - 2);
    if (inside.starts_with('#')) inside.remove_prefix(1);
    const auto name = std::find_if_not(inside.begin(), inside.end(), is_name_part) - inside.begin();
    if (name == 0 && inside != "@" && inside != "*") return stop();
    const auto rest = inside.substr(static_cast<std::size_t>(name));
    if (rest.find_first_of("${([`\\\"'=~^") != std::string_view::npos &&
        !(rest.starts_with(":=") || rest.starts_with("=")))
      return stop();
    if (rest.find_first_of("${([`\\\"'~^") != std::string_view::npos) return stop();
    at_ = end + 1;
  }

  void redirection() {
    const bool numbered = std::all_of(word_.begin(), word_.end(), is_digit);
    if (numbered) {
      word_.clear();
      in_word_ = false;
    }
    end_word();
    if (!found_.empty()) return;
    if (text_.substr(at_, 2) == "<<" && peek(2) != '<') return document();
    const char c = peek();
    for (; peek() == c; ++at_) {
    }
    if (peek() == '&' || peek() == '|') ++at_;
    if (peek() == '!' || peek() == '(') stop();
  }

  void document() {
    at_ += peek(2) == '-' ? 3 : 2;
    while (is_blank(peek()))
      ++at_;
    std::string delimiter;
    for (; at_ < text_.size() && !is_word_end(peek()); ++at_)
      if (std::string_view("'\"\\").find(peek()) == std::string_view::npos) delimiter += peek();
    delimiters_.push_back(std::move(delimiter));
  }

  void skip_documents() {
    for (const auto& delimiter : delimiters_) {
      while (at_ < text_.size()) {
        const auto end = std::min(text_.find('\n', at_), text_.size());
        auto line = text_.substr(at_, end - at_);
        at_ = std::min(end + 1, text_.size());
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
        if (line == delimiter) break;
      }
    }
    delimiters_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view found_;
  std::string word_; ///< the bare text of the word so far; `'` stands for what is quoted
  bool in_word_ = false;
  bool in_quotes_ = false;
  bool expects_command_ = true;
  int parentheses_ = 0;
  std::vector<std::string> delimiters_;
};

/// The first word of every command of a plain script, or the one that `list` holds.
template <std::size_t N>
std::string_view listed_word(std::string_view script, const std::array<std::string_view, N>& list) {
  bool expects_command = true;
  for (std::size_t at = 0; at < script.size();) {
    const char c = script[at];
    if (c == '\'' || c == '"') {
      at = std::min(script.find(c, at + 1), script.size() - 1) + 1;
      expects_command = false;
    } else if (is_blank(c) || is_word_end(c)) {
      expects_command = expects_command || !is_blank(c);
      ++at;
    } else {
      const auto end = std::min(script.find_first_of(" \t\n;|&'\"", at), script.size());
      const auto word = script.substr(at, end - at);
      if (expects_command && holds(list, word)) return word;
      expects_command = false;
      at = end;
    }
  }
  return {};
}

} // namespace

shell_grammar grammar_of(std::string_view name) noexcept {
  if (name == "zsh") return shell_grammar::zsh;
  constexpr std::array<std::string_view, 8> foreign = {"csh", "elvish", "es",   "fish",
                                                       "nu",  "rc",     "tcsh", "xonsh"};
  return std::find(foreign.begin(), foreign.end(), name) == foreign.end() ? shell_grammar::posix
                                                                          : shell_grammar::foreign;
}

std::string unread_grammar(shell_grammar grammar, std::string_view script, bool plain,
                           std::string_view error) {
  if (grammar == shell_grammar::posix) return {};
  if (grammar == shell_grammar::foreign) {
    if (!plain || script.find('\\') != std::string_view::npos)
      return "the script is for a shell whose grammar is not read here";
    const auto word = listed_word(script, foreign_words);
    return word.empty() ? std::string{}
                        : "what runs behind `" + std::string(word) + "` is not read in this shell";
  }
  if (plain) {
    const auto word = listed_word(script, zsh_words);
    return word.empty() ? std::string{} : "what zsh's `" + std::string(word) + "` does is not read";
  }
  if (!error.empty()) return "zsh may read this script in another way: " + std::string(error);
  const auto found = zsh_scan(script).find();
  if (found.empty()) return {};
  return "zsh may read this script in another way, at `" +
         std::string(found.substr(0, found.find('\n'))) + "`";
}

} // namespace gatehouse::policy::shell
