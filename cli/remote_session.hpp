#pragma once

#include "actors/thread_terms.hpp"
#include "cli/option_reader.hpp"
#include "cli/settings_options.hpp"
#include "config/environments.hpp"
#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/websocket_client.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::cli {

constexpr std::string_view local_environment = "local";

/// Another machine that calls may run on (§7).
struct remote_place {
  std::string id;   ///< of the environment; "remote": the one of `--exec-server`
  std::string name; ///< for messages
  reactor::websocket_address address;
  path_convention paths = path_convention::posix;
  std::string cwd;        ///< the folder to work in where none is named; rooted, normal
  std::string token_file; ///< empty: its server wants no token
};

/// What the configuration calls environments, each with an address that can be used.
class known_places {
public:
  /// Errors name file and line.
  static result<known_places> read(const config::named_environments& named);

  /// errc::invalid_request names those that there are.
  [[nodiscard]] result<remote_place> find(std::string_view id) const;

private:
  std::map<std::string, remote_place, std::less<>> by_id_;
};

/// The connections of a program: one for each machine, shared by the threads that work there, for
/// as long as there are such. Loop's thread.
class remote_connections {
public:
  /// @param loop outlives this and the threads
  explicit remote_connections(reactor::event_loop& loop) : loop_{loop} {}
  /// Connects with the first command. Another address or token than last time is another
  /// connection. Errors: the token cannot be read.
  result<std::shared_ptr<actors::remote_environment>> to(const remote_place& place);

private:
  reactor::event_loop& loop_;
  std::map<std::string, std::weak_ptr<actors::remote_environment>> open_; ///< by all that differs
};

/// Everything of the session runs at `place` (§7): folder, shell, paths, approvals and grants are
/// that machine's. Errors: the token, or a profile that cannot be had there.
/// @param cwd rooted, normal, of that machine. @param roots the workspace there
result<void> move_session(actors::thread_terms& terms, const remote_place& place,
                          const std::string& cwd, const std::vector<std::string>& roots,
                          remote_connections& connections);

/// The settings for a command line that may say where its calls run. With `--environment` of
/// another machine `--cwd` is a folder there, and the configuration is that of the folder here.
result<start_point> load_for_place(const options& given);

/// Moves the session where `--environment NAME`, or `--exec-server URL` with `--exec-cwd` and
/// `--exec-token-file`, say; without them nothing changes. Errors are about these options.
result<void> move_session(actors::thread_terms& terms, const known_places& known,
                          const options& given, reactor::event_loop& loop);

} // namespace gatehouse::cli
