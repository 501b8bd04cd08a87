#include "cli/remote_session.hpp"

#include "actors/remote_environment.hpp"
#include "config/credentials.hpp"
#include "policy/environment_policy.hpp"
#include "policy/machine_path.hpp"
#include "policy/path_text.hpp"

#include <utility>

namespace gatehouse::cli {
namespace {

error wrong_machine(std::string what, std::string remedy = {}) {
  return {errc::invalid_request, std::move(what), std::move(remedy)};
}

/// An address of this machine: what goes there is not encrypted.
result<reactor::websocket_address> local_address(const std::string& url) {
  auto address = reactor::read_websocket_address(url);
  if (address && !address->local())
    return wrong_machine("this connection is not encrypted, so that it may not leave this machine",
                         "Lead a port of this machine there (ssh -L) and name that one.");
  return address;
}

/// The place that `--exec-server` and its options name.
result<remote_place> unnamed_place(const options& given, const std::string& url) {
  const auto folder = given.value("--exec-cwd");
  const auto cwd = folder ? read_path(*folder) : result<path_uri>{error{}};
  if (!cwd)
    return wrong_machine("--exec-server needs --exec-cwd, an absolute folder of that machine");
  const auto address = local_address(url);
  if (!address)
    return wrong_machine("--exec-server: " + address.error().message, address.error().remedy);
  return remote_place{"remote",
                      "the exec server at " + url,
                      *address,
                      cwd->convention,
                      policy::lexically_normal(rooted_path(*cwd)),
                      given.value("--exec-token-file").value_or("")};
}

} // namespace

result<known_places> known_places::read(const config::named_environments& named) {
  known_places known;
  for (const auto& [id, one] : named.by_name) {
    const auto address = local_address(one.exec_server);
    if (!address)
      return error{errc::invalid_config,
                   config::describe(one.from) + ": environments." + id +
                       ".exec_server: " + address.error().message,
                   address.error().remedy};
    const auto cwd = read_path(one.cwd);
    if (!cwd) return cwd.error(); // cannot be: it has been read
    known.by_id_[id] = {id,
                        "the environment `" + id + "`",
                        *address,
                        cwd->convention,
                        policy::lexically_normal(rooted_path(*cwd)),
                        one.token_file};
  }
  return known;
}

result<remote_place> known_places::find(std::string_view id) const {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) return found->second;
  std::string names{"`" + std::string{local_environment} + "`"};
  for (const auto& [name, place] : by_id_)
    names += ", `" + name + "`";
  return wrong_machine("there is no environment `" + std::string{id} + "`; known are " + names,
                       "[environments.NAME] of the user's own configuration names one.");
}

result<std::shared_ptr<actors::remote_environment>>
remote_connections::to(const remote_place& place) {
  actors::remote_terms terms;
  terms.name = place.name;
  terms.address = place.address;
  terms.paths = place.paths;
  if (!place.token_file.empty()) {
    auto token = config::read_given_token(place.token_file);
    if (!token) return token.error();
    terms.bearer = *std::move(token);
  }
  const auto& at = place.address;
  const auto key = place.id + '\n' + at.host + '\n' + std::to_string(at.port) + '\n' + at.target +
                   '\n' + at.path + '\n' + terms.bearer;
  std::erase_if(open_, [](const auto& one) { return one.second.expired(); });
  if (auto known = open_[key].lock()) return known;
  auto made = std::make_shared<actors::remote_environment>(loop_, std::move(terms));
  open_[key] = made;
  return made;
}

result<void> move_session(actors::thread_terms& terms, const remote_place& place,
                          const std::string& cwd, const std::vector<std::string>& roots,
                          remote_connections& connections) {
  auto& session = terms.session;
  if (session.network)
    return wrong_machine(place.name + " has no managed network, which the profile asks for",
                         "Choose a profile without `domains` of its network.");
  auto connection = connections.to(place);
  if (!connection) return connection.error();
  session.environment_id = place.id;
  terms.hooks.context.environment_id = place.id;
  session.paths = place.paths;
  session.real_roots.clear();
  session.cwd = session.context.cwd = cwd;
  session.context.project_roots = roots;
  session.backend = sandbox_backend::linux_bubblewrap; // whatever stands there; it refuses else
  session.shell = "/bin/sh";
  terms.judgement.elsewhere = true;
  terms.shell.context = session.context;
  policy::environment variables; // beside that machine's own
  policy::add_session_variables(variables);
  terms.shell.environment = policy::to_entries(variables);
  terms.shell.hidden_paths.clear();
  terms.shell.hidden_since = {};
  terms.shell.remote = *std::move(connection);
  return {};
}

result<start_point> load_for_place(const options& given) {
  const bool there = given.value("--environment").value_or("local") != local_environment;
  return load_for(start_wishes{there ? "" : given.value("--cwd").value_or(""), given.value("--ask"),
                               given.value("--profile"), given.value("--backend")});
}

result<void> move_session(actors::thread_terms& terms, const known_places& known,
                          const options& given, reactor::event_loop& loop) {
  const auto url = given.value("--exec-server");
  const auto name = given.value("--environment");
  if (!url)
    for (const auto* option : {"--exec-cwd", "--exec-token-file"})
      if (given.has(option)) return wrong_machine(std::string{option} + " needs --exec-server");
  if (url && name) return wrong_machine("--environment and --exec-server exclude each other");
  if (!url && name.value_or("local") == local_environment) return {};
  const auto place = url ? unnamed_place(given, *url) : known.find(*name);
  if (!place) return place.error();
  const auto cwd =
      url ? result<std::string>{place->cwd}
          : policy::folder_below(place->paths, place->cwd, given.value("--cwd").value_or("."));
  if (!cwd) return cwd.error();
  remote_connections connections{loop};
  return move_session(terms, *place, *cwd, {*cwd}, connections);
}

} // namespace gatehouse::cli
