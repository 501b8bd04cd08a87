#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/rule_files.hpp"
#include "policy/rules/rule_set.hpp"
#include "protocol/check_json.hpp"

#include <cstdlib>

namespace gatehouse::cli {
namespace {

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
    } else if (word == "--json") {
      tell_failures_as(failure_document::failure);
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
  tell_failures_as(failure_document::none); // `--json` may also be a word of the command
  const auto read = read_check_options(given);
  if (!read) return wrong_usage_of("policy check", read.error());
  if (read->help) return open_command_line("policy check", given.first(1)).status;
  auto files = read_rule_files(read->rules);
  if (const auto broken = faults_of(files)) return fail(*broken, exit_failed);
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
