#pragma once

#include "protocol/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gatehouse::config {

/// A running `gatehouse serve`, as other programs of the same user find it.
struct daemon_record {
  std::vector<std::string> urls;   ///< ws://… and unix://…, where it listens
  std::string reviewer_token_file; ///< absolute
  std::string root;                ///< absolute: where its agents may work
};

/// The record of this process: `daemons/PID` in the state folder (file 0600, folder 0700), locked
/// as long as this object lives and removed at its end. A lock and not the number says that the
/// daemon lives: numbers come again.
class published_daemon {
public:
  /// errc::io when it cannot be written; errc::invalid_config when the state folder is somebody
  /// else's; errc::invalid_request for text that is not one line.
  static result<std::unique_ptr<published_daemon>> publish(const std::string& state,
                                                           const daemon_record& record);
  ~published_daemon();
  published_daemon(const published_daemon&) = delete;
  published_daemon& operator=(const published_daemon&) = delete;

private:
  published_daemon(std::string path, int fd) : path_{std::move(path)}, fd_{fd} {}
  std::string path_;
  int fd_;
};

/// The daemons that run; records of dead ones are removed.
std::vector<daemon_record> running_daemons(const std::string& state);

} // namespace gatehouse::config
