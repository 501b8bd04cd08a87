#include "sandbox/failure_text.hpp"

#include "policy/path_text.hpp"
#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>

namespace gatehouse::sandbox {
namespace {

constexpr std::size_t max_text = 64 * 1024;
constexpr std::size_t max_line = 4096;
constexpr std::size_t max_failures = 64;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct needle {
  std::string_view text;
  failure_words words;
};
constexpr std::array<needle, 11> needles{{
    {"read-only file system", failure_words::read_only},
    {"permission denied", failure_words::permission_denied},
    {"operation not permitted", failure_words::not_permitted},
    // A hard link out of what has a mount of its own.
    {"invalid cross-device link", failure_words::not_permitted},
    {"device or resource busy", failure_words::busy},
    {"resource busy or locked", failure_words::busy},
    {"no such file or directory", failure_words::not_found},
    // What it would replace could not be removed.
    {"cannot open: file exists", failure_words::read_only},
    {"failure writing output to destination", failure_words::unexplained},
    {"failed writing received data to disk", failure_words::unexplained},
    {"failed writing body", failure_words::unexplained},
}};

constexpr std::array<std::string_view, 24> writing_words{
    "create",    "creating", "write", "writing", "touch",     "mkdir",    "remove", "unlink",
    "rename",    "move",     "lock",  "append",  "truncate",  "copy",     "save",   "symbolic",
    "hard link", "changing", "utime", "output",  "temporary", "template", "delete", "replace"};

/// Words by which programs report that they could not resolve or connect; what follows the first
/// group, if anything, is the host.
constexpr std::array<std::string_view, 9> host_follows{"could not resolve host: ",
                                                       "could not resolve hostname ",
                                                       "unable to resolve host address ",
                                                       "getaddrinfo eai_again ",
                                                       "getaddrinfo enotfound ",
                                                       "could not resolve host ",
                                                       "dial tcp: lookup ",
                                                       "failed to connect to ",
                                                       "failed to lookup address information: "};
constexpr std::array<std::string_view, 11> network_words{"temporary failure in name resolution",
                                                         "name or service not known",
                                                         "nodename nor servname provided",
                                                         "network is unreachable",
                                                         "enetunreach",
                                                         "failed to establish a new connection",
                                                         "couldn't connect to server",
                                                         "socket: operation not permitted",
                                                         "temporary failure resolving",
                                                         "eai_again",
                                                         "could not resolve"};

bool stands_in(const std::vector<std::string>& argv, std::string_view lower_text) {
  return std::any_of(argv.begin(), argv.end(), [&](const std::string& word) {
    return contains(to_lower_ascii(word), lower_text);
  });
}

std::vector<std::string_view> last_lines(std::string_view text) {
  if (text.size() > max_text) text.remove_prefix(text.size() - max_text);
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && line.size() <= max_line) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

void add_path(std::vector<std::string>& paths, std::string_view text) {
  while (!text.empty() && contains(" \t,;", text.substr(0, 1)))
    text.remove_prefix(1);
  while (!text.empty() && contains(" \t,;:", text.substr(text.size() - 1)))
    text.remove_suffix(1);
  if (text.empty() || std::find(paths.begin(), paths.end(), text) != paths.end()) return;
  paths.emplace_back(text);
}

/// What stands between quotation marks of one kind, at word borders.
void add_quoted(std::vector<std::string>& paths, std::string_view line) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> marks{
      {{"'", "'"}, {"\"", "\""}, {"‘", "’"}, {"`", "'"}, {"`", "`"}}};
  for (std::size_t at = 0; at < line.size(); ++at) {
    for (const auto& [open, close] : marks) {
      if (line.substr(at, open.size()) != open) continue;
      if (open == "'" && at > 0 && std::isalnum(static_cast<unsigned char>(line[at - 1])))
        continue; // can't, didn't
      const auto end = line.find(close, at + open.size());
      if (end == std::string_view::npos) continue;
      add_path(paths, line.substr(at + open.size(), end - at - open.size()));
      at = end + close.size() - 1;
      break;
    }
  }
}

/// Words that are paths by their look, but for the name of the program that speaks.
void add_absolute_words(std::vector<std::string>& paths, std::string_view line) {
  std::size_t at = 0;
  if (const auto first = line.find(' ');
      first != std::string_view::npos && first > 0 && line[first - 1] == ':')
    at = first + 1;
  while (at < line.size()) {
    const auto end = std::min(line.find_first_of(" \t'\"`()=", at), line.size());
    const auto word = line.substr(at, end - at);
    if (word.starts_with('/') || word.starts_with("./") || word.starts_with("../"))
      add_path(paths, word);
    at = end + 1;
  }
}

/// The words of the command line; those of a script as far as blanks and operators divide it.
std::vector<std::string_view> words_of(const std::vector<std::string>& argv) {
  constexpr std::string_view between = " \t\n\"'`;&|()<>";
  std::vector<std::string_view> words;
  for (const std::string_view text : argv)
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find_first_of(between, at), text.size());
      if (end > at) words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  return words;
}

/// The last part of a URL's path: what it is saved as.
std::string_view remote_name(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url = url.substr(0, url.find_first_of("?#"));
  const auto slash = url.rfind('/');
  return slash > scheme + 2 ? url.substr(slash + 1) : std::string_view{};
}

/// Where the command line says that output goes, for programs that do not say it in their error.
void add_named_outputs(std::vector<std::string>& paths, const std::vector<std::string>& argv) {
  const auto words = words_of(argv);
  bool by_remote_name = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i];
    const bool one_dash = word.starts_with('-') && !word.starts_with("--");
    const auto letter = one_dash ? word.find('o') : std::string_view::npos;
    by_remote_name |= word == "--remote-name" || (one_dash && contains(word, "O"));
    if (word.starts_with("--output="))
      add_path(paths, word.substr(9));
    else if (letter != std::string_view::npos && letter + 1 < word.size())
      add_path(paths, word.substr(letter + 1));
    else if ((word == "--output" || letter != std::string_view::npos) && i + 1 < words.size())
      add_path(paths, words[i + 1]);
  }
  if (!by_remote_name) return;
  for (const auto word : words)
    add_path(paths, remote_name(word));
}

/// `Cannot open`, `cannot create X`: says what was tried; only its last word can be a name.
bool is_statement(std::string_view text) {
  constexpr std::array<std::string_view, 6> openings{"cannot ", "can't ",  "couldn't ",
                                                     "could ",  "failed ", "unable "};
  const auto lowered = to_lower_ascii(text.substr(0, 16));
  return std::any_of(openings.begin(), openings.end(),
                     [&](std::string_view opening) { return lowered.starts_with(opening); });
}

/// `tool: cannot create X: <needle>`: the parts before the needle from the right, whole, then their
/// last word; not the tool.
void add_parts_before(std::vector<std::string>& paths, std::string_view before) {
  while (!before.empty() && contains(": ([", before.substr(before.size() - 1)))
    before.remove_suffix(1);
  // The middle of a sentence: `X resides on a <needle>`.
  for (const std::string_view link : {" a", " on", " is", " resides"})
    if (before.ends_with(link)) before.remove_suffix(link.size());
  for (int part = 0; part < 2 && !before.empty(); ++part) {
    const auto colon = before.rfind(": ");
    if (part > 0 && colon == std::string_view::npos) break;
    const auto text = colon == std::string_view::npos ? before : before.substr(colon + 2);
    const bool statement = is_statement(text);
    if (statement && std::count(text.begin(), text.end(), ' ') < 2) {
      before = colon == std::string_view::npos ? std::string_view{} : before.substr(0, colon);
      continue;
    }
    if (!statement) add_path(paths, text);
    if (const auto end = text.rfind(" for "); end != std::string_view::npos)
      add_path(paths,
               text.substr(text.rfind(' ', end - 1) + 1, end - text.rfind(' ', end - 1) - 1));
    add_path(paths, text.substr(text.rfind(' ') + 1));
    before = colon == std::string_view::npos ? std::string_view{} : before.substr(0, colon);
  }
}

/// `touch: …` from a command line that calls touch, and not a text of that line: a failure also
/// where the command line holds the words that we look for (a search for them, a message).
bool is_said_by_program(std::string_view lower_line, const std::vector<std::string>& argv) {
  const auto colon = lower_line.find(':');
  if (colon == std::string_view::npos || stands_in(argv, lower_line)) return false;
  const auto speaker = policy::name_of(lower_line.substr(0, colon));
  const auto words = words_of(argv);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return to_lower_ascii(policy::name_of(word)) == speaker;
  });
}

} // namespace

std::vector<reported_failure> find_reported_failures(std::string_view text,
                                                     const std::vector<std::string>& argv) {
  std::vector<reported_failure> failures;
  const auto lines = last_lines(text);
  for (std::size_t i = lines.size(); i-- > 0 && failures.size() < max_failures;) {
    const auto lowered = to_lower_ascii(lines[i]);
    for (const auto& n : needles) {
      const auto at = lowered.find(n.text);
      if (at == std::string::npos ||
          (stands_in(argv, n.text) && !is_said_by_program(lowered, argv)))
        continue;
      reported_failure failure{n.words, n.words == failure_words::unexplained, {}};
      if (n.words == failure_words::unexplained) {
        add_named_outputs(failure.paths, argv);
        failures.push_back(std::move(failure));
        break;
      }
      add_quoted(failure.paths, lines[i]);
      add_parts_before(failure.paths, lines[i].substr(0, at));
      add_absolute_words(failure.paths, lines[i]);
      auto described = lowered;
      // A cause below its effect: the path stands a few lines above.
      if (failure.paths.empty() || lines[i].starts_with(' '))
        for (std::size_t back = 1; back <= 3 && back <= i; ++back) {
          add_quoted(failure.paths, lines[i - back]);
          add_absolute_words(failure.paths, lines[i - back]);
          described += to_lower_ascii(lines[i - back]);
        }
      failure.about_writing =
          std::any_of(writing_words.begin(), writing_words.end(),
                      [&](std::string_view word) { return contains(described, word); });
      failures.push_back(std::move(failure));
      break;
    }
  }
  return failures;
}

std::vector<reported_network_failure> find_network_failures(std::string_view text,
                                                            const std::vector<std::string>& argv) {
  std::vector<reported_network_failure> failures;
  const auto lines = last_lines(text);
  for (std::size_t i = lines.size(); i-- > 0 && failures.size() < max_failures;) {
    const auto lowered = to_lower_ascii(lines[i]);
    for (auto words : host_follows) {
      const auto at = lowered.find(words);
      if (at == std::string::npos || stands_in(argv, words)) continue;
      auto rest = lines[i].substr(at + words.size());
      const auto first = rest.find_first_not_of(" '\"`\xe2\x80\x98");
      rest.remove_prefix(std::min(first, rest.size()));
      const auto host = rest.substr(0, rest.find_first_of(" '\"`:;,()\xe2/"));
      failures.push_back({to_lower_ascii(host)});
      break;
    }
    if (!failures.empty() && !failures.back().host.empty()) continue;
    if (std::any_of(network_words.begin(), network_words.end(), [&](std::string_view words) {
          return contains(lowered, words) && !stands_in(argv, words);
        }))
      failures.push_back({});
  }
  std::stable_partition(failures.begin(), failures.end(),
                        [](const reported_network_failure& f) { return !f.host.empty(); });
  return failures;
}

std::vector<std::string> entered_folders(const std::vector<std::string>& argv) {
  constexpr std::array<std::string_view, 5> options{"cd", "pushd", "-C", "--directory",
                                                    "--output-dir"};
  std::vector<std::string> folders;
  const auto words = words_of(argv);
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (std::find(options.begin(), options.end(), words[i]) != options.end())
      add_path(folders, words[i + 1]);
  return folders;
}

std::string host_in_argv(const std::vector<std::string>& argv) {
  constexpr std::string_view ends = " \t\n'\"`/:?#)|;&<>";
  for (const auto& word : argv) {
    if (const auto scheme = word.find("://"); scheme != std::string::npos) {
      auto host = word.substr(scheme + 3);
      host = host.substr(0, host.find_first_of(" \t\n'\"`/?#)|;&<>"));
      if (const auto user = host.rfind('@'); user != std::string::npos)
        host = host.substr(user + 1);
      return to_lower_ascii(host);
    }
    const auto at = word.find('@');
    if (at == std::string::npos || at == 0) continue;
    const auto end = word.find_first_of(ends, at + 1);
    if (end != std::string::npos && word[end] == ':')
      return to_lower_ascii(word.substr(at + 1, end - at - 1));
  }
  return {};
}

} // namespace gatehouse::sandbox
