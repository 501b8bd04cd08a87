#include "policy/rules/rule_set.hpp"
#include "protocol/check_json.hpp"
#include "tests/support/json_lines.hpp"

#include <algorithm>

#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

std::vector<std::string> strings_of(const boost::json::value& array) {
  std::vector<std::string> strings;
  for (const auto& item : array.as_array())
    strings.emplace_back(item.as_string());
  return strings;
}

/// The words to judge: `command`, or what a recorded command line holds behind `--rules FILE`.
std::vector<std::string> command_of(const boost::json::object& row) {
  const auto* raw = row.if_contains("raw_argv");
  if (!raw) return strings_of(row.at("command"));
  auto words = strings_of(*raw);
  words.erase(words.begin(), words.begin() + 2);
  if (!words.empty() && words.front() == "--") words.erase(words.begin());
  return words;
}

std::vector<rule_file> read_files(const boost::json::object& row) {
  std::vector<std::string> texts{std::string{row.at("rules").as_string()}};
  if (const auto* more = row.if_contains("more_rules"))
    for (auto& text : strings_of(*more))
      texts.push_back(std::move(text));
  std::vector<rule_file> files;
  rule_file_options how;
  how.cwd = "/ws";
  how.layer = rule_layer::command_line;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    files.push_back(read_rule_file(texts[i], "p" + std::to_string(i) + ".rules", how));
    for (const auto& gate : files.back().gates)
      how.earlier_gates.push_back(gate);
  }
  return files;
}

} // namespace

TEST_SUITE("policy.execpolicy_check_cases") {
  TEST_CASE("§21 §22 §23 §24 §133 §D18 every recorded check prints its recorded answer") {
    int rows = 0;
    for (const auto& row : tests::load_cases("execpolicy_check.jsonl")) {
      const auto command = command_of(row);
      if (command.empty()) continue; // wrong usage: the command line's own tests
      ++rows;
      CAPTURE(row.at("id").as_int64());
      CAPTURE(std::string{row.at("note").as_string()});
      auto files = read_files(row);
      for (const auto& file : files)
        for (const auto& problem : file.problems) {
          INFO(problem.where.line << ":" << problem.where.column << " " << problem.message);
          CHECK_MESSAGE(row.at("exit").as_int64() != 0, problem.message);
          CHECK(problem.where.line > 0);
          CHECK(problem.where.column > 0);
        }
      std::vector<std::string> broken_files;
      for (const auto& file : files)
        if (!file.problems.empty()) broken_files.push_back(file.file);
      CHECK(broken_files.empty() == (row.at("exit").as_int64() == 0));
      const rule_set rules{std::move(files)};
      if (!broken_files.empty()) {
        for (const auto& match : rules.match(command, true, "/ws", "/root"))
          CHECK((match.rule->decision != decision::allow ||
                 std::ranges::find(broken_files, match.rule->where.file) == broken_files.end()));
        continue;
      }
      const auto flags = strings_of(row.at("args"));
      const auto has = [&](std::string_view flag) {
        return std::ranges::find(flags, flag) != flags.end();
      };
      std::vector<checked_match> matches;
      for (const auto& match :
           rules.match(command, has("--resolve-host-executables"), "/ws", "/root"))
        matches.push_back({match.matched_prefix, match.rule->decision, match.resolved_program,
                           match.rule->justification});
      CHECK(encode_check(matches, has("--pretty")) ==
            std::string{row.at("stdout_text").as_string()});
    }
    CHECK(rows > 250);
  }
}
