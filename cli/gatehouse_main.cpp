// The program `gatehouse`: what needs no actors runs here; the rest is handed to `gatehouse-host`.
#include "cli/audit_command.hpp"
#include "cli/commands.hpp"
#include "cli/exec_server_files.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace {

using namespace gatehouse::cli;

constexpr std::string_view help_text =
    R"(gatehouse: decides, enforces and explains which proposed commands become real.

  gatehouse run [options] -- CMD…           one command through decision, approval and sandbox
  gatehouse apply-patch [options] [PATCH]   one patch through the same; reads standard input
  gatehouse batch [options] FILE            many calls, one JSON line each in and out
  gatehouse load [options] URL              calls against a running server, measured
  gatehouse mcp [options]                   the same as a tool server for agents (MCP)
  gatehouse serve [options]                 the endpoint for IDE extensions: WebSocket, JSON-RPC
  gatehouse sandbox [options] -- CMD…       one command inside the boundary, nobody asked
  gatehouse exec-server [options]           runs what clients of the exec-server protocol send
  gatehouse policy explain [options] -- CMD…  the whole decision about a command; runs nothing
  gatehouse policy check --rules F… CMD…    which rules match a command, text only
  gatehouse policy test F…                  checks the examples of rule files
  gatehouse policy replay --rules F… < JSONL  what other rules would change
  gatehouse audit list | show | export | verify   what was asked, decided and run
  gatehouse doctor [--json]                 what this host can enforce, and the fix for each gap
  gatehouse config show [--json]            every setting in force and where it comes from
  gatehouse --version

`gatehouse COMMAND --help` tells more.
)";

constexpr std::string_view policy_help = R"(gatehouse policy explain | check | test | replay
`gatehouse policy explain --help` and so on tell more.
)";

int say(std::string_view text) {
  return print(text) ? exit_ok : exit_failed;
}

/// Does not return when the program can be started.
int become_host(char** argv) {
  const auto host = beside_me("gatehouse-host");
  if (!host.empty()) ::execv(host.c_str(), argv);
  complain("cannot start " + (host.empty() ? std::string{"gatehouse-host"} : host) + ": " +
           std::strerror(errno) + "\n  next: install gatehouse-host beside gatehouse.");
  return exit_wrong_usage;
}

int policy_command(arguments given) {
  const std::string_view name{given.empty() ? "" : given.front()};
  if (name == "check") return policy_check_command(given.subspan(1));
  if (name == "explain") return policy_explain_command(given.subspan(1));
  if (name == "test") return policy_test_command(given.subspan(1));
  if (name == "replay") return policy_replay_command(given.subspan(1));
  if (name == "--help" || name == "-h") return say(policy_help);
  return wrong_usage(name.empty() ? std::string{"`policy` needs the name of what to do"}
                                  : "`" + std::string{name} + "` is not a command of `policy`",
                     "gatehouse policy explain -- git push");
}

} // namespace

int main(int argc, char** argv) {
  const arguments given{const_cast<const char* const*>(argv) + 1,
                        static_cast<std::size_t>(argc > 1 ? argc - 1 : 0)};
  const std::string_view name{given.empty() ? "" : given.front()};
  for (const auto* host_command :
       {"run", "apply-patch", "serve", "batch", "load", "mcp", "exec-server"})
    if (name == host_command) return become_host(argv);
  if (name == "file-call") return file_call_command();
  if (name == "sandbox") return sandbox_command(given.subspan(1));
  if (name == "policy") return policy_command(given.subspan(1));
  if (name == "doctor") return doctor_command(given.subspan(1));
  if (name == "audit") return audit_command(given.subspan(1));
  if (name == "config") return config_command(given.subspan(1));
  if (name == "--version" || name == "-V") return say("gatehouse " GATEHOUSE_VERSION "\n");
  if (name == "--help" || name == "-h" || name == "help") return say(help_text);
  return wrong_usage(name.empty() ? std::string{"a command is missing"}
                                  : "`" + std::string{name} + "` is not a command",
                     "gatehouse run -- make test (see gatehouse --help)");
}
