#pragma once

#include "cli/exec_server_terms.hpp"
#include "reactor/program_exchange.hpp"
#include "reactor/timer.hpp"
#include "reactor/worker_pool.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::cli {

/// The file side of one session of the exec server: calls inside the boundary, open files, watches
/// for paths that are missing. Loop's thread; nothing is answered after its end.
class exec_session_files {
public:
  /// @param session for the audit
  /// @param notify sends a notification to the client, if it is there
  exec_session_files(const exec_server_terms& terms, std::string session,
                     reactor::worker_pool& workers, std::function<void(std::string)> notify)
      : terms_{terms}, session_{std::move(session)}, workers_{workers}, notify_{std::move(notify)},
        watch_timer_{*terms.host.loop} {}

  /// Made when the audit has it.
  void call(exec_server::file_call call, const exec_reply& answer);
  void open(const exec_server::handle_open& order, const exec_reply& answer);
  void block(exec_server::handle_block order, bool write, const exec_reply& answer);
  void close(const std::string& handle_id) { handles_.erase(handle_id); }
  void watch(const exec_server::watch_missing& order, const exec_reply& answer);

private:
  struct handle {
    std::string path;
    bool replace = false;
    std::optional<exec_server::sandbox_terms> sandbox;
  };

  void perform(exec_server::file_call call, const exec_reply& answer);
  void look_at_watches();

  const exec_server_terms& terms_;
  std::string session_;
  reactor::worker_pool& workers_;
  std::function<void(std::string)> notify_;
  std::map<std::string, handle> handles_;
  std::map<std::uint64_t, std::unique_ptr<reactor::program_exchange>> exchanges_;
  std::uint64_t last_exchange_ = 0;
  std::vector<exec_server::watch_missing> watches_;
  reactor::timer watch_timer_;
  // Work of other threads must not come back to a session that is gone.
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

} // namespace gatehouse::cli
