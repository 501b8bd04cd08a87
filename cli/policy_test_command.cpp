#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/rule_files.hpp"

#include "protocol/json_writer.hpp"
#include "protocol/visible_text.hpp"

namespace gatehouse::cli {
namespace {

std::string findings_as_text(const std::vector<policy::rule_file>& files) {
  std::string out;
  for (const auto& file : files)
    out += visible_words(file.file) + ": " + std::to_string(file.rules.size()) + " rules, " +
           std::to_string(file.gates.size()) + " gates, " + std::to_string(file.network.size()) +
           " network rules, " + std::to_string(file.problems.size()) + " problems\n";
  return out;
}

std::string findings_as_json(const std::vector<policy::rule_file>& files) {
  json_writer json;
  const auto number = [&](std::string_view name, std::int64_t value) {
    json.key(name);
    json.number(value);
  };
  json.open('{');
  json.key("files");
  json.open('[');
  for (const auto& file : files) {
    json.item();
    json.open('{');
    json.field("file", file.file);
    number("rules", std::ssize(file.rules));
    number("gates", std::ssize(file.gates));
    number("network_rules", std::ssize(file.network));
    json.key("problems");
    json.open('[');
    for (const auto& problem : file.problems) {
      json.item();
      json.open('{');
      number("line", problem.where.line);
      number("column", problem.where.column);
      json.field("message", problem.message);
      json.close('}');
    }
    json.close(']');
    json.close('}');
  }
  json.close(']');
  json.close('}');
  return std::move(json).take() + "\n";
}

} // namespace

int policy_test_command(arguments given) {
  const auto words = open_command_line("policy test", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (read->rest().empty()) return wrong_usage_of("policy test", "the rule files are missing");
  const auto files = read_rule_files(read->rest());
  const bool broken = complain_about(files);
  if (!(read->has("--json") ? print(findings_as_json(files))
                            : print_for_people(findings_as_text(files))))
    return exit_failed;
  return broken ? exit_failed : exit_ok;
}

} // namespace gatehouse::cli
