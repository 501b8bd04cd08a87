#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/rule_files.hpp"
#include "policy/rules/rule_set.hpp"
#include "protocol/check_json.hpp"

#include <cstdlib>

namespace gatehouse::cli {
namespace {

constexpr std::string_view example = "gatehouse policy check --rules my.rules -- git push";
constexpr std::string_view help =
    R"(gatehouse policy check --rules FILE… [--pretty] [--resolve-host-executables] [--] CMD…
Prints which rules match the words of a command and the strictest decision: text only, no shell is
read, no heuristic asked. `gatehouse policy explain` gives the whole decision.

  -r, --rules FILE             a rule file; at least one, read in this order
  --pretty                     indented JSON
  --resolve-host-executables   a program path may match rules for its name

The command starts at the first word that is none of these options.
Exit status: 0 whatever the decision; 1 when a rule file is broken; 2 for wrong usage.
)";

struct check_options {
  std::vector<std::string> rules;
  bool pretty = false;
  bool resolve = false;
  bool help = false;
  std::vector<std::string> command;
};

result<check_options> read_check_options(arguments given) {
  check_options read;
  std::size_t at = 0;
  for (; at < given.size(); ++at) {
    const std::string_view word{given[at]};
    if (word == "--pretty") {
      read.pretty = true;
    } else if (word == "--resolve-host-executables") {
      read.resolve = true;
    } else if (word == "--help" || word == "-h") {
      read.help = true;
      return read;
    } else if (word == "--rules" || word == "-r") {
      if (at + 1 == given.size())
        return error{errc::invalid_request, "`" + std::string{word} + "` needs a file", {}};
      read.rules.emplace_back(given[++at]);
    } else if (word.starts_with("--rules=")) {
      read.rules.emplace_back(word.substr(8));
    } else {
      at += word == "--" ? 1 : 0;
      break;
    }
  }
  for (; at < given.size(); ++at)
    read.command.emplace_back(given[at]);
  if (read.rules.empty()) return error{errc::invalid_request, "--rules is missing", {}};
  if (read.command.empty()) return error{errc::invalid_request, "the command is missing", {}};
  return read;
}

} // namespace

int policy_check_command(arguments given) {
  const auto read = read_check_options(given);
  if (!read) return wrong_usage(read.error().message, example);
  if (read->help) return print(help) ? exit_ok : exit_failed;
  auto files = read_rule_files(read->rules);
  if (complain_about(files)) return exit_failed;
  const policy::rule_set rules{std::move(files)};
  const char* home = std::getenv("HOME");
  const auto matches =
      rules.match(read->command, read->resolve, current_folder(), home ? home : "");
  std::vector<checked_match> rows;
  rows.reserve(matches.size());
  for (const auto& match : matches)
    rows.push_back({match.matched_prefix, match.rule->decision, match.resolved_program,
                    match.rule->justification});
  return print(encode_check(rows, read->pretty)) ? exit_ok : exit_failed;
}

} // namespace gatehouse::cli
