#pragma once

#include "actors/endpoint/app_session.hpp"
#include "actors/thread_host.hpp"
#include "reactor/timer.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gatehouse::actors {

struct endpoint_terms {
  thread_book::opener open_thread;
  std::function<result<std::string>(std::string_view tool, const json_tree& arguments)> explain;
  std::function<result<std::vector<rpc::app::profile_summary>>()> profiles;
  std::vector<std::string> sandboxes; ///< told to clients
  /// Makes one call about files inside a boundary (`gatehouse file-call`); empty: there are none.
  std::vector<std::string> file_program{};
  std::string version;
  endpoint_limits limits;
};

/// What `gatehouse serve` does with connections, whatever they run over. Loop's thread.
class endpoint {
public:
  endpoint(thread_host& host, endpoint_terms terms);
  ~endpoint();
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// A client has connected and shown its credential. The link holds the port.
  std::unique_ptr<client_link> connected(authority who, std::shared_ptr<client_port> port);

  /// Ends every thread, so that clients hear how their calls and questions ended, and then the
  /// connections; no thread is started any more.
  void shut_down();
  /// That is done, and every client has gone.
  [[nodiscard]] bool is_over() const;

private:
  class link;
  friend class link;
  struct kept {
    std::shared_ptr<app_session> session;
    link* at = nullptr; ///< the connection it has
    std::unique_ptr<reactor::timer> expiry;
  };

  void lost(const std::string& session_id);
  void hang_up();
  /// Soon, and once for all that ends by then, memory is given back.
  void trim_soon();
  /// Says what is gone with a session that cannot be resumed, and what is not.
  [[nodiscard]] rpc::failure unknown_session(const std::string& id) const;

  thread_host& host_;
  std::string instance_; ///< part of every session id: tells ours from those of a daemon before
  thread_book threads_;
  endpoint_services services_;
  std::map<std::string, kept> sessions_;
  reactor::timer trim_; ///< runs when something large has ended
  bool ending_ = false;
};

} // namespace gatehouse::actors
