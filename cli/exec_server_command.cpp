#include "cli/exec_server_command.hpp"

#include "cli/audit_reading.hpp"
#include "cli/audit_setup.hpp"
#include "cli/exec_server.hpp"
#include "cli/output.hpp"
#include "cli/own_program.hpp"
#include "cli/serve_listeners.hpp"
#include "cli/token_flags.hpp"
#include "config/credentials.hpp"
#include "config/environments.hpp"
#include "config/live_token_files.hpp"
#include "config/locations.hpp"
#include "config/private_file.hpp"
#include "config/user_shell.hpp"
#include "policy/path_text.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/utf8.hpp"
#include "protocol/visible_text.hpp"
#include "reactor/signals.hpp"
#include "sandbox/command_environment.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <unistd.h>

extern "C" char** environ;

namespace gatehouse::cli {
namespace {

std::string variable_or(const char* name, const std::string& fallback) {
  const char* value = std::getenv(name);
  return value && *value == '/' ? std::string{value} : fallback;
}

exec_server_terms server_terms(reactor::event_loop& loop, const config::locations& where,
                               bool allow_unsandboxed) {
  exec_server_terms terms;
  terms.host.loop = &loop;
  terms.host.helper = beside_me("gatehouse-sandbox");
  terms.host.own = beside_me("gatehouse");
  std::size_t count = 0;
  while (environ[count])
    ++count;
  terms.host.environment = sandbox::inherited_environment({environ, count});
  terms.host.protected_paths = own_programs();
  if (!where.state.empty()) terms.host.protected_paths.push_back(where.state);
  terms.host.allow_unsandboxed = allow_unsandboxed;
  terms.info.shell_path = config::user_shell();
  terms.info.shell_name = std::filesystem::path{terms.info.shell_path}.filename();
  terms.info.version = GATEHOUSE_VERSION;
  std::error_code ec;
  terms.info.cwd = std::filesystem::current_path(ec).string();
  terms.info.home = where.user_home.empty() ? "/" : where.user_home;
  terms.info.tmpdir = variable_or("TMPDIR", "/tmp");
  return terms;
}

/// What clients need to connect, for programs.
std::string listening_json(const std::string& url, const std::string& token_file) {
  json_writer out;
  out.open('{');
  out.key("urls");
  out.open('[');
  out.item();
  out.text(url);
  out.close(']');
  if (!token_file.empty()) out.field("token_file", to_valid_utf8(token_file));
  out.close('}');
  return std::move(out).take() + "\n";
}

} // namespace

int exec_server_command(arguments given) {
  const auto words = open_command_line("exec-server", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  auto listen = read->value("--listen").value_or("ws://127.0.0.1:0");
  if (listen == "stdio") listen = "stdio://";
  std::error_code ec;
  const auto folder = std::filesystem::current_path(ec).string();
  const auto at = read_listen_address(listen, folder);
  if (!at) return wrong_usage_of("exec-server", at.error());
  const auto given_token = ws_token_of(*read, folder, "--token-file");
  if (!given_token) return wrong_usage_of("exec-server", given_token.error());
  if (read->has("--no-auth") && (read->value("--token-file") || *given_token))
    return wrong_usage_of("exec-server", "--no-auth and a token exclude each other");
  const auto ttl = read->whole_number("--session-ttl-ms", 0, 86'400'000);
  if (!ttl) return wrong_usage_of("exec-server", ttl.error());
  const auto where = config::locations_from_environment();
  reactor::event_loop loop;
  auto terms = server_terms(loop, where, read->has("--allow-unsandboxed"));
  terms.detached = std::chrono::milliseconds{ttl->value_or(80'000)};
  auto audit = open_audit(where, loop);
  if (!audit) return fail(audit.error(), exit_wrong_usage);
  terms.host.audit = *std::move(audit);
  // A command that reads a token can start others without its client; what others did is not for
  // it either.
  std::vector<std::string> hidden;
  if (!where.state.empty()) hidden = {where.state + "/tokens", audit_folder(where)};
  const bool stdio = at->what == listen_address::kind::stdio;
  if (stdio && read->has("--json"))
    return wrong_usage_of("exec-server", "--json and stdio exclude each other: messages are all "
                                         "that standard output is for then");
  std::string token_file; // that clients read
  actors::admission_terms admission;
  admission.own_uid = ::geteuid();
  admission.open_to_agents = read->has("--no-auth");
  admission.agent_token = *given_token;
  if (const auto file = read->value("--ws-token-file"))
    hidden.push_back(token_file = policy::absolute_below(folder, *file));
  if (!stdio && !admission.open_to_agents && !admission.agent_token) {
    const auto path = policy::absolute_below(
        folder, read->value("--token-file").value_or(where.state + "/tokens/exec.token"));
    const auto own = config::require_own_folder(where.state);
    auto token = own ? config::read_or_make_token(path) : result<std::string>{own.error()};
    if (!token) return fail(token.error(), exit_wrong_usage);
    admission.agent_token = actors::sha256_of(*token);
    if (read->value("--token-file")) hidden.push_back(path);
    print_error("token: " + visible_words(path) + "\n");
    token_file = path;
  }

  // Nor are the tokens that this user holds of other servers for what runs here.
  const auto others = config::load_environments(where);
  if (!others) return fail(others.error(), exit_wrong_usage);
  terms.host.hidden_paths = [hidden, tokens = config::live_token_files{where, *others}]() mutable {
    auto all = tokens.now();
    all.insert(all.end(), hidden.begin(), hidden.end());
    return all;
  };

  bool stopped = false;
  std::optional<error> failed;
  const auto signals =
      reactor::signal_watch::open(loop, {SIGINT, SIGTERM, SIGHUP}, [&](int) { stopped = true; });
  if (!signals) complain(signals.error());
  exec_server_host host{std::move(terms)};
  const auto opened = open_listener(
      loop,
      [&host](actors::authority, std::shared_ptr<actors::client_port> port) {
        return host.connected(std::move(port));
      },
      *at, admission, actors::authority::agent,
      [&](const result<void>& how) {
        if (!how) failed = how.error();
        stopped = true;
      });
  if (!opened) return fail(opened.error(), exit_failed);
  if (!stdio && !print(read->has("--json") ? listening_json((*opened)->url(), token_file)
                                           : (*opened)->url() + "\n"))
    return exit_failed;
  loop.run_until([&] { return stopped; });
  if (!failed) return exit_ok;
  return fail(*failed, exit_failed);
}

} // namespace gatehouse::cli
