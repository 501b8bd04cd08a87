#include "policy/shell/analyzer.hpp"
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

} // namespace

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
  auto rest = all.subspan(parsed.command);
  const auto sources = std::find_if(rest.begin(), rest.end(),
                                    [](const word& w) { return w.text.starts_with(":::"); });
  std::vector<word> inner(rest.begin(), sources);
  for (auto& w : inner)
    if (w.text.find("{}") != std::string::npos) put_unknown(w, "{}");
  if (inner.empty()) {
    for (auto source = sources; source != rest.end(); ++source)
      if (!source->text.starts_with(":::")) script_word(*source, "parallel", at);
    if (sources == rest.end()) input_script("parallel", at);
    return;
  }
  if (!parsed.understood) return inner_command(inner, false, "parallel", at);
  joined_script(inner, "parallel", at);
  if (std::ranges::any_of(inner, [](const word& w) { return !w.known; })) return;
  // Without a placeholder, what is taken from the sources stands at the end. Each level of them
  // is read once more for each below.
  constexpr int most_levels = 1;
  constexpr std::size_t most = 64;
  if (at.depth > most_levels || inner.size() > most)
    return unreadable("what `parallel` adds to such a command is not read");
  const auto groups =
      std::count_if(sources, rest.end(), [](const word& w) { return w.text.starts_with(":::"); });
  if (groups != 1 || static_cast<std::size_t>(rest.end() - sources) > most) {
    inner.push_back(unknown_words());
    return joined_script(inner, "parallel", at);
  }
  for (auto source = sources + 1; source != rest.end(); ++source) {
    inner.push_back(*source);
    joined_script(inner, "parallel", at);
    inner.pop_back();
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
    for (auto& w : made)
      for (auto found = w.text.find(replaced); found != std::string::npos;
           found = w.text.find(replaced, found + piece.size()))
        w.text.replace(found, replaced.size(), piece);
    inner_command(made, true, "xargs", at);
  }
  if (replaced.empty()) inner_command(made, true, "xargs", at);
}

} // namespace gatehouse::policy::shell
