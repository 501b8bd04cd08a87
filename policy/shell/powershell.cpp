#include "policy/shell/powershell.hpp"

#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/limits.hpp"
#include "policy/shell/plain_scan.hpp"
#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gatehouse::policy::shell {
namespace {

constexpr std::array<std::string_view, 44> keywords = {
    "begin",    "break",  "catch",    "class",        "clean",        "configuration", "continue",
    "data",     "define", "do",       "dynamicparam", "else",         "elseif",        "end",
    "enum",     "exit",   "filter",   "finally",      "for",          "foreach",       "from",
    "function", "hidden", "if",       "in",           "inlinescript", "parallel",      "param",
    "process",  "return", "sequence", "static",       "switch",       "throw",         "trap",
    "try",      "type",   "until",    "using",        "var",          "while",         "workflow",
    "assembly", "module"};

bool is_one_of(std::string_view text, std::span<const std::string_view> set) {
  return std::find(set.begin(), set.end(), text) != set.end();
}

/// A number that PowerShell prints as it is written.
bool is_canonical_number(std::string_view text) {
  return !text.empty() && text.size() < 10 && std::all_of(text.begin(), text.end(), is_digit) &&
         (text.size() == 1 || text[0] != '0');
}

class lowering {
public:
  explicit lowering(std::string_view script) : script_(script) {}

  powershell_reading read() {
    // Quotes and dashes that PowerShell takes for the ASCII ones.
    for (const std::string_view odd : {"\u2018", "\u2019", "\u201a", "\u201b", "\u201c", "\u201d",
                                       "\u201e", "\u2013", "\u2014", "\u2015"})
      if (script_.find(odd) != std::string_view::npos)
        refuse("it holds typographic quotes or dashes");
    bool after_operator = false;
    while (at_ < script_.size()) {
      const char c = script_[at_];
      if (is_blank(c)) {
        ++at_;
      } else if (c == '\n' || (c == '\r' && script_.substr(at_, 2) == "\r\n")) {
        at_ += c == '\r' ? 2 : 1;
        const bool ended = finish();
        after_operator = after_operator && !ended;
      } else if (c == ';' || c == '|' || c == '&') {
        const bool doubled = script_.substr(at_ + 1, 1) == script_.substr(at_, 1);
        if (c == '&' && !doubled)
          refuse("`&` calls what follows");
        else if (!finish() && c != ';')
          refuse("a command is missing before `" + std::string(doubled ? 2 : 1, c) + "`");
        else if (c == ';' && after_operator)
          refuse("a command is missing before `;`");
        if (c == '&' && !doubled) finish();
        after_operator = c != ';';
        at_ += doubled && c != ';' ? 2 : 1;
      } else if (script_.substr(at_, 2) == "`\n" || script_.substr(at_, 3) == "`\r\n") {
        refuse("a backtick joins lines");
        at_ = script_.find('\n', at_) + 1;
      } else if (c == '#') {
        comment(script_.find('\n', at_), 0);
      } else if (script_.substr(at_, 2) == "<#") {
        const auto end = script_.find("#>", at_);
        if (end == std::string_view::npos) refuse("a comment is not closed");
        comment(end, 2);
      } else if (std::string_view("(){}[]<>,@").find(c) != std::string_view::npos) {
        refuse("`" + std::string(1, c) + "` is not plain");
        if (c != '[' && c != ']' && c != ',' && c != '@') finish();
        ++at_;
      } else {
        token();
        after_operator = false;
      }
    }
    finish();
    if (after_operator || out_.commands.empty()) refuse("a command is missing");
    return std::move(out_);
  }

private:
  void refuse(std::string why) {
    out_.plain = false;
    if (out_.why.empty()) out_.why = std::move(why);
  }

  void comment(std::size_t end, std::size_t closing) {
    const auto text = to_lower_ascii(script_.substr(at_, std::min(end, script_.size()) - at_));
    if (text.find("#requires") != std::string::npos) refuse("`#requires` changes how it runs");
    at_ = end == std::string_view::npos ? script_.size() : end + closing;
  }

  /// Ends the command being read; true when there was one.
  bool finish() {
    if (current_.empty()) return false;
    const auto program = to_lower_ascii(current_.front().text);
    if (is_one_of(program, keywords)) refuse("`" + program + "` is a keyword");
    if (program == "iex" || program == "invoke-expression") {
      refuse("`" + program + "` runs text");
      for (const auto& w : std::span(current_).subspan(1))
        if (depth_ < 4 && w.known && !w.text.starts_with('-')) {
          lowering inner(w.text);
          inner.depth_ = depth_ + 1;
          for (auto& found : inner.read().commands)
            out_.commands.push_back(std::move(found));
        }
    }
    out_.commands.push_back(std::exchange(current_, {}));
    return true;
  }

  void token() {
    word w;
    int quoted = 0;
    bool bare = false;
    bool refused = false;
    const auto begin = at_;
    while (at_ < script_.size()) {
      const char c = script_[at_];
      const char next = at_ + 1 < script_.size() ? script_[at_ + 1] : '\0';
      if (is_blank(c) || std::string_view("\r\n;|&(){}<>,").find(c) != std::string_view::npos ||
          (c == '`' && (next == '\n' || next == '\r')))
        break;
      if (c == '\'') {
        ++quoted;
        single_quoted(w);
      } else if (c == '"') {
        ++quoted;
        double_quoted(w);
      } else {
        bare = true;
        const auto byte = static_cast<unsigned char>(c);
        refused = refused || byte < 0x20 || byte >= 0x7f ||
                  std::string_view("$@[]`").find(c) != std::string_view::npos;
        if (c == '$' || c == '@') w.known = false;
        if (c == '`' && at_ + 1 < script_.size()) ++at_; // the next character as it is
        w.text += script_[at_++];
      }
    }
    if (at_ == begin) {
      refuse("a carriage return is not plain");
      ++at_;
      return;
    }
    const bool is_program = current_.empty();
    const bool mixed = quoted > 1 || (quoted == 1 && (bare || is_program));
    if (refused || mixed || w.text.empty() || (bare && !is_plain_bare(w.text, is_program)))
      refuse("`" + w.text + "` is not a plain word");
    current_.push_back(std::move(w));
  }

  static bool is_plain_bare(std::string_view text, bool is_program) {
    if (is_program)
      return is_name_start(text.front()) || text.front() == '.' || text.front() == '/' ||
             text.front() == '~' || text.front() == '\\';
    if (text.starts_with("--%") || text == "-" || text.starts_with('%')) return false;
    if (text.starts_with('-') && !text.starts_with("--")) {
      const auto rest = text.substr(1);
      if (is_digit(rest.front())) return is_canonical_number(rest) && rest != "0";
      return std::all_of(rest.begin(), rest.end(),
                         [](char c) { return is_name_part(c) || c == '-'; });
    }
    if (is_digit(text.front()) || text.starts_with('+')) return is_canonical_number(text);
    return text.front() != '=' && text.front() != '!';
  }

  void single_quoted(word& w) {
    for (++at_; at_ < script_.size(); ++at_) {
      if (script_[at_] == '\'') {
        if (script_.substr(at_ + 1, 1) != "'") {
          ++at_;
          return;
        }
        ++at_;
      }
      w.text += script_[at_];
    }
    refuse("a single quote is not closed");
  }

  void double_quoted(word& w) {
    for (++at_; at_ < script_.size(); ++at_) {
      const char c = script_[at_];
      if (c == '"') {
        if (script_.substr(at_ + 1, 1) != "\"") {
          ++at_;
          return;
        }
        refuse("a doubled quote inside quotes");
        ++at_;
        w.text += '"';
      } else if (c == '`' && at_ + 1 < script_.size()) {
        constexpr std::string_view names = "0abfnrtv";
        constexpr std::string_view meanings("\0\a\b\f\n\r\t\v", 8);
        const char next = script_[++at_];
        const auto escape = names.find(next);
        if (next == 'e' || next == 'u' || next == '0' || next == '\n' || next == '\r')
          refuse("an escape differs between versions");
        w.text += escape == std::string_view::npos ? next : meanings[escape];
      } else {
        if (c == '$') {
          refuse("`$` inside quotes is only known when it runs");
          w.known = false;
        }
        w.text += c;
      }
    }
    refuse("a double quote is not closed");
  }

  std::string_view script_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<word> current_;
  powershell_reading out_;
};

bool abbreviates(std::string_view given, std::string_view option, std::size_t least) {
  return given.size() >= least && option.starts_with(given);
}

} // namespace

bool is_powershell_name(std::string_view program) {
  const auto slash = program.find_last_of("/\\");
  auto name = to_lower_ascii(slash == std::string_view::npos ? program : program.substr(slash + 1));
  if (name.ends_with(".exe")) name.resize(name.size() - 4);
  return name == "pwsh" || name == "powershell" || name == "pwsh-preview";
}

powershell_call find_powershell_script(std::span<const word> words) {
  powershell_call call;
  call.exact = true;
  const auto inexact = [&](std::string why) {
    call.exact = false;
    if (call.why.empty()) call.why = std::move(why);
  };
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto option = to_lower_ascii(words[i].text);
    if (!words[i].known || option.size() < 2 || (option[0] != '-' && option[0] != '/')) {
      inexact("`" + words[i].text + "` is not an option of PowerShell that is understood");
      continue;
    }
    if (option[0] == '/') inexact("an option starts with `/`");
    option.erase(0, option.starts_with("--") ? 2 : 1);
    if (option == "nologo" || option == "noprofile") continue;
    if (abbreviates(option, "encodedcommand", 1) || option == "ec") {
      inexact("an encoded script cannot be read");
      return call;
    }
    if (abbreviates(option, "command", 1)) {
      if (option != "command" && option != "c") inexact("`-" + option + "` abbreviates an option");
      if (i + 2 != words.size()) inexact("the script is not the last word");
      call.has_script = i + 1 < words.size();
      for (const auto& part : words.subspan(i + 1)) {
        call.script.text += (call.script.text.empty() ? "" : " ") + part.text;
        call.script.known = call.script.known && part.known;
      }
      if (!call.script.known) inexact("the script is only known when it runs");
      return call;
    }
    inexact("`-" + option + "` is not an option that is understood");
    if (abbreviates(option, "executionpolicy", 2) || option == "ep" ||
        abbreviates(option, "workingdirectory", 2) || abbreviates(option, "windowstyle", 1) ||
        abbreviates(option, "outputformat", 1) || abbreviates(option, "inputformat", 3) ||
        abbreviates(option, "configurationname", 3) || abbreviates(option, "version", 1))
      ++i;
    if (abbreviates(option, "file", 1)) return call;
  }
  return call;
}

powershell_reading read_powershell(std::string_view script) {
  return lowering(script).read();
}

/// PowerShell behind another command: it can only make the result stricter.
void analyzer::powershell(words all, const context& at) {
  const auto call = find_powershell_script(all);
  if (!call.exact) unreadable("PowerShell: " + call.why);
  if (!call.has_script || !deeper(at)) return;
  const auto reading = read_powershell(call.script.text);
  if (!reading.plain) unreadable("the PowerShell script is not plain: " + reading.why);
  context inner;
  inner.depth = at.depth + 1;
  inner.origin = segment_origin::powershell;
  inner.outer = &at;
  for (const auto& found : reading.commands)
    command(found, inner);
}

bool analyzer::outer_powershell(std::span<const std::string> argv) {
  if (argv.size() < 3 || !is_powershell_name(argv.front())) return false;
  std::vector<word> all(argv.size());
  for (std::size_t i = 0; i < argv.size(); ++i)
    all[i].text = argv[i];
  const auto call = find_powershell_script(all);
  if (!call.has_script) return false;
  out_.script = call.script.text;
  if (call.script.text.size() > max_script_size) {
    unreadable("the script is larger than 1 MiB");
    return true;
  }
  const auto reading = read_powershell(call.script.text);
  out_.plain = call.exact && reading.plain && is_utf8(call.script.text);
  if (!call.exact) unreadable("PowerShell: " + call.why);
  if (!reading.plain) unreadable("the PowerShell script is not plain: " + reading.why);
  context at;
  at.origin = segment_origin::powershell;
  for (const auto& found : reading.commands)
    command(found, at);
  return true;
}

} // namespace gatehouse::policy::shell
