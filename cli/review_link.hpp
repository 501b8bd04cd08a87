#pragma once

#include "cli/review_board.hpp"
#include "protocol/error.hpp"
#include "protocol/rpc/app_types.hpp"
#include "protocol/rpc/envelope.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/timer.hpp"
#include "reactor/websocket_client.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::cli {

struct review_link_events {
  /// The daemon is there; all questions that stand, oldest first. Again after each reconnect.
  std::function<void(const std::vector<rpc::app::approval_request>&)> on_standing;
  std::function<void(const rpc::app::approval_request&)> on_asked;
  std::function<void(const rpc::app::request_resolved&)> on_resolved;
  /// An answer was taken; or was not, with the daemon's words.
  std::function<void(const std::string& request_id, const std::string& why_not)> on_answered;
  /// The answer to explain().
  std::function<void(const std::string& why)> on_explained;
  /// The connection is gone; it is tried again by itself.
  std::function<void(const std::string& why)> on_lost;
  /// It makes no sense to try again: a wrong token, an agent's, another protocol.
  std::function<void(const error&)> on_hopeless;
};

/// A reviewer's connection to a daemon, made again whenever it is lost. Used on the loop's thread.
class review_link {
public:
  /// @param token read anew for each attempt, since a daemon may make a new one
  review_link(reactor::event_loop& loop, reactor::websocket_address to,
              std::function<std::string()> token, review_link_events events);

  /// Ignored while there is no connection: the question is offered again.
  void answer(const board_answer& what);
  /// Likewise. Why the question is asked, in words.
  void explain(const board_why& what);

private:
  void connect();
  void heard(std::string_view text);
  void response(const rpc::message& message, std::string_view text);
  void closed(const reactor::websocket_end& end);

  reactor::event_loop& loop_;
  reactor::websocket_address to_;
  std::function<std::string()> token_;
  review_link_events events_;
  reactor::timer again_;
  std::unique_ptr<reactor::websocket_client> client_;
  std::chrono::milliseconds wait_{0};
  bool standing_ = false;
  std::map<std::string, std::string> answers_; ///< by id of our request: the question's id
  std::uint64_t next_ = 0;
};

} // namespace gatehouse::cli
