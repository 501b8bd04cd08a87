#include "policy/shell/analyzer.hpp"

#include "policy/command_words.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/limits.hpp"
#include "policy/shell/plain_scan.hpp"
#include "policy/shell/script_reader.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gatehouse::policy::shell {
namespace {

/// `text` without the parts that are only known when it runs.
std::string without_unknown(std::string text) {
  for (auto at = text.find(unknown_part); at != std::string::npos; at = text.find(unknown_part, at))
    text.erase(at, unknown_part.size());
  return text;
}

std::vector<word> to_words(std::span<const std::string> argv) {
  std::vector<word> all(argv.size());
  for (std::size_t i = 0; i < argv.size(); ++i)
    all[i].text = argv[i];
  return all;
}

/// True for a program that no words make dangerous.
bool is_harmless(std::string_view name) {
  return lists_word(
      ": [ basename cat cmp cut diff dirname du echo false file grep gunzip gzip head "
      "ls md5sum mkdir printf realpath rmdir seq sha256sum stat tail test touch tr "
      "true uniq wc",
      name);
}

/// The reader must agree that the script is those commands and nothing else.
bool is_exactly(const script_reading& reading,
                const std::vector<std::vector<std::string>>& commands) {
  if (!reading.error.empty() || reading.too_large || reading.commands.size() != commands.size())
    return false;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto& found = reading.commands[i];
    if (found.readings.size() != 1 || found.has_redirection || !found.assignments.empty() ||
        !std::equal(found.readings[0].begin(), found.readings[0].end(), commands[i].begin(),
                    commands[i].end(),
                    [](const word& a, const std::string& b) { return a.known && a.text == b; }))
      return false;
  }
  return true;
}

} // namespace

void analyzer::unreadable(std::string why) {
  if (out_.unreadable_why.empty()) out_.unreadable_why = std::move(why);
}

void analyzer::must_ask(std::string why) {
  if (out_.must_ask_why.empty()) out_.must_ask_why = why;
  unreadable(std::move(why));
}

bool analyzer::deeper(const context& at) noexcept {
  if (at.depth < max_wrapper_depth) return true;
  out_.too_deep = true;
  return false;
}

void analyzer::outer_script(std::string_view shell, std::string_view text) {
  out_.script = text;
  if (text.size() > max_script_size) return must_ask("the script is larger than 1 MiB");
  if (text.find('\0') != std::string_view::npos)
    unreadable("the script holds a NUL byte");
  else if (!is_utf8(text))
    unreadable("the script is not valid UTF-8");
  const auto plain = out_.unreadable_why.empty() ? plain_commands(text) : std::nullopt;
  auto reading = read_script(text, variables_);
  out_.plain = plain && is_exactly(reading, *plain);
  if (out_.plain) reading.unreadable_why.clear(); // three readers agree: nothing is in doubt

  context at;
  at.origin = out_.plain ? segment_origin::plain : segment_origin::nested;
  at.any_shell = !is_like_bash(base_name(shell));
  at.grammar = grammar_of(base_name(shell));
  if (auto why = unread_grammar(at.grammar, text, out_.plain, reading.error); !why.empty())
    must_ask(std::move(why));
  commands_of(reading, at);
  if (out_.plain) return;
  if (reading.commands.size() == 1 && reading.error.empty()) {
    const auto& only = reading.commands.front().readings;
    out_.complex = only.size() == 1 && !only.front().empty() &&
                   std::all_of(only.front().begin(), only.front().end(),
                               [](const word& w) { return w.known; });
  }
  if (!reading.error.empty() && reading.resume_at < text.size())
    read_as(dialect::bash, text.substr(reading.resume_at), at, variables_);
  posix_script(text, at, 0);
}

void analyzer::outer_command(std::span<const std::string> argv) {
  context at;
  at.origin = segment_origin::plain;
  out_.plain = std::none_of(argv.begin(), argv.end(),
                            [](const std::string& w) { return w.find('\0') != std::string::npos; });
  if (!out_.plain) {
    unreadable("the command holds a NUL byte");
    at.origin = segment_origin::nested;
  }
  command(to_words(argv), at);
}

void analyzer::script(std::string_view text, const context& at, variable_values variables) {
  const auto first = out_.segments.size();
  read_as(dialect::bash, text, at, std::move(variables));
  posix_script(text, at, first);
}

/// Where the shell may not be bash, what it would run besides the segments from `first` on.
void analyzer::posix_script(std::string_view text, const context& at, std::size_t first) {
  if (!at.any_shell || !depends_on_dialect(text)) return;
  const auto known = static_cast<std::ptrdiff_t>(out_.segments.size());
  read_as(dialect::posix, text, at, variables_);
  const auto listed = out_.segments.begin() + static_cast<std::ptrdiff_t>(first);
  const auto added = out_.segments.begin() + known;
  out_.segments.erase(std::remove_if(added, out_.segments.end(),
                                     [&](const command_segment& segment) {
                                       return std::any_of(listed, added,
                                                          [&](const command_segment& earlier) {
                                                            return earlier.argv == segment.argv;
                                                          });
                                     }),
                      out_.segments.end());
}

void analyzer::read_as(dialect dialect, std::string_view text, const context& at,
                       variable_values variables) {
  constexpr int max_errors = 32; // a shell stops at the first one: what follows is a precaution
  for (int errors = 0; !text.empty() && errors < max_errors; ++errors) {
    const auto reading = read_script(text, variables, dialect);
    commands_of(reading, at);
    if (reading.error.empty()) return;
    text.remove_prefix(std::min(reading.resume_at, text.size()));
  }
  if (!text.empty()) must_ask("the script holds too many syntax errors");
}

void analyzer::commands_of(const script_reading& reading, const context& at) {
  if (reading.too_large) {
    out_.too_deep = true;
    unreadable(reading.error);
  }
  if (!reading.error.empty()) unreadable(reading.error);
  if (!reading.unreadable_why.empty()) unreadable(reading.unreadable_why);
  for (const auto& found : reading.commands) {
    note_writes(reading, found);
    if (found.readings.front().empty()) {
      assigned_scripts(found.assignments, at);
      out_.loose_assignments.insert(out_.loose_assignments.end(), found.assignments.begin(),
                                    found.assignments.end());
      out_.loose_write_targets.insert(out_.loose_write_targets.end(), found.write_targets.begin(),
                                      found.write_targets.end());
      continue;
    }
    for (const auto& all : found.readings) {
      context inner;
      inner.depth = at.depth;
      inner.origin = at.origin;
      inner.found = &found;
      inner.reading = &reading;
      inner.outer = &at;
      inner.any_shell = at.any_shell;
      inner.grammar = at.grammar;
      command(all, inner);
    }
  }
}

void analyzer::command(words all, const context& at) {
  const auto shown = [&, written = all] {
    if (at.found != nullptr && !at.found->source.empty()) return at.found->source;
    std::string text;
    for (const auto& w : written.first(std::min<std::size_t>(written.size(), 4)))
      text += (text.empty() ? "" : " ") + (w.known ? w.text : "…");
    return text;
  };
  // Words that are too many to be read may be options, or the program itself.
  if (!all.empty() && (all.front().is_cut || !is_harmless(base_name(all.front().text))) &&
      std::any_of(all.begin(), all.end(), [](const word& w) { return w.is_cut; }))
    must_ask("braces and variables of `" + shown() + "` make too many words to be read");
  // An unquoted expansion in front may be no word at all: the next word is the program then.
  while (!all.empty() && without_unknown(all.front().text).empty() && !all.front().known) {
    unreadable("the program of `" + shown() + "` is only known when it runs");
    if (!all.front().may_vanish) return;
    all = all.subspan(1);
  }
  if (all.empty()) return;
  if (all.front().known) return segment(all, at);
  if (all.front().text.find_first_of("*?[") != std::string::npos)
    must_ask("the program of `" + shown() + "` is a pattern, which may mean any file");
  unreadable("the program of `" + shown() + "` is only known when it runs");
  std::vector<word> guess(all.begin(), all.end());
  guess.front().text = without_unknown(guess.front().text);
  segment(guess, at);
}

command_segment analyzer::to_segment(words all, const context& at) {
  command_segment found;
  found.origin = at.origin;
  found.argv.reserve(all.size());
  for (const auto& w : all) {
    const bool missing = !w.known && w.text.find(unknown_part) != std::string::npos;
    if (!w.known) {
      if (found.first_unknown < 0) found.first_unknown = static_cast<int>(found.argv.size());
      ++found.unknown_words;
    }
    if (!missing) found.argv.push_back(w.text);
  }
  found.assignments = at.assignments;
  if (at.found != nullptr) {
    found.assignments.insert(found.assignments.begin(), at.found->assignments.begin(),
                             at.found->assignments.end());
    found.write_targets = at.found->write_targets;
    found.has_redirection = at.found->has_redirection;
  }
  found.has_assignment = !found.assignments.empty();
  return found;
}

void analyzer::segment(words all, const context& at) {
  if (out_.segments.size() >= max_segments) {
    out_.too_deep = true;
    return unreadable("the command holds more than 4096 commands");
  }
  auto found = to_segment(all, at);
  const auto assignments = found.assignments;
  out_.segments.push_back(std::move(found));
  assigned_scripts(assignments, at);
  if (all.front().text.find('/') != std::string::npos)
    runs_file(text_kind::program, all, base_name(all.front().text), at);
  unwrap(all, at);
  if (!renames_.empty()) renamed(all, at);
  for (const auto& w : all.subspan(1)) {
    if (!has_running_subscript(w.text) || !deeper(at)) continue;
    context inner;
    inner.depth = at.depth + 1;
    inner.outer = &at;
    auto reading = read_expansions(w.text, variables_);
    reading.error.clear(); // whether anything evaluates it is not known
    commands_of(reading, inner);
  }
}

/// `alias ls=rm`, `hash -p /bin/rm ls`: what the name means from then on.
void analyzer::renamed(words all, const context& at) {
  const auto found = renames_.find(all.front().text);
  if (found == renames_.end() || !deeper(at)) return;
  auto rebuilt = found->second;
  rebuilt.insert(rebuilt.end(), all.begin() + 1, all.end());
  auto others = std::exchange(renames_, {});
  context inner = at;
  inner.depth = at.depth + 1;
  inner.origin = segment_origin::nested;
  command(rebuilt, inner);
  renames_ = std::move(others);
}

void analyzer::script_word(const word& text, std::string_view of, const context& at) {
  if (text.is_cut || text.is_long)
    must_ask("the script of `" + std::string(of) + "` is too large to be read");
  if (!text.known) unreadable("the script of `" + std::string(of) + "` is only known when it runs");
  if (text.text.empty() || !deeper(at)) return;
  context inner;
  inner.depth = at.depth + 1;
  inner.outer = &at;
  inner.any_shell = at.any_shell;
  inner.grammar = at.grammar;
  if (at.grammar != shell_grammar::posix) {
    auto values = variables_;
    const bool plain = plain_commands(text.text).has_value();
    auto why = unread_grammar(at.grammar, text.text, plain,
                              plain ? std::string{} : read_script(text.text, values).error);
    if (!why.empty()) must_ask(std::move(why));
  }
  script(text.text, inner, variables_);
}

void analyzer::joined_script(words parts, std::string_view of, const context& at) {
  word joined;
  for (const auto& part : parts) {
    joined.text += (&part == &parts.front() ? "" : " ") + part.text;
    joined.known = joined.known && part.known;
    joined.is_cut = joined.is_cut || part.is_cut;
    joined.is_long = joined.is_long || part.is_long;
  }
  script_word(joined, of, at);
}

void analyzer::inner_command(words inner, bool understood, std::string_view of, const context& at) {
  if (!understood) unreadable("the options of `" + std::string(of) + "` are not understood");
  if (inner.empty() || !deeper(at)) return;
  context next = at;
  next.depth = at.depth + 1;
  next.origin = segment_origin::wrapper;
  if (understood) return command(inner, next);
  // Where the options end is a guess: the command may start at any of these words.
  constexpr std::size_t max_guesses = 64;
  if (inner.size() > max_guesses)
    must_ask("the options of `" + std::string(of) + "` are not understood, and many");
  for (std::size_t i = 0; i < std::min(inner.size(), max_guesses); ++i) {
    if (inner[i].text.starts_with('-') || (inner[i].may_vanish && i > 0)) continue;
    if (guesses_left_-- <= 0) {
      out_.too_deep = true;
      return;
    }
    command(inner.subspan(i), next);
  }
}

void analyzer::wrapper(const wrapper_grammar& grammar, words all, const context& at) {
  const auto name = grammar.name;
  auto parsed = parse_options(grammar, all, 1);
  context next = at;
  context other = at; // of the scripts that it gives to a shell of its choice
  other.any_shell = true;
  std::vector<word> rebuilt;
  std::string replaced; // xargs
  for (const auto& option : parsed.options) {
    if (name == "command" && (option.name == "v" || option.name == "V"))
      return; // only says what would run
    if (name == "env" && (option.name == "S" || option.name == "split-string")) {
      rebuilt = split_env_string(option.value.text);
      rebuilt.insert(rebuilt.begin(), all.front());
      rebuilt.insert(rebuilt.end(), all.begin() + static_cast<std::ptrdiff_t>(parsed.command),
                     all.end());
      if (!option.value.known) unreadable("the text of `env -S` is only known when it runs");
      if (guesses_left_-- > 0) return wrapper(grammar, rebuilt, at);
      out_.too_deep = true;
      return;
    }
    if (lists_word("C D chdir wd working-directory", option.name)) note_folder(option.value);
    if (name == "xargs" && (option.name == "I" || option.name == "i" || option.name == "replace"))
      replaced = option.value.text.empty() ? "{}" : option.value.text;
    std::string_view scripts = grammar.scripts;
    while (!scripts.empty()) {
      const auto end = std::min(scripts.find(' '), scripts.size());
      if (scripts.substr(0, end) == option.name) script_word(option.value, name, other);
      scripts.remove_prefix(std::min(end + 1, scripts.size()));
    }
  }
  auto inner = all.subspan(parsed.command);
  for (int i = 0; i < grammar.operands && i < static_cast<int>(inner.size()); ++i)
    parsed.understood = parsed.understood && !inner[static_cast<std::size_t>(i)].may_vanish;
  if (parsed.understood)
    inner = inner.subspan(std::min(static_cast<std::size_t>(grammar.operands), inner.size()));
  while (grammar.takes_assignments && !inner.empty()) {
    const auto& text = inner.front().text;
    if (name == "env" ? text.find('=') == std::string::npos : assigned_name(text).empty()) break;
    next.assignments.push_back(inner.front().known ? text : text.substr(0, text.find('=') + 1));
    inner = inner.subspan(1);
  }
  switch (grammar.form) {
  case command_form::none: // script
    if (!parsed.understood) inner_command({}, false, name, next);
    if (parsed.options.empty() || std::ranges::none_of(parsed.options, [](const auto& option) {
          return option.name == "c" || option.name == "command";
        }))
      takes_commands(name, at);
    return;
  case command_form::joined_script:
    if (!parsed.understood)
      unreadable("the options of `" + std::string(name) + "` are not understood");
    if (name == "rush") {
      rebuilt.assign(inner.begin(), inner.end());
      for (auto& w : rebuilt)
        put_unknown_places(w, "{}");
      inner = rebuilt;
    }
    return joined_script(inner, name, other);
  case command_form::script_a_word:
    for (const auto& one : inner)
      script_word(one, name, other);
    return;
  case command_form::shell_operands: {
    const bool runs_words =
        std::any_of(parsed.options.begin(), parsed.options.end(), [](const parsed_option& option) {
          return option.name == "u" || option.name == "user";
        });
    if (runs_words) return inner_command(inner, parsed.understood, name, next);
    const bool has_script =
        std::any_of(parsed.options.begin(), parsed.options.end(), [&](const parsed_option& option) {
          return option.name == "c" || option.name.ends_with("command");
        });
    if (has_script) return;
    if (inner.size() < 2) return input_script(name, other);
    rebuilt.assign(inner.begin(), inner.end()); // the user stands where the shell's name would
    rebuilt.front().text = "sh";
    if (rebuilt[1].text == "--") rebuilt.erase(rebuilt.begin() + 1);
    return shell(rebuilt, at);
  }
  case command_form::words: break;
  }
  if (name == "flock" && !inner.empty() &&
      (inner.front().text == "-c" || inner.front().text == "--command"))
    return joined_script(inner.subspan(1), name, other);
  if (name == "sg" && !inner.empty())
    return joined_script(inner.subspan(inner.front().text == "-c" && inner.size() > 1 ? 1 : 0),
                         name, other);
  if (name == "xargs" && !inner.empty()) {
    if (const auto input = input_text(at); input && input->known)
      given_words(inner, replaced, input->text, next);
    rebuilt.assign(inner.begin(), inner.end());
    for (auto& w : rebuilt)
      if (!replaced.empty() && w.text.find(replaced) != std::string::npos) put_unknown(w, replaced);
    if (replaced.empty()) rebuilt.push_back(unknown_words());
    inner = rebuilt;
  }
  constexpr std::string_view fetchers[] = {"bun x",    "bunx", "npm exec", "npm x",   "npx",
                                           "pnpm dlx", "pnpx", "uvx",      "yarn dlx"};
  if (!inner.empty() && std::ranges::find(fetchers, name) != std::end(fetchers)) {
    // `tool@1.2`: the program is `tool`. An @ in front is a scope.
    rebuilt.assign(inner.begin(), inner.end());
    auto& package = rebuilt.front().text;
    package.resize(std::min(package.size(), package.find('@', 1)));
    inner = rebuilt;
  }
  if (inner.empty() && lists_word("chroot doas fakechroot fakeroot nsenter proot run0 schroot sg "
                                  "sudo sudo-rs toolbox unshare",
                                  name))
    takes_commands(name, at); // a shell
  inner_command(inner, parsed.understood, name, next);
}

} // namespace gatehouse::policy::shell
