#include "sandbox/windows/windows_path.hpp"

#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace gatehouse::sandbox {
namespace {

/// `NAME~1` or `NAME~1.EXT` with at most 8 and 3 characters.
bool looks_short(std::string_view name) {
  const auto dot = name.find('.');
  const auto stem = name.substr(0, dot);
  const auto ending = dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1);
  const auto tilde = stem.rfind('~');
  return stem.size() <= 8 && ending.size() <= 3 && tilde != std::string_view::npos &&
         tilde + 1 < stem.size() &&
         stem.find_first_not_of("0123456789", tilde + 1) == std::string_view::npos;
}

bool has_bad_character(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 ||
           std::string_view{"<>:\"|?*/\\"}.find(c) != std::string_view::npos;
  });
}

class parser {
public:
  explicit parser(std::string_view text) : text_{text} {}

  result<windows_path> run() {
    std::string_view rest = text_;
    if (rest.starts_with("\\\\?\\")) {
      verbatim_ = true;
      rest.remove_prefix(4);
      if (rest.find('/') != std::string_view::npos)
        return bad("`/` is no separator behind `\\\\?\\`");
      return to_lower_ascii(rest.substr(0, 4)) == "unc\\" ? share(rest.substr(4)) : drive(rest);
    }
    if (rest.size() > 1 && is_separator(rest[0]) && is_separator(rest[1])) {
      rest.remove_prefix(2);
      if (rest.starts_with(".") || rest.starts_with("?")) return bad("it names a device");
      return share(rest);
    }
    return drive(rest);
  }

private:
  [[nodiscard]] error bad(std::string_view why) const {
    return {errc::invalid_profile,
            "`" + std::string{text_} + "` is no path that a sandbox can hold: " + std::string{why},
            "write an absolute path such as C:\\work or \\\\server\\share\\work"};
  }

  [[nodiscard]] bool is_separator(char c) const { return c == '\\' || (c == '/' && !verbatim_); }

  /// The text up to the next separator; `rest` goes on behind it.
  std::string_view take_name(std::string_view& rest) const {
    std::size_t end = 0;
    while (end < rest.size() && !is_separator(rest[end]))
      ++end;
    const auto name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return name;
  }

  result<windows_path> drive(std::string_view rest) {
    const bool has_drive = rest.size() > 1 && to_lower_ascii(rest[0]) >= 'a' &&
                           to_lower_ascii(rest[0]) <= 'z' && rest[1] == ':';
    if (!has_drive) return bad(verbatim_ ? "it names a volume or a device" : "it is relative");
    if (rest.size() < 3 || !is_separator(rest[2])) return bad("it is relative to a drive's folder");
    path_.kind = windows_path::root_kind::drive;
    path_.root = {static_cast<char>(std::toupper(static_cast<unsigned char>(rest[0]))), ':'};
    return names(rest.substr(3));
  }

  result<windows_path> share(std::string_view rest) {
    path_.kind = windows_path::root_kind::share;
    path_.root = "\\";
    for (const auto* why : {"it names no server", "it names no share"}) {
      const auto name = take_name(rest);
      if (name.empty() || name == "." || name == ".." || has_bad_character(name)) return bad(why);
      path_.root += "\\" + std::string{name};
    }
    return names(rest);
  }

  result<windows_path> names(std::string_view rest) {
    while (!rest.empty()) {
      auto name = take_name(rest);
      if (verbatim_ && (name.empty() || name == "." || name == ".."))
        return bad("behind `\\\\?\\` every name is taken as it is written");
      if (name.empty() || name == ".") continue;
      if (name == "..") {
        if (!path_.names.empty()) path_.names.pop_back();
        continue;
      }
      // Win32 drops trailing dots and spaces; behind `\\?\` they are part of another file's name.
      const auto kept = name.find_last_not_of(". ");
      if (kept == std::string_view::npos) return bad("a name of dots and spaces only");
      if (verbatim_ && kept + 1 != name.size()) return bad("a name ends with a dot or a space");
      name = name.substr(0, kept + 1);
      if (name.find(':') != std::string_view::npos) return bad("it names a stream of a file");
      if (has_bad_character(name)) return bad("a name has a character that none may have");
      if (is_reserved_windows_name(name)) return bad("`" + std::string{name} + "` is a device");
      path_.names.emplace_back(name);
    }
    path_.has_short_name = std::any_of(path_.names.begin(), path_.names.end(), looks_short);
    return std::move(path_);
  }

  std::string_view text_;
  bool verbatim_ = false;
  windows_path path_;
};

} // namespace

std::string windows_path::native() const {
  std::string text = root;
  for (const auto& name : names)
    text += "\\" + name;
  return names.empty() ? text + "\\" : text;
}

std::string windows_path::policy_form() const {
  std::string text = kind == root_kind::drive ? "/" + root : "/unc:" + root.substr(1);
  for (const auto& name : names)
    text += "/" + name;
  std::replace(text.begin(), text.end(), '\\', '/');
  return to_lower_ascii(text);
}

result<windows_path> parse_windows_path(std::string_view text) {
  return parser{text}.run();
}

bool is_reserved_windows_name(std::string_view name) {
  std::string stem = to_lower_ascii(name.substr(0, name.find_first_of(".:")));
  while (stem.ends_with(' '))
    stem.pop_back();
  for (const auto* device : {"con", "prn", "aux", "nul", "conin$", "conout$"})
    if (stem == device) return true;
  if (!stem.starts_with("com") && !stem.starts_with("lpt")) return false;
  const auto number = stem.substr(3);
  if (number.size() == 1) return number[0] >= '0' && number[0] <= '9';
  constexpr std::array<std::string_view, 3> superscripts{"\xc2\xb9", "\xc2\xb2", "\xc2\xb3"};
  return std::find(superscripts.begin(), superscripts.end(), number) != superscripts.end();
}

} // namespace gatehouse::sandbox
