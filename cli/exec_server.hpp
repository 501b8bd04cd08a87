#pragma once

#include "actors/endpoint/client_port.hpp"
#include "cli/exec_server_process.hpp"
#include "reactor/program_exchange.hpp"
#include "reactor/worker_pool.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace gatehouse::cli {

struct exec_server_terms {
  exec_host host;
  exec_server::environment_info info;
  std::chrono::milliseconds detached{80'000}; ///< how long a session outlives its connection
};

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
  class session;
  class client;
  class link;

  std::shared_ptr<session> resume(const std::string& id);
  void detach(const std::shared_ptr<session>& gone);

  exec_server_terms terms_;
  reactor::worker_pool workers_;
  std::map<std::string, std::shared_ptr<session>> sessions_;
};

} // namespace gatehouse::cli
