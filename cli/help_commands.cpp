// `gatehouse help`, `completions` and `man`: what the table of commands says, in three forms.
#include "cli/commands.hpp"
#include "cli/help_text.hpp"
#include "cli/man_page.hpp"
#include "cli/output.hpp"
#include "cli/shell_completions.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

int say(std::string_view text) {
  return print(text) ? exit_ok : exit_failed;
}

std::string joined(std::span<const std::string> words) {
  std::string name;
  for (const auto& word : words)
    name += (name.empty() ? "" : " ") + word;
  return name;
}

/// Says whether the whole text is in the file.
bool write_file(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool written = fd >= 0;
  while (written && !text.empty()) {
    const auto count = ::write(fd, text.data(), text.size());
    written = count > 0 || (count < 0 && errno == EINTR);
    text.remove_prefix(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  const int number = errno;
  if (fd >= 0 && ::close(fd) != 0) written = false;
  if (!written)
    complain({errc::io, "cannot write " + path + ": " + std::strerror(number),
              "name a folder that is there and that you may write."});
  return written;
}

int write_all_pages(const std::string& folder) {
  if (!write_file(folder + "/gatehouse.1", man_page_of_all())) return exit_failed;
  for (const auto& command : commands())
    if (!write_file(folder + "/" + man_page_name(command), man_page(command))) return exit_failed;
  return exit_ok;
}

} // namespace

int no_such_command(std::string_view name) {
  if (name.starts_with('-'))
    return wrong_usage({errc::invalid_request,
                        "`" + std::string{name} +
                            "` stands where a command must; put the option behind the command",
                        {}},
                       "gatehouse run --json -- make test\n  all commands: gatehouse --help");
  const auto meant = nearest_command(name);
  return wrong_usage(
      {errc::invalid_request,
       "`" + std::string{name} + "` is not a command" +
           (meant.empty() ? std::string{} : "; did you mean `" + std::string{meant} + "`?"),
       {}},
      "gatehouse run -- make test\n  all commands: gatehouse --help");
}

int help_command(arguments given) {
  const auto words = read_options(given, help_words());
  if (!words)
    return wrong_usage(words.error(), "gatehouse help run\n  all commands: gatehouse --help");
  const auto name = joined(words->rest());
  if (name.empty() || words->has("--help")) return say(list_of_commands());
  if (name == "exit-status") return say(exit_status_text());
  if (const auto* command = find_command(name)) return say(help_of(*command));
  if (const auto group = list_of_group(name); !group.empty()) return say(group);
  return no_such_command(name);
}

int group_command(std::string_view group, arguments given) {
  const std::string_view name{given.empty() ? "" : given.front()};
  if (name == "--help" || name == "-h") return say(list_of_group(group));
  const auto first = list_of_group(group);
  std::string names;
  for (const auto& command : commands())
    if (command.name.starts_with(std::string{group} + " "))
      names += (names.empty() ? "" : ", ") + std::string{command.name.substr(group.size() + 1)};
  const auto what =
      name.empty() ? "`" + std::string{group} + "` needs the name of what to do"
                   : "`" + std::string{name} + "` is not a command of `" + std::string{group} + "`";
  return wrong_usage({errc::invalid_request, what + ": " + names, {}},
                     "gatehouse " + std::string{group} + " --help");
}

int completions_command(arguments given) {
  const auto line = open_command_line("completions", given);
  if (!line.given) return line.status;
  const auto script =
      line.given->rest().size() == 1 ? completion_script(line.given->rest().front()) : "";
  if (script.empty()) return wrong_usage_of("completions", "name one shell: bash, zsh or fish");
  return say(script);
}

int man_command(arguments given) {
  const auto line = open_command_line("man", given);
  if (!line.given) return line.status;
  if (const auto folder = line.given->value("--all")) {
    if (!line.given->rest().empty())
      return wrong_usage_of("man", "--all and a command exclude each other");
    return write_all_pages(*folder);
  }
  const auto name = joined(line.given->rest());
  if (name.empty()) return say(man_page_of_all());
  const auto* command = find_command(name);
  return command ? say(man_page(*command)) : no_such_command(name);
}

} // namespace gatehouse::cli
