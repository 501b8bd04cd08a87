#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/rule_files.hpp"

namespace gatehouse::cli {
namespace {

constexpr std::string_view example = "gatehouse policy test ~/.gatehouse/rules/*.rules";
constexpr std::string_view help = R"(gatehouse policy test FILE…
Reads rule files in this order, as one layer, and checks their match and not_match examples.
Exit status: 0 when all is well; 1 with file:line:col for everything that is not; 2 for wrong usage.
)";

} // namespace

int policy_test_command(arguments given) {
  const known_option known[] = {{"--help"}, {"-h"}};
  const auto read = read_options(given, known);
  if (!read) return wrong_usage(read.error().message, example);
  if (read->has("--help") || read->has("-h")) return print(help) ? exit_ok : exit_failed;
  if (read->rest().empty()) return wrong_usage("the rule files are missing", example);
  const auto files = read_rule_files(read->rest());
  const bool broken = complain_about(files);
  std::string out;
  for (const auto& file : files)
    out += file.file + ": " + std::to_string(file.rules.size()) + " rules, " +
           std::to_string(file.gates.size()) + " gates, " + std::to_string(file.network.size()) +
           " network rules, " + std::to_string(file.problems.size()) + " problems\n";
  if (!print(out)) return exit_failed;
  return broken ? exit_failed : exit_ok;
}

} // namespace gatehouse::cli
