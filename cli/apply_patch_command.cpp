#include "cli/apply_patch_command.hpp"

#include "cli/output.hpp"
#include "cli/run_command.hpp"
#include "protocol/patch_call.hpp"

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

constexpr std::string_view example = "gatehouse apply-patch < change.patch";
constexpr std::string_view help = R"(gatehouse apply-patch [options] [PATCH]
Applies one patch (`*** Begin Patch` … `*** End Patch`) through decision, approval and sandbox.
The patch is the argument, or standard input when there is none.

  --profile NAME|JSON   where may be written; default: default_permissions
  --ask POLICY|JSON     untrusted, on-request, granular (JSON) or never
  --cwd DIR             base of relative paths and project root; default: here
  --backend NAME        platform (default) or landlock
  --timeout-ms N        time limit; default: default_timeout_ms (10,000)
  --rules FILE          a further rule file (repeatable)
  --json                one JSON document on standard output, nothing else

A patch that does not fit changes nothing. When the system fails or refuses midway, each file is old
or new as a whole, and the message names those that are new.
Exit status: 0 applied; 1 it cannot be read, does not fit, or a file cannot be written; 125 refused
by policy or reviewer; 120 stopped; 121 no boundary can be built (nothing was written); 124
time-out; 2 wrong usage or configuration, an empty standard input included.
)";

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

} // namespace

int apply_patch_command(arguments given) {
  const known_option known[] = {{"--profile", true},
                                {"--ask", true},
                                {"--cwd", true},
                                {"--backend", true},
                                {"--timeout-ms", true},
                                {"--rules", true, true},
                                {"--json"},
                                {"--help"},
                                {"-h"}};
  // A text of several lines is never an option, whatever it begins with.
  std::optional<std::string> argument;
  if (!given.empty() && std::strchr(given.back(), '\n')) {
    argument = given.back();
    given = given.first(given.size() - 1);
  }
  const auto read = read_options(given, known);
  if (!read) return wrong_usage(read.error().message, example);
  if (read->has("--help") || read->has("-h")) return print(help) ? exit_ok : exit_failed;
  if (read->rest().size() + (argument ? 1 : 0) > 1)
    return wrong_usage("more than one argument: the whole patch is one", example);
  if (!argument && !read->rest().empty()) argument = read->rest().front();
  auto text = argument ? result<std::string>{*std::move(argument)} : read_patch();
  if (!text) {
    complain(text.error());
    return exit_wrong_usage;
  }
  if (text->empty()) return wrong_usage("there is no patch: standard input is empty", example);
  shell_request wish;
  wish.command = std::vector<std::string>{"apply_patch", *std::move(text)};
  return run_call(*read, std::move(wish), report_style::result_only);
}

} // namespace gatehouse::cli
