#include "policy/windows_commands.hpp"

#include "protocol/ascii_text.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

using text_list = std::vector<std::string>;

/// An http or https address, also with quotes or brackets around it or text before it.
bool has_url(std::string_view lowered) {
  for (std::string_view scheme : {"http://", "https://"}) {
    const auto at = lowered.find(scheme);
    if (at == std::string_view::npos) continue;
    const auto host = lowered.substr(at + scheme.size());
    if (!host.empty() && std::string_view{"/'\"();: \t"}.find(host[0]) == std::string_view::npos)
      return true;
  }
  return false;
}

text_list split_any(std::string_view text, std::string_view separators) {
  text_list parts;
  std::string part;
  for (char c : text) {
    if (separators.find(c) == std::string_view::npos) {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::move(part));
      part.clear();
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

text_list lower_all(words argv) {
  text_list lowered;
  for (const auto& word : argv)
    lowered.push_back(to_lower_ascii(word));
  return lowered;
}

bool any_has_url(const text_list& lowered) {
  return std::ranges::any_of(lowered, has_url);
}

bool contains(const text_list& lowered, std::initializer_list<std::string_view> list) {
  return std::ranges::any_of(lowered, [&](const auto& word) { return is_one_of(word, list); });
}

bool mentions(const text_list& lowered, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(lowered, [&](const auto& word) {
    return std::ranges::any_of(parts,
                               [&](auto part) { return word.find(part) != std::string::npos; });
  });
}

bool is_browser(std::string_view name) {
  return is_one_of(name, {"chrome", "msedge", "firefox", "iexplore"});
}

/// A delete command and `-Force` in one statement; `words_of_script` may hold whole statements.
bool force_deletes(const text_list& lowered) {
  std::string script;
  for (const auto& word : lowered)
    script += word + ' ';
  for (const auto& statement : split_any(script, ";|&\n\r")) {
    const auto tokens = split_any(statement, " \t{}()[],'\"");
    const bool deletes =
        contains(tokens, {"remove-item", "ri", "rm", "del", "erase", "rd", "rmdir"});
    const bool forced = std::ranges::any_of(tokens, [](const auto& token) {
      // PowerShell takes any unambiguous abbreviation: `-fo` is the shortest for these cmdlets.
      const auto name = std::string_view{token}.substr(0, token.find(':'));
      return name.size() > 2 && std::string_view{"-force"}.starts_with(name);
    });
    if (deletes && forced) return true;
  }
  return false;
}

constexpr auto opens_url = "it hands a web address to a program outside the sandbox";

std::optional<std::string> find_cmd_danger(words argv) {
  std::size_t i = 1;
  while (i < argv.size() && argv[i].starts_with('/') &&
         !is_one_of(to_lower_ascii(argv[i]), {"/c", "/r", "/k"}))
    ++i;
  std::string script;
  for (const auto& word : argv.subspan(std::min(i + 1, argv.size())))
    for (char c : to_lower_ascii(word) + ' ') {
      if (c == '/') script += ' '; // switches may stand together: `rd/s/q`
      script += c;
    }
  for (const auto& statement : split_any(script, "&|\n\r")) {
    const auto tokens = split_any(statement, " \t\"'()");
    if (contains(tokens, {"start"}) && any_has_url(lower_all(argv))) return opens_url;
    if (contains(tokens, {"del", "erase"}) && contains(tokens, {"/f"}))
      return "del /f deletes write-protected files without a question";
    if (contains(tokens, {"rd", "rmdir"}) && contains(tokens, {"/s"}) && contains(tokens, {"/q"}))
      return "rd /s /q deletes a whole tree without a question";
  }
  return std::nullopt;
}

/// `-EncodedCommand` and its abbreviations: a script that nobody can read.
bool is_encoded_command(std::string_view lowered) {
  return lowered == "-ec" ||
         (lowered.size() > 1 && std::string_view{"-encodedcommand"}.starts_with(lowered) &&
          lowered.starts_with("-e"));
}

} // namespace

std::string windows_name(std::string_view word) {
  const auto slash = word.find_last_of("/\\");
  if (slash != std::string_view::npos)
    word.remove_prefix(slash + 1);
  else if (word.size() > 2 && word[1] == ':')
    word.remove_prefix(2);
  auto name = to_lower_ascii(word);
  for (std::string_view suffix : {".exe", ".cmd", ".bat", ".com"})
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
      break;
    }
  return name;
}

std::optional<std::string> find_powershell_danger(words argv) {
  if (argv.empty()) return std::nullopt;
  const auto lowered = lower_all(argv);
  const auto name = windows_name(argv[0]);
  if (force_deletes(lowered)) return "it deletes with -Force";
  if (!any_has_url(lowered)) return std::nullopt;
  const bool starts =
      contains(lowered, {"start-process", "start", "saps", "invoke-item", "ii"}) ||
      mentions(lowered, {"start-process", "invoke-item", "shellexecute", "shell.application"});
  const bool handler = name == "rundll32" && mentions(lowered, {"url.dll,fileprotocolhandler"});
  if (starts || handler || is_browser(name) || is_one_of(name, {"mshta", "explorer"}))
    return opens_url;
  if (mentions(lowered, {"iex", "invoke-expression"}))
    return "it runs downloaded text as a program";
  return std::nullopt;
}

std::optional<std::string> find_windows_danger(words argv) {
  if (argv.empty()) return std::nullopt;
  const auto name = windows_name(argv[0]);
  if (name == "cmd") return find_cmd_danger(argv);
  if (is_one_of(name, {"powershell", "pwsh"})) {
    if (std::ranges::any_of(lower_all(argv), is_encoded_command))
      return "its script is encoded, so nobody can read what would run";
    return find_powershell_danger(argv.subspan(1));
  }
  const bool browser = is_browser(name) && to_lower_ascii(argv[0]).ends_with(".exe");
  if (!browser && !is_one_of(name, {"explorer", "mshta", "rundll32"})) return std::nullopt;
  const auto lowered = lower_all(argv);
  if (!any_has_url(lowered)) return std::nullopt;
  if (name == "rundll32" && !mentions(lowered, {"url.dll,fileprotocolhandler"}))
    return std::nullopt;
  return opens_url;
}

} // namespace gatehouse::policy
