#include "policy/canonical_command.hpp"

#include "policy/command_words.hpp"
#include "policy/shell/segments.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

/// zsh replaces `=name` at the start of a word by the path of a program.
bool reads_as_bash(std::string_view shell, const std::vector<std::string>& words) {
  return shell != "zsh" || std::none_of(words.begin(), words.end(),
                                        [](const auto& word) { return word.starts_with('='); });
}

} // namespace

canonical_command canonical_form(std::span<const std::string> argv) {
  if (!is_shell_wrapper(argv)) return std::vector<std::string>{argv.begin(), argv.end()};
  const std::string shell{program_name(argv[0])};
  auto commands = plain_commands(argv[2]);
  if (commands && commands->size() == 1 && reads_as_bash(shell, commands->front()))
    return std::move(commands->front());
  return shell_script{shell, argv[1], argv[2]};
}

} // namespace gatehouse::policy
