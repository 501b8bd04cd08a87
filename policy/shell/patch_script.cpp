#include "policy/shell/patch_script.hpp"

#include "policy/shell/characters.hpp"
#include "policy/shell/segments.hpp"
#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gatehouse::policy {
namespace {

constexpr std::array<std::string_view, 3> tool_names{"apply_patch", "applypatch", "apply-patch"};
constexpr std::string_view begin_marker = "*** Begin Patch";

constexpr std::string_view right_form =
    "write the whole command as\n    apply_patch <<'EOF'\n    *** Begin Patch\n    *** Add File: "
    "path/to/file\n    +first line\n    *** End Patch\n    EOF\nor as `cd FOLDER && apply_patch "
    "<<'EOF' …`, with nothing before, behind or around it";

bool mentions_tool(std::string_view text) {
  return std::any_of(tool_names.begin(), tool_names.end(), [&](std::string_view name) {
    return text.find(name) != std::string_view::npos;
  });
}

bool is_bare_patch(std::string_view text) {
  return trimmed(text).starts_with(begin_marker);
}

/// Reads one script by hand. What it does not know is no patch: every step may fail.
class script_scanner {
public:
  explicit script_scanner(std::string_view script) : rest_{script} {}

  std::optional<patch_words> read() {
    patch_words words;
    skip(" \t\r\n");
    while (skip_assignment()) {
    }
    if (take_bare("cd")) {
      auto folder = take_word();
      if (!folder || folder->empty() || folder->starts_with('-') || !take_and()) return {};
      words.folder = *std::move(folder);
      while (skip_assignment()) {
      }
    }
    if (std::none_of(tool_names.begin(), tool_names.end(),
                     [this](std::string_view name) { return take_bare(name); }))
      return {};
    auto text = rest_.starts_with("<<") ? take_document() : take_word();
    skip(" \t\r\n");
    if (!text || !rest_.empty()) return {};
    words.text = *std::move(text);
    return words;
  }

private:
  void skip(std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  }

  /// Exactly `word`, and the blanks behind it.
  bool take_bare(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    const auto behind = rest_.substr(word.size());
    if (!behind.empty() && !shell::is_word_end(behind.front())) return false;
    rest_ = behind;
    skip(" \t");
    return true;
  }

  bool take_and() {
    skip(" \t");
    if (!rest_.starts_with("&&")) return false;
    rest_.remove_prefix(2);
    skip(" \t\r\n");
    return true;
  }

  bool skip_assignment() {
    const auto before = rest_;
    std::size_t size = 0;
    while (size < rest_.size() && shell::is_name_part(rest_[size]))
      ++size;
    if (size == 0 || size == rest_.size() || rest_[size] != '=' ||
        !shell::is_name_start(rest_.front()))
      return false;
    rest_.remove_prefix(size + 1);
    if (!rest_.empty() && shell::is_blank(rest_.front())) {
      skip(" \t");
      return true;
    }
    if (take_word() && rest_.size() < before.size()) {
      skip(" \t");
      return true;
    }
    rest_ = before;
    return false;
  }

  static bool is_plain(char c) {
    constexpr std::string_view others = "_./,:@%+-=";
    return shell::is_name_part(c) || shell::is_digit(c) ||
           others.find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
  }

  /// One word whose text is known without running anything.
  std::optional<std::string> take_word() {
    std::string text;
    bool any = false;
    while (!rest_.empty() && !shell::is_word_end(rest_.front()) && rest_.front() != '\r') {
      any = true;
      const char c = rest_.front();
      if (c == '\'') {
        const auto end = rest_.find('\'', 1);
        if (end == std::string_view::npos) return {};
        text += rest_.substr(1, end - 1);
        rest_.remove_prefix(end + 1);
      } else if (c == '"') {
        if (!take_double_quoted(text)) return {};
      } else if (is_plain(c)) {
        text += c;
        rest_.remove_prefix(1);
      } else {
        return {};
      }
    }
    if (!any) return {};
    return text;
  }

  bool take_double_quoted(std::string& text) {
    constexpr std::string_view escapable = "\"\\$`";
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (c == '"') {
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (c == '$' || c == '`') return false;
      if (c == '\\' && i + 1 < rest_.size()) {
        if (rest_[i + 1] == '\n') { // a line continuation
          ++i;
          continue;
        }
        if (escapable.find(rest_[i + 1]) != std::string_view::npos) ++i;
      }
      text += rest_[i];
    }
    return false;
  }

  static std::string_view without_carriage_return(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  std::optional<std::string_view> take_tag() {
    if (rest_.empty()) return {};
    const char quote = rest_.front() == '\'' || rest_.front() == '"' ? rest_.front() : '\0';
    if (quote != '\0') rest_.remove_prefix(1);
    std::size_t size = 0;
    while (size < rest_.size() && (shell::is_name_part(rest_[size]) || rest_[size] == '-'))
      ++size;
    const auto tag = rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (tag.empty()) return {};
    if (quote == '\0') return tag;
    if (!rest_.starts_with(quote)) return {};
    rest_.remove_prefix(1);
    return tag;
  }

  std::optional<std::string> take_document() {
    rest_.remove_prefix(2);
    const bool strips_tabs = rest_.starts_with('-');
    if (strips_tabs) rest_.remove_prefix(1);
    skip(" \t");
    const auto tag = take_tag();
    skip(" \t\r");
    if (!tag || !rest_.starts_with('\n')) return {};
    rest_.remove_prefix(1);
    std::string body;
    while (!rest_.empty()) {
      const auto end = rest_.find('\n');
      auto line = rest_.substr(0, end);
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      if (strips_tabs) line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
      if (without_carriage_return(line) == *tag) return body;
      body.append(line).append("\n");
    }
    return {}; // never closed
  }

  std::string_view rest_;
};

std::string refusal_of(std::string_view what) {
  return std::string{what} + "; " + std::string{right_form};
}

constexpr std::string_view bare_patch = "this is the text of a patch, not a command";
constexpr std::string_view not_alone =
    "apply_patch is no program that other commands can be combined with";

} // namespace

bool is_patch_tool(std::string_view program) noexcept {
  return std::find(tool_names.begin(), tool_names.end(), program) != tool_names.end();
}

patch_reading read_patch_command(std::span<const std::string> argv) {
  patch_reading reading;
  if (argv.empty()) return reading;
  if (is_shell_wrapper(argv)) {
    const std::string& script = argv[2];
    if (is_patch_tool(trimmed(script))) return reading;
    if (is_bare_patch(script)) {
      reading.refusal = refusal_of(bare_patch);
    } else if (mentions_tool(script)) {
      reading.patch = script_scanner{script}.read();
      if (reading.patch) return reading;
    } else {
      return reading;
    }
  } else if (is_patch_tool(argv[0])) {
    if (argv.size() == 2)
      reading.patch = patch_words{argv[1], {}};
    else if (argv.size() > 2)
      reading.refusal = refusal_of("apply_patch takes the patch as its only argument");
    return reading;
  } else if (is_bare_patch(argv[0])) {
    reading.refusal = refusal_of(bare_patch);
  } else if (std::none_of(argv.begin(), argv.end(), mentions_tool)) {
    return reading;
  }
  if (!reading.refusal.empty()) return reading;
  const auto analysis = analyze_command(argv);
  for (const auto& segment : analysis.segments)
    if (is_patch_tool(segment.argv.front())) {
      reading.refusal = refusal_of(not_alone);
      break;
    }
  return reading;
}

} // namespace gatehouse::policy
