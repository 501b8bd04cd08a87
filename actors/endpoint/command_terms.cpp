#include "actors/endpoint/command_terms.hpp"

#include "actors/endpoint/refusals.hpp"
#include "actors/random_id.hpp"
#include "protocol/rpc/app_events.hpp"

#include <cstddef>
#include <utility>

namespace gatehouse::actors {

namespace app = rpc::app;

namespace {

constexpr std::size_t longest_process_id = 128; // ids of calls are made from it

json_tree::field field(std::string name, std::int64_t value) {
  return {std::move(name), json_tree{value}};
}
json_tree::field field(std::string name, std::string value) {
  return {std::move(name), json_tree{std::move(value)}};
}

bool says_something(const std::optional<json_tree>& tree) {
  if (!tree) return false;
  const auto* fields = std::get_if<json_tree::object>(&tree->value);
  return !fields || !fields->empty();
}

} // namespace

rpc::failure not_a_clients(std::string_view field) {
  return wrong_params("`" + std::string{field} + "` begins with `" + std::string{command_prefix} +
                      "`, as only the calls of command/exec do. Give another one");
}

std::string command_id(const std::string& process_id) {
  auto id = std::string{command_prefix};
  if (!process_id.empty()) id += process_id + ":";
  return id + random_id();
}

std::optional<rpc::failure> objection_to(const app::command_exec_params& p) {
  const bool tty = p.tty.value_or(false);
  if (p.command.empty()) return refused("`command` is empty", "emptyCommand");
  if (p.sandbox_policy || p.permission_profile)
    return wrong_params(std::string{p.sandbox_policy ? "`sandboxPolicy`" : "`permissionProfile`"} +
                        " is not taken: the profile of the thread decides what its commands may "
                        "touch. Leave it out, or start a thread with a narrower one");
  if (says_something(p.env))
    return wrong_params("`env` is not taken: a command has the environment of its thread. Leave it "
                        "out, or name the variables in the command (`env NAME=VALUE …`), where "
                        "they are judged");
  if (p.disable_output_cap.value_or(false))
    return wrong_params("`disableOutputCap` is not taken: output is kept in bounded memory");
  if (p.output_bytes_cap && (*p.output_bytes_cap < 0 || *p.output_bytes_cap > most_command_output))
    return wrong_params("`outputBytesCap` is 0 to " + std::to_string(most_command_output));
  if (p.timeout_ms && p.disable_timeout.value_or(false))
    return wrong_params("`timeoutMs` and `disableTimeout` exclude each other");
  if (p.timeout_ms && tty)
    return wrong_params("`timeoutMs` is not taken with `tty`: a terminal session has no limit of "
                        "its own. End it with command/exec/terminate");
  if (p.disable_timeout.value_or(false) && !tty)
    return wrong_params("`disableTimeout` is not taken without `tty`: what runs without a terminal "
                        "has a limit. Give `timeoutMs`, up to 86400000");
  if (p.timeout_ms && (*p.timeout_ms < 1 || *p.timeout_ms > 86'400'000))
    return wrong_params("`timeoutMs` is 1 to 86400000");
  if (p.size && !tty) return wrong_params("`size` is for a `tty`");
  if (p.size && !is_size(*p.size)) return wrong_params("`rows` and `cols` are 1 to 1000");
  if (p.stream_stdin.value_or(false) && !tty)
    return wrong_params("`streamStdin` is not taken without `tty`: a command of a thread that has "
                        "no terminal has no input");
  if (p.process_id && (p.process_id->empty() || p.process_id->size() > longest_process_id))
    return wrong_params("`processId` has 1 to " + std::to_string(longest_process_id) + " bytes");
  if (!p.process_id && (tty || p.stream_stdout_stderr.value_or(false)))
    return refused("`processId` is needed with `tty` and with `streamStdoutStderr`", "noProcessId");
  return std::nullopt;
}

app::tool_call_params call_for(const app::command_exec_params& params, std::string call_id) {
  app::tool_call_params call;
  call.thread_id = *params.thread_id;
  call.call_id = std::move(call_id);
  json_tree::array argv;
  for (const auto& word : params.command)
    argv.push_back(json_tree{word});
  json_tree::object arguments;
  arguments.push_back({"argv", json_tree{std::move(argv)}});
  if (params.cwd) arguments.push_back(field("workdir", *params.cwd));
  call.tool = params.tty.value_or(false) ? "exec_command" : "shell_command";
  if (params.tty.value_or(false)) {
    arguments.push_back({"tty", json_tree{true}});
    arguments.push_back(field("max_output_tokens", most_command_output));
    call.timeout_ms = 1;
  } else if (params.timeout_ms) {
    arguments.push_back(field("timeout_ms", *params.timeout_ms));
  }
  call.arguments.value = std::move(arguments);
  return call;
}

app::tool_call_params call_to_type(std::string thread_id, std::string call_id, int session,
                                   std::string text) {
  app::tool_call_params call;
  call.thread_id = std::move(thread_id);
  call.call_id = std::move(call_id);
  call.tool = "write_stdin";
  call.timeout_ms = 1; // nobody waits for what the command says to it
  json_tree::object arguments;
  arguments.push_back(field("session_id", session));
  arguments.push_back(field("chars", std::move(text)));
  arguments.push_back(field("max_output_tokens", most_command_output));
  call.arguments.value = std::move(arguments);
  return call;
}

app::command_exec_result result_from(const call_report& report) {
  const auto outcome = app::result_of(outcome_of(report));
  app::command_exec_result told;
  told.exit_code = exit_status(report);
  told.call_id = report.call_id;
  told.status = outcome.status;
  told.sandbox_denied = outcome.sandbox_denied;
  told.message = report.message;
  return told;
}

bool is_size(const app::terminal_size& size) {
  return size.rows >= 1 && size.rows <= 1000 && size.columns >= 1 && size.columns <= 1000;
}

} // namespace gatehouse::actors
