#include "cli/apply_patch_command.hpp"

#include "cli/output.hpp"
#include "cli/run_command.hpp"
#include "protocol/patch_call.hpp"
#include "protocol/shell_quote.hpp"

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

/// Standard input to its end, or a little more than a patch may have.
result<std::string> read_patch() {
  std::string text;
  char part[65536];
  while (text.size() <= largest_patch_bytes) {
    const ssize_t size = ::read(STDIN_FILENO, part, sizeof part);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0)
      return error{errc::io, std::string{"standard input cannot be read: "} + std::strerror(errno),
                   "give the patch as an argument or on standard input"};
    if (size == 0) break;
    text.append(part, static_cast<std::size_t>(size));
  }
  return text;
}

/// Whoever gives the name of a patch for the patch.
bool names_a_file(const std::string& argument) {
  struct stat about {};
  return argument.find('\n') == std::string::npos && ::stat(argument.c_str(), &about) == 0 &&
         !S_ISDIR(about.st_mode);
}

} // namespace

int apply_patch_command(arguments given) {
  // A text of several lines is never an option, whatever it begins with.
  std::optional<std::string> argument;
  if (!given.empty() && std::strchr(given.back(), '\n')) {
    argument = given.back();
    given = given.first(given.size() - 1);
  }
  const auto words = open_command_line("apply-patch", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (read->rest().size() + (argument ? 1 : 0) > 1)
    return wrong_usage_of("apply-patch", "more than one argument: the whole patch is one");
  if (!argument && !read->rest().empty()) argument = read->rest().front();
  if (argument && names_a_file(*argument))
    return wrong_usage_of(
        "apply-patch",
        error{errc::invalid_request,
              "`" + *argument + "` is a file, and no patch: the argument is the patch itself",
              "Hand the file over on standard input: gatehouse apply-patch < " +
                  shell_quote(*argument)});
  auto text = argument ? result<std::string>{*std::move(argument)} : read_patch();
  if (!text) return fail(text.error(), exit_wrong_usage);
  if (text->empty())
    return wrong_usage_of("apply-patch", "there is no patch: standard input is empty");
  shell_request wish;
  wish.command = std::vector<std::string>{"apply_patch", *std::move(text)};
  return run_call(*read, std::move(wish), report_style::result_only);
}

} // namespace gatehouse::cli
