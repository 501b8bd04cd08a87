#pragma once

#include "actors/endpoint/client_port.hpp"
#include "cli/exec_server_session_files.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::cli {

/// What belongs to one client of the exec server, attached or not: its processes and files.
/// Requests run at the same time. Loop's thread.
class exec_session {
public:
  exec_session(exec_server_terms& terms, reactor::worker_pool& workers);

  void call(const exec_server::incoming& request, exec_reply answer);
  /// @param binary output goes over its `bytes` (protocol/exec_output.hpp), else as text
  void attach(std::shared_ptr<actors::client_port> channel, bool binary);
  void detach();
  [[nodiscard]] bool attached() const noexcept { return channel_ != nullptr; }
  /// The client reads again.
  void drained();

  const std::string id;
  reactor::timer expiry; ///< the host's: the end of a session that nobody comes back to

private:
  void start(exec_server::process_start what, const exec_reply& answer);
  void start_answered(const std::string& process_id, const std::string& result,
                      const std::optional<exec_server::failure>& why);
  exec_process* find(const std::string& process_id);
  exec_sink sink();

  exec_server_terms& terms_;
  std::shared_ptr<actors::client_port> channel_;
  actors::bytes_port* bytes_ = nullptr; ///< of `channel_`, when its client wants output so
  std::map<std::string, std::unique_ptr<exec_process>> processes_;
  std::vector<std::string> started_; ///< the names of `processes_`, oldest first
  std::vector<std::unique_ptr<exec_process>> failed_;
  /// A start that has not been answered, and those that repeat it after their line was cut.
  struct open_start {
    exec_server::process_start what;
    std::vector<exec_reply> waiting;
  };
  std::map<std::string, open_start> starting_; ///< by process id
  exec_session_files files_;
};

} // namespace gatehouse::cli
