#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "sandbox/doctor.hpp"

#include <cstdlib>

namespace gatehouse::cli {
int doctor_command(arguments given) {
  const auto words = open_command_line("doctor", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  const char* path = std::getenv("PATH");
  const auto report =
      sandbox::diagnose(sandbox::examine_host(beside_me("gatehouse-sandbox"), path ? path : ""));
  const bool printed = read->has("--json") ? print(sandbox::doctor_json(report))
                                           : print_for_people(sandbox::doctor_text(report));
  if (!printed) return exit_failed;
  return report.enforced() ? exit_ok : exit_failed;
}

} // namespace gatehouse::cli
