#pragma once

#include "actors/endpoint/client_port.hpp"
#include "cli/exec_server_session.hpp"
#include "reactor/worker_pool.hpp"

#include <map>
#include <memory>
#include <string>

namespace gatehouse::cli {

/// The server side of the exec-server protocol (§120): sessions that outlive their connections,
/// processes and files behind our boundary. Requests of one connection run at the same time.
class exec_server_host {
public:
  explicit exec_server_host(exec_server_terms terms);
  ~exec_server_host();
  exec_server_host(const exec_server_host&) = delete;
  exec_server_host& operator=(const exec_server_host&) = delete;

  /// A client has connected. The link holds the port.
  std::unique_ptr<actors::client_link> connected(std::shared_ptr<actors::client_port> port);

private:
  class client;
  class link;

  std::shared_ptr<exec_session> resume(const std::string& id);
  void detach(const std::shared_ptr<exec_session>& gone);

  exec_server_terms terms_;
  reactor::worker_pool workers_;
  std::map<std::string, std::shared_ptr<exec_session>> sessions_;
};

} // namespace gatehouse::cli
