#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/rule_files.hpp"
#include "policy/rules/rule_set.hpp"
#include "protocol/check_json.hpp"

#include <cstdlib>

namespace gatehouse::cli {
int policy_check_command(arguments given) {
  const auto words = open_command_line("policy check", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (!read->has("--rules")) return wrong_usage_of("policy check", "--rules is missing");
  if (read->rest().empty()) return wrong_usage_of("policy check", "the command is missing");
  auto files = read_rule_files(read->values("--rules"));
  if (const auto broken = faults_of(files)) return fail(*broken, exit_failed);
  const policy::rule_set rules{std::move(files)};
  const char* home = std::getenv("HOME");
  const auto matches = rules.match(read->rest(), read->has("--resolve-host-executables"),
                                   current_folder(), home ? home : "");
  std::vector<checked_match> rows;
  rows.reserve(matches.size());
  for (const auto& match : matches)
    rows.push_back({match.matched_prefix, match.rule->decision, match.resolved_program,
                    match.rule->justification});
  return print(encode_check(rows, read->has("--pretty"))) ? exit_ok : exit_failed;
}

} // namespace gatehouse::cli
