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

int say(std::string_view text) {
  return print(text) ? exit_ok : exit_failed;
}

/// Does not return when the program can be started.
int become_host(char** argv) {
  const auto host = beside_me("gatehouse-host");
  if (!host.empty()) ::execv(host.c_str(), argv);
  return fail({gatehouse::errc::not_found,
               "cannot start " + (host.empty() ? std::string{"gatehouse-host"} : host) + ": " +
                   std::strerror(errno),
               "install gatehouse-host beside gatehouse."},
              exit_wrong_usage);
}

int policy_command(arguments given) {
  const std::string_view name{given.empty() ? "" : given.front()};
  if (name == "check") return policy_check_command(given.subspan(1));
  if (name == "explain") return policy_explain_command(given.subspan(1));
  if (name == "test") return policy_test_command(given.subspan(1));
  if (name == "replay") return policy_replay_command(given.subspan(1));
  return group_command("policy", given);
}

} // namespace

int main(int argc, char** argv) {
  const arguments given{const_cast<const char* const*>(argv) + 1,
                        static_cast<std::size_t>(argc > 1 ? argc - 1 : 0)};
  const std::string_view name{given.empty() ? "" : given.front()};
  tell_failures_as(document_asked_for(given));
  if (const auto* command = find_command(name); command && command->host) return become_host(argv);
  if (name == "file-call") return file_call_command();
  if (name == "sandbox") return sandbox_command(given.subspan(1));
  if (name == "policy") return policy_command(given.subspan(1));
  if (name == "doctor") return doctor_command(given.subspan(1));
  if (name == "audit") return audit_command(given.subspan(1));
  if (name == "config") return config_command(given.subspan(1));
  if (name == "--version" || name == "-V") return say("gatehouse " GATEHOUSE_VERSION "\n");
  if (name == "completions") return completions_command(given.subspan(1));
  if (name == "man") return man_command(given.subspan(1));
  if (name == "help") return help_command(given.subspan(1));
  if (name == "--help" || name == "-h") return help_command({});
  if (name.empty())
    return wrong_usage({gatehouse::errc::invalid_request, "a command is missing", {}},
                       "gatehouse run -- make test\n  all commands: gatehouse --help");
  return no_such_command(name);
}
