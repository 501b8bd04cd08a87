#include "cli/remote_session.hpp"

#include "actors/remote_environment.hpp"
#include "policy/environment_policy.hpp"

#include <fstream>
#include <string>
#include <utility>

namespace gatehouse::cli {
namespace {

error wrong(std::string what, std::string remedy = {}) {
  return {errc::invalid_request, std::move(what), std::move(remedy)};
}

result<std::string> token_in(const std::string& path) {
  std::ifstream file{path};
  std::string token;
  if (!file || !std::getline(file, token) || token.empty())
    return wrong("--exec-token-file: no token can be read from '" + path + "'",
                 "It is the file that the exec server names when it starts.");
  return token;
}

} // namespace

result<void> move_to_exec_server(actors::thread_terms& terms, const options& given,
                                 reactor::event_loop& loop) {
  const auto url = given.value("--exec-server");
  const auto folder = given.value("--exec-cwd");
  if (!url) {
    for (const auto* option : {"--exec-cwd", "--exec-token-file"})
      if (given.has(option)) return wrong(std::string{option} + " needs --exec-server");
    return {};
  }
  if (!folder || !folder->starts_with('/'))
    return wrong("--exec-server needs --exec-cwd, an absolute folder of that machine");
  const auto address = reactor::read_websocket_address(*url);
  if (!address) return wrong("--exec-server: " + address.error().message);
  if (!address->local())
    return wrong("--exec-server: this connection is not encrypted, so that it may not leave this "
                 "machine",
                 "Lead a port of this machine there (ssh -L) and name that one.");
  actors::remote_terms remote;
  remote.name = "the exec server at " + *url;
  remote.address = *address;
  if (const auto file = given.value("--exec-token-file")) {
    auto token = token_in(*file);
    if (!token) return token.error();
    remote.bearer = *std::move(token);
  }

  auto& session = terms.session;
  session.environment_id = "remote";
  session.real_roots.clear();
  session.cwd = session.context.cwd = *folder;
  session.context.project_roots = {*folder};
  session.backend = sandbox_backend::linux_bubblewrap; // whatever stands there; it refuses else
  session.shell = "/bin/sh";
  terms.judgement.elsewhere = true;
  terms.shell.context = session.context;
  policy::environment variables; // beside that machine's own
  policy::add_session_variables(variables);
  terms.shell.environment = policy::to_entries(variables);
  terms.shell.hidden_paths.clear();
  terms.shell.remote = std::make_shared<actors::remote_environment>(loop, std::move(remote));
  return {};
}

} // namespace gatehouse::cli
