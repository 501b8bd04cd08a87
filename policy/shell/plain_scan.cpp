#include "policy/shell/plain_scan.hpp"

#include "policy/shell/characters.hpp"
#include "policy/shell/limits.hpp"

#include <array>

namespace gatehouse::policy::shell {
namespace {

/// Words that bash, zsh or a POSIX shell read as syntax where a command may start.
constexpr std::array<std::string_view, 28> reserved_words = {
    "!",        "[[",     "]]",     "case",      "coproc", "do",      "done",
    "elif",     "else",   "end",    "esac",      "fi",     "for",     "foreach",
    "function", "if",     "in",     "select",    "then",   "time",    "until",
    "while",    "repeat", "always", "nocorrect", "noglob", "typeset", "declare"};

/// A bare character that bash takes as it is, whatever stands around it.
constexpr bool is_plain_character(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x80) return true;
  if (byte <= 0x20 || byte == 0x7f) return false;
  return std::string_view("{}*?[]\\~^#$`'\"|&;()<>").find(c) == std::string_view::npos;
}

constexpr bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7f;
}

class scanner {
public:
  explicit scanner(std::string_view script) : script_(script) { out_.text.reserve(script.size()); }

  std::optional<plain_script> scan() {
    bool command_expected = true; // nothing since the last separator
    bool must_follow = false;     // … which was `&&`, `||` or `|`
    while (skip_blanks(), at_ < script_.size()) {
      const char c = script_[at_];
      if (c == '\n') {
        command_expected = true;
        take(1);
      } else if (c == ';' || c == '|' || c == '&') {
        const bool doubled = script_.substr(at_ + 1, 1) == script_.substr(at_, 1);
        if (command_expected || (c == '&' && !doubled) || (c == ';' && doubled))
          return std::nullopt;
        command_expected = true;
        must_follow = c != ';';
        take(doubled ? 2 : 1);
      } else {
        if (command_expected && out_.commands.size() == max_segments) return std::nullopt;
        if (command_expected) out_.commands.emplace_back();
        if (!word(command_expected)) return std::nullopt;
        command_expected = must_follow = false;
      }
    }
    if (must_follow || out_.commands.empty()) return std::nullopt;
    return std::move(out_);
  }

private:
  void take(std::size_t count) {
    out_.text += script_.substr(at_, count);
    at_ += count;
  }

  bool skip_continuation() {
    if (script_.substr(at_, 2) != "\\\n") return false;
    at_ += 2;
    return true;
  }

  void skip_blanks() {
    while (at_ < script_.size() && (skip_continuation() || is_blank(script_[at_])))
      if (at_ < script_.size() && is_blank(script_[at_])) take(1);
  }

  bool word(bool is_program) {
    std::string text;
    int pieces = 0;
    bool in_bare = false;
    while (at_ < script_.size()) {
      const char c = script_[at_];
      if (skip_continuation()) continue;
      if (c == '\'' || c == '"') {
        const auto end = script_.find(c, at_ + 1);
        if (is_program || end == std::string_view::npos) return false;
        const auto inside = script_.substr(at_ + 1, end - at_ - 1);
        if (!is_plain_quoted(inside, c)) return false;
        text += inside;
        take(end + 1 - at_);
        ++pieces;
        in_bare = false;
      } else if (is_plain_character(c)) {
        if (c == '=' && pieces == 0) // zsh: the path of a program
          return false;
        pieces += in_bare ? 0 : 1;
        in_bare = true;
        text += c;
        take(1);
      } else if (is_blank(c) || c == '\n' || c == ';' || c == '|' || c == '&') {
        break;
      } else {
        return false;
      }
    }
    if (is_program && !is_plain_program(text)) return false;
    if (text.empty() && pieces != 1) return false;
    out_.commands.back().push_back(std::move(text));
    return true;
  }

  static bool is_plain_quoted(std::string_view inside, char quote) {
    for (std::size_t i = 0; i < inside.size(); ++i) {
      const char c = inside[i];
      if (is_control(c)) return false;
      if (quote == '\'') continue;
      if (c == '$' || c == '`') return false;
      // A backslash before the closing quote would escape it: `inside` ends there.
      if (c == '\\' && (i + 1 == inside.size() ||
                        std::string_view("$`\"\\\n").find(inside[i + 1]) != std::string_view::npos))
        return false;
    }
    return true;
  }

  static bool is_plain_program(std::string_view text) {
    if (text.empty() || !assigned_name(text).empty()) return false;
    if (std::all_of(text.begin(), text.end(), is_digit)) return false;
    return std::find(reserved_words.begin(), reserved_words.end(), text) == reserved_words.end();
  }

  std::string_view script_;
  std::size_t at_ = 0;
  plain_script out_;
};

} // namespace

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() - i < length) return false;
    const auto second = static_cast<unsigned char>(text[i + 1]);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
        (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F))
      return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    i += length;
  }
  return true;
}

std::optional<plain_script> scan_plain(std::string_view script) {
  return scanner(script).scan();
}

} // namespace gatehouse::policy::shell
