#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>

/// What a program of sed hands to a shell, and the files that it writes.
namespace gatehouse::policy::shell {
namespace {

/// Reads a sed program for what it hands to a shell.
class sed_reader {
public:
  explicit sed_reader(std::string_view program) : text_(program) {}

  std::string commands;               ///< one a line
  std::vector<std::string> written{}; ///< files
  bool runs_input = false;            ///< a line of the input, or a replacement made of it, is run
  bool understood = true;

  void read() {
    for (skip(" \t\n;{}"); understood && at_ < text_.size(); skip(" \t\n;{}")) {
      if (text_[at_] == '#') {
        rest_of_line();
        continue;
      }
      if (address() && take(',')) address();
      skip(" \t!");
      if (at_ < text_.size()) command(text_[at_++]);
    }
  }

private:
  void skip(std::string_view set) {
    while (at_ < text_.size() && set.find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    skip(" \t");
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip(" \t");
    return true;
  }
  std::string_view until(char end) {
    const auto begin = at_;
    bool in_set = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\\') {
        ++at_;
      } else if (c == '[') {
        in_set = true;
      } else if (c == ']') {
        in_set = false;
      } else if (c == end && !in_set) {
        return text_.substr(begin, at_++ - begin);
      }
    }
    // A bracket need not have been a set: the plain end counts then.
    at_ = begin;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == end)
        return text_.substr(begin, at_++ - begin);
    }
    understood = false;
    at_ = text_.size();
    return {};
  }
  std::string_view rest_of_line() {
    const auto end = std::min(text_.find('\n', at_), text_.size());
    const auto rest = text_.substr(at_, end - at_);
    at_ = end;
    return rest;
  }
  void written_file() {
    skip(" \t");
    if (const auto file = rest_of_line(); !file.empty()) written.emplace_back(file);
  }
  bool address() {
    skip(" \t");
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    if (is_digit(c) || c == '$' || c == '+' || c == '~') {
      ++at_;
      while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '~'))
        ++at_;
      return true;
    }
    if (c != '/' && c != '\\') return false;
    at_ += c == '\\' ? 2 : 1;
    if (at_ > text_.size()) return false;
    until(text_[at_ - 1]);
    skip("IM");
    return true;
  }
  void command(char c) {
    switch (c) {
    case '{':
    case '}': return;
    case 'e': {
      const auto rest = rest_of_line();
      const auto begin = rest.find_first_not_of(" \t");
      if (begin == std::string_view::npos || rest[begin] == ';' || rest[begin] == '}')
        runs_input = true;
      else
        commands += std::string(rest.substr(begin)) + "\n";
      return;
    }
    case 's': return substitute();
    case 'y':
      if (at_ < text_.size()) {
        const char end = text_[at_++];
        until(end);
        until(end);
      }
      return;
    case 'a':
    case 'i':
    case 'c':
      while (rest_of_line().ends_with('\\') && at_ < text_.size())
        ++at_;
      return;
    case 'r':
    case 'R': rest_of_line(); return;
    case 'w':
    case 'W': written_file(); return;
    case ':':
    case 'b':
    case 't':
    case 'T':
    case 'v': at_ = std::min(text_.find_first_of("\n;}", at_), text_.size()); return;
    default:
      understood = std::string_view("=dDgGhHlLnNpPqQxzF").find(c) != std::string_view::npos;
      skip(" \t0123456789");
    }
  }
  void substitute() {
    if (at_ >= text_.size()) return;
    const char end = text_[at_++];
    until(end);
    const auto replacement = until(end);
    for (; at_ < text_.size() && (is_name_part(text_[at_])); ++at_) {
      if (text_[at_] == 'w') {
        ++at_;
        return written_file();
      }
      if (text_[at_] != 'e') continue;
      runs_input = true;
      commands += std::string(replacement) + "\n";
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

} // namespace

void analyzer::sed_program(words all, const context& at) {
  std::vector<word> programs;
  bool from_file = false;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::string_view text = all[i].text;
    if (text == "--") continue;
    // -i takes what is attached as a suffix, -l and -f take a value.
    if (text.starts_with("-i")) continue;
    if (text == "-l") {
      ++i;
    } else if (auto file = option_value(all, i, "f", "file")) {
      from_file = true;
      runs_file(text_kind::sed, {&*file, 1}, "sed", at);
    } else if (auto program = option_value(all, i, "e", "expression")) {
      programs.push_back(std::move(*program));
    } else if (!text.starts_with('-')) {
      if (programs.empty() && !from_file) programs.push_back(all[i]);
      break;
    }
  }
  for (const auto& program : programs)
    sed_text(program, at);
}

void analyzer::sed_text(const word& program, const context& at) {
  sed_reader reader{program.text};
  reader.read();
  for (const auto& file : reader.written)
    changes_text(file, at);
  if (reader.runs_input) unreadable("sed runs what it reads");
  if (!reader.understood) unreadable("the program of sed is not understood");
  if (!reader.commands.empty())
    script_word({.text = reader.commands, .known = program.known}, "sed", at);
}

} // namespace gatehouse::policy::shell
