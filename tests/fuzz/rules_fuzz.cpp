// The rule language: no text crashes it, a broken file allows nothing, and every rule that was read
// matches its own pattern.
#include "policy/rules/rule_set.hpp"
#include "tests/fuzz/fuzz_support.hpp"

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = text_of(data, size);
  auto file = read_rule_file(text, "fuzz.rules", {});
  const bool broken = !file.problems.empty();
  must(!file.unreadable || broken, "a file that could not be read says why");
  for (const auto& problem : file.problems)
    must(!problem.message.empty() && problem.where.line >= 0, "a problem says what and where");

  std::vector<std::vector<std::string>> commands;
  std::size_t restrictive = 0;
  for (const auto& rule : file.rules) {
    restrictive += rule.decision != decision::allow;
    if (commands.size() >= 64) continue;
    auto& command = commands.emplace_back();
    for (const auto& alternatives : rule.pattern)
      command.push_back(alternatives.back());
  }
  const auto rules_read = file.rules;
  std::vector<rule_file> files;
  files.push_back(std::move(file));
  const rule_set rules{std::move(files)};
  must(rules.has_restrictive_rules() == (restrictive > 0), "restrictive rules survive");
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto& command = commands[i];
    const auto found = rules.match_at_run_time(command, {});
    for (const auto& match : found)
      must(match.rule->decision != decision::allow || !broken, "a broken file allows nothing");
    if (rules_read[i].decision != decision::allow)
      must(!found.empty() && strictest(found) >= rules_read[i].decision,
           "a restriction fires on its own pattern");
    (void)rules.match(command, true, "/", "/home/user");
  }
  return 0;
}
