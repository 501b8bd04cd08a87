#include "sandbox/git_config.hpp"

#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gatehouse::sandbox {
namespace {

constexpr char end_of_line = '\n'; // and of the file

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == end_of_line;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name_part(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

class config_reader {
public:
  explicit config_reader(std::string_view text) : text_{text} {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text_.starts_with(byte_order_mark)) at_ = byte_order_mark.size();
  }

  std::vector<git_setting> read() {
    while (at_ < text_.size()) {
      const char c = next();
      if (is_space(c)) continue;
      const bool understood = c == '#' || c == ';' ? skip_line()
                              : c == '['           ? read_section()
                              : is_letter(c)       ? read_setting(c)
                                                   : false;
      if (!understood) skip_line();
    }
    return std::move(settings_);
  }

private:
  /// The next character, `\r\n` as one.
  char next() {
    if (at_ >= text_.size()) return end_of_line;
    const char c = text_[at_++];
    if (c != '\r' || at_ >= text_.size() || text_[at_] != end_of_line) return c;
    ++at_;
    return end_of_line;
  }

  /// To the end of the line that the character read last is on.
  bool skip_line() {
    if (at_ == 0 || text_[at_ - 1] != end_of_line)
      while (next() != end_of_line) {
      }
    return true;
  }

  bool read_section() {
    section_.clear();
    subsection_.clear();
    bool after_dot = false;
    for (;;) {
      const char c = next();
      if (c == ']') return true;
      if (is_space(c)) return c != end_of_line && read_quoted_subsection();
      if (c == '.' && !after_dot) {
        after_dot = true;
        continue;
      }
      if (!is_name_part(c) && c != '.') return false;
      (after_dot ? subsection_ : section_) += to_lower_ascii(c);
    }
  }

  bool read_quoted_subsection() {
    char c = next();
    while (is_space(c) && c != end_of_line)
      c = next();
    if (c != '"') return false;
    for (c = next(); c != '"'; c = next()) {
      if (c == '\\') c = next();
      if (c == end_of_line) return false;
      subsection_ += c;
    }
    return next() == ']';
  }

  bool read_setting(char first) {
    git_setting read{section_, subsection_, {to_lower_ascii(first)}, {}};
    char c = next();
    for (; is_name_part(c); c = next())
      read.name += to_lower_ascii(c);
    while (c == ' ' || c == '\t')
      c = next();
    if (c != end_of_line && (c != '=' || !read_value(read.value))) return false;
    auto older = read;
    for (const auto at : unquoted_space_)
      if (at < older.value.size()) older.value[at] = ' ';
    unquoted_space_.clear();
    if (older != read) settings_.push_back(std::move(older));
    settings_.push_back(std::move(read));
    return true;
  }

  bool read_value(std::string& value) {
    std::size_t kept = 0; // what white space at the end does not count for
    bool quoted = false;
    unquoted_space_.clear();
    for (;;) {
      char c = next();
      if (c == end_of_line) break;
      if (is_space(c) && !quoted) {
        if (value.empty()) continue;
        unquoted_space_.push_back(value.size());
        value += c;
        continue;
      }
      if (!quoted && (c == ';' || c == '#')) {
        skip_line();
        break;
      }
      if (c == '"') {
        quoted = !quoted;
      } else if (c == '\\') {
        c = next();
        if (c == 't' || c == 'n' || c == 'b')
          value += c == 't' ? '\t' : c == 'n' ? '\n' : '\b';
        else if (c == '\\' || c == '"')
          value += c;
        else if (c != end_of_line)
          return false;
      } else {
        value += c;
      }
      kept = value.size();
    }
    value.resize(kept);
    // As git's own strings do.
    value.resize(std::min(value.find('\0'), value.size()));
    return !quoted;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string section_;
  std::string subsection_;
  std::vector<std::size_t> unquoted_space_; ///< of the value read last; older versions make blanks
  std::vector<git_setting> settings_;
};

} // namespace

std::vector<git_setting> read_git_config(std::string_view text) {
  return config_reader{text}.read();
}

} // namespace gatehouse::sandbox
