#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "sandbox/doctor.hpp"

#include <cstdlib>

namespace gatehouse::cli {
namespace {

constexpr std::string_view help = R"(gatehouse doctor [--json]
Tries what the boundary needs on this host and names the fix for each gap.
Exit status: 0 when commands can be sandboxed here; 1 when not; 2 for wrong usage.
)";

} // namespace

int doctor_command(arguments given) {
  constexpr std::string_view example = "gatehouse doctor --json";
  const known_option known[] = {{"--json"}, {"--help"}, {"-h"}};
  const auto read = read_options(given, known);
  if (!read) return wrong_usage(read.error().message, example);
  if (!read->rest().empty())
    return wrong_usage("`" + read->rest().front() + "` is one word too many", example);
  if (read->has("--help") || read->has("-h")) return print(help) ? exit_ok : exit_failed;
  const char* path = std::getenv("PATH");
  const auto report =
      sandbox::diagnose(sandbox::examine_host(beside_me("gatehouse-sandbox"), path ? path : ""));
  if (!print(read->has("--json") ? sandbox::doctor_json(report) : sandbox::doctor_text(report)))
    return exit_failed;
  return report.enforced() ? exit_ok : exit_failed;
}

} // namespace gatehouse::cli
