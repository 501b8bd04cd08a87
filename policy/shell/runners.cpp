#include "policy/command_words.hpp"
#include "policy/shell/analyzer.hpp"
#include "policy/shell/characters.hpp"
#include "policy/shell/limits.hpp"
#include "policy/shell/special_commands.hpp"

#include <algorithm>

/// Programs that run a command on what they find, on another machine or for each of many words,
/// each with options of its own kind; those of the usual kind are in the table of wrappers.
namespace gatehouse::policy::shell {
namespace {

/// `ssh`: short options with a value.
constexpr wrapper_grammar ssh_grammar = {
    .name = "ssh", .flags = "46AaCfGgKkMNnqsTtVvXxYy", .values = "BbcDEeFIiJLlmOoPpQRSWw"};
constexpr wrapper_grammar parallel_grammar = {
    .name = "parallel",
    .flags = "0kmqrtuvXxz",
    .values = "aCdDEIjLlnNPsSU",
    .longs = "jobs= arg-file= colsep= delimiter= eta bar progress keep-order halt= joblog= "
             "results= tmpdir= timeout= delay= retries= sshlogin= line-buffer ungroup group tag "
             "dry-run verbose quote no-run-if-empty null max-args= max-replace-args= xargs pipe "
             "pipepart block= resume resume-failed will-cite citation load= memfree= nice= "
             "shebang semaphore id= fg bg wait colour shuf replace="};

bool is_plain(std::string_view text) {
  return text.find_first_of(" \t\n\"'\\$`|&;<>()*?[]{}~#!") == std::string_view::npos;
}

word quoted(word w) {
  for (auto at = w.text.find('\''); at != std::string::npos; at = w.text.find('\'', at + 4))
    w.text.replace(at, 1, "'\\''");
  w.text = "'" + w.text + "'";
  return w;
}

/// Puts `value` in the place of each `place`; false when `w` has none. What would be longer than
/// `left` bytes is cut and marked.
bool fill(word& w, std::string_view place, const word& value, std::size_t& left) {
  bool found = false;
  for (auto at = w.text.find(place); !w.is_long && at != std::string::npos;
       at = w.text.find(place, at + value.text.size())) {
    found = true;
    w.is_long = value.text.size() > left;
    if (w.is_long) break;
    left -= value.text.size();
    w.text.replace(at, place.size(), value.text);
    w.known = w.known && value.known;
  }
  return found;
}

} // namespace

bool put_unknown_places(word& w, std::string_view replaced) {
  bool found = false;
  for (auto at = w.text.find(replaced); !replaced.empty() && at != std::string::npos;
       at = w.text.find(replaced, at + unknown_part.size())) {
    w.text.replace(at, replaced.size(), unknown_part);
    found = true;
  }
  for (auto at = w.text.find('{'); at != std::string::npos; at = w.text.find('{', at + 1)) {
    const auto end = w.text.find('}', at);
    if (end == std::string::npos) break;
    const auto inside = std::string_view{w.text}.substr(at + 1, end - at - 1);
    const bool is_place =
        inside.empty() || inside.front() == '=' ||
        (!is_name_start(inside.front()) && inside.find_first_of(" \t\n\"'$;,{:") == inside.npos);
    if (!is_place) continue;
    w.text.replace(at, end - at + 1, unknown_part);
    found = true;
  }
  w.known = w.known && !found;
  return found;
}

void analyzer::find_actions(words all, const context& at) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& text = all[i].text;
    if (text != "-exec" && text != "-execdir" && text != "-ok" && text != "-okdir") continue;
    std::vector<word> inner;
    for (++i; i < all.size(); ++i) {
      if (all[i].text == ";" ||
          (all[i].text == "+" && !inner.empty() && all[i - 1].text.find("{}") != std::string::npos))
        break;
      inner.push_back(all[i]);
      if (all[i].text.find("{}") != std::string::npos) put_unknown(inner.back(), "{}");
    }
    inner_command(inner, true, "find", at);
  }
}

void analyzer::fd_actions(words all, const context& at) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto& text = all[i].text;
    std::vector<word> inner;
    if (text.starts_with("--exec=") || text.starts_with("--exec-batch=")) {
      inner.push_back(all[i]);
      inner.front().text.erase(0, text.find('=') + 1);
    } else if (text.size() > 2 && (text.starts_with("-x") || text.starts_with("-X"))) {
      inner.push_back(all[i]);
      inner.front().text.erase(0, 2);
    } else if (text != "-x" && text != "-X" && text != "--exec" && text != "--exec-batch") {
      continue;
    }
    for (++i; i < all.size() && all[i].text != ";"; ++i) {
      inner.push_back(all[i]);
      if (all[i].text.find('{') != std::string::npos) inner.back().known = false;
    }
    inner_command(inner, true, "fd", at);
  }
}

void analyzer::remote_shell(words all, const context& caller) {
  context at = caller;
  at.any_shell = true;
  const auto parsed = parse_options(ssh_grammar, all, 1);
  if (!parsed.understood) unreadable("the options of `ssh` are not understood");
  for (const auto& option : parsed.options) {
    if (option.name == "o") ssh_option(option.value, "ssh", at);
    if (option.name == "F" && option.value.text != "none") script_word(option.value, "ssh", at);
  }
  // Options may follow the host, and a `--` before the command.
  auto first = std::min(parsed.command + 1, all.size());
  if (first < all.size() && all[first].text.starts_with('-')) {
    const auto more = parse_options(ssh_grammar, all, first);
    for (const auto& option : more.options)
      if (option.name == "o") ssh_option(option.value, "ssh", at);
    if (more.understood) first = more.command;
  }
  const auto rest = all.subspan(first);
  if (rest.empty()) {
    if (parsed.command < all.size()) input_script("ssh", at);
    return;
  }
  joined_script(rest, "ssh", at);
}

void analyzer::parallel(words all, const context& caller) {
  context at = caller;
  at.any_shell = true;
  const auto parsed = parse_options(parallel_grammar, all, 1);
  const auto rest = all.subspan(parsed.command);
  const auto sources = std::find_if(rest.begin(), rest.end(),
                                    [](const word& w) { return w.text.starts_with(":::"); });
  std::vector<word> inner(rest.begin(), sources);
  std::vector<word> files; // each line of these is a command, or a word of it
  std::vector<word> given;
  bool words_known = true; // what stands behind `:::` is given to the command one by one
  std::string_view replaced = "{}";
  for (const auto& option : parsed.options) {
    if (lists_word("a arg-file", option.name)) files.push_back(option.value);
    if (lists_word("I U i replace", option.name) && !option.value.text.empty())
      replaced = option.value.text;
    words_known = words_known && !lists_word("a arg-file C colsep d delimiter E L l m max-args "
                                             "max-replace-args N n X x xargs",
                                             option.name);
  }
  bool from_file = false;
  for (auto source = sources; source != rest.end(); ++source) {
    if (source->text.starts_with(":::")) {
      words_known = words_known && source == sources && source->text == ":::";
      from_file = source->text.starts_with("::::");
    } else {
      (from_file ? files : given).push_back(*source);
    }
  }
  constexpr std::size_t most = 64;
  words_known = words_known && !given.empty() && given.size() <= most;
  if (inner.empty()) {
    for (const auto& file : files)
      runs_file(text_kind::shell, {&file, 1}, "parallel", at);
    for (const auto& one : given)
      script_word(one, "parallel", at);
    if (!words_known && !given.empty()) joined_script(given, "parallel", at);
    if (files.empty() && given.empty()) input_script("parallel", at);
    return;
  }
  auto unknown = inner;
  bool has_place = std::ranges::any_of(
      parsed.options, [](const auto& option) { return option.name.starts_with("pipe"); });
  for (auto& w : unknown)
    has_place = put_unknown_places(w, replaced) || has_place;
  if (!parsed.understood) return inner_command(unknown, false, "parallel", at);
  // Each level of what is taken from the sources is read once more for each below.
  constexpr int most_levels = 1;
  const bool reads_given = at.depth <= most_levels && inner.size() <= most;
  if (!has_place || !words_known || !reads_given) joined_script(unknown, "parallel", at);
  if (!reads_given) return unreadable("what `parallel` adds to such a command is not read");
  if (!words_known && !has_place) { // they stand at the end
    unknown.push_back(unknown_words());
    joined_script(unknown, "parallel", at);
  }
  if (given.size() > most) return;
  for (const auto& one : given)
    for (const bool quotes : {false, true}) { // a command, or one word of it
      if (quotes && is_plain(one.text)) continue;
      const auto value = quotes ? quoted(one) : one;
      auto made = inner;
      bool is_filled = false;
      for (auto& w : made) {
        if (w.text.size() > made_left_)
          return must_ask("parallel makes commands too long to be read");
        made_left_ -= w.text.size();
        for (const std::string_view place : {replaced, std::string_view{"{1}"}})
          is_filled = fill(w, place, value, made_left_) || is_filled;
        is_filled = put_unknown_places(w, replaced) || is_filled;
      }
      if (!is_filled) made.push_back(value);
      joined_script(made, "parallel", at);
    }
}

void analyzer::container(words all, const context& at) {
  for (std::size_t i = 1; i < std::min<std::size_t>(all.size(), 64); ++i) {
    const auto& text = all[i].text;
    if (text != "exec" && text != "run") continue;
    const auto* grammar = find_wrapper(text == "exec" ? "docker exec" : "docker run");
    const auto parsed = parse_options(*grammar, all.subspan(i), 1);
    for (const auto& option : parsed.options)
      if (option.name == "entrypoint") script_word(option.value, "docker", at);
    return wrapper(*grammar, all.subspan(i), at);
  }
}

/// `start-stop-daemon --startas PROGRAM … -- ARGUMENT…`
void analyzer::daemon_starter(words all, const context& at) {
  const auto dashes =
      std::find_if(all.begin(), all.end(), [](const word& w) { return w.text == "--"; });
  if (dashes == all.end()) return;
  const auto own = all.first(static_cast<std::size_t>(dashes - all.begin()));
  for (std::size_t i = 1, option = 1; i < own.size(); option = ++i)
    if (const auto program = option_value(own, i, "ax", "exec startas")) {
      if (program->text.starts_with("--")) i = option;
      std::vector<word> started{*program};
      started.insert(started.end(), dashes + 1, all.end());
      inner_command(started, true, "start-stop-daemon", at);
    }
}

/// `nix run nixpkgs#PROGRAM -- ARGUMENT…`
void analyzer::nix_run(words all, const context& at) {
  const auto is_run = [](const word& w) { return w.text == "run"; };
  const auto run = std::find_if(all.begin() + 1, all.end(), is_run);
  const auto installed = std::find_if(
      run, all.end(), [](const word& w) { return w.text.find('#') != std::string::npos; });
  if (installed == all.end()) return;
  std::vector<word> started(installed, all.end());
  auto& program = started.front().text;
  program.erase(0, program.find('#') + 1);
  program.resize(std::min(program.find('^'), program.size())); // `git^out`
  program.erase(0, program.rfind('.') + 1);                    // `legacyPackages.git`
  if (started.size() > 1 && started[1].text == "--") started.erase(started.begin() + 1);
  inner_command(started, true, "nix", at);
}

/// The commands that xargs makes of an input that is known.
void analyzer::given_words(words inner, std::string_view replaced, std::string_view input,
                           const context& at) {
  constexpr std::size_t most_commands = 256;
  constexpr std::size_t most_words = 4096;
  const std::size_t most = replaced.empty() ? most_words : most_commands;
  std::vector<word> made(inner.begin(), inner.end());
  std::size_t count = 0;
  const std::string_view ends = replaced.empty() ? " \t\n" : "\n";
  for (std::size_t from = 0; from < input.size(); ++count) {
    if (count == most) {
      must_ask("xargs makes too many commands to be read");
      break;
    }
    const auto end = std::min(input.find_first_of(ends, from), input.size());
    const auto piece = input.substr(from, end - from);
    from = end + 1;
    if (replaced.empty()) {
      if (!piece.empty()) made.push_back({.text = std::string(piece)});
      continue;
    }
    made.assign(inner.begin(), inner.end());
    const word value{.text = std::string(piece)};
    for (auto& w : made) {
      w.is_long = w.is_long || w.text.size() > made_left_;
      if (!w.is_long) made_left_ -= w.text.size();
      fill(w, replaced, value, made_left_);
      if (w.is_long) return must_ask("xargs makes commands too long to be read");
    }
    inner_command(made, true, "xargs", at);
  }
  if (replaced.empty()) inner_command(made, true, "xargs", at);
}

} // namespace gatehouse::policy::shell
