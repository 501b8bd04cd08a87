#pragma once

#include "actors/endpoint/client_writer.hpp"
#include "protocol/rpc/app_events.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse::actors {

/// The threads that one session follows, and how far its client has been told of each. A client
/// that reads slowly, or is away, gets what it missed from the thread's log when it reads again.
/// Loop's thread.
class event_feed : public std::enable_shared_from_this<event_feed> {
public:
  /// @param most_bytes of one message
  event_feed(client_writer& out, std::size_t most_bytes) : out_{out}, most_bytes_{most_bytes} {}

  /// A person is behind the client's next connection. @pre no connection stands
  void can_be_asked(bool yes) noexcept { answers_ = yes; }

  /// @param after unset: from here on; else also what is kept since then
  void follow(const std::shared_ptr<thread_entry>& entry, std::optional<std::uint64_t> after);
  void unfollow(const std::string& thread_id);
  void unfollow_all();
  /// Nothing more comes of the thread; its client is told, now or when it reads again.
  void closed(const thread_entry& entry);

  /// The connection is gone: the threads must know that a reviewer is.
  void detach();
  /// Sends what was missed: after a resumption, and when a slow client reads again.
  void catch_up();

  /// The question that this connection was sent under the id, and its thread; none: it was not, or
  /// the question no longer stands.
  [[nodiscard]] std::pair<std::shared_ptr<thread_entry>, const thread_watch::question*>
  find_offered(const std::string& review_id) const;

private:
  class subscription;
  struct ended {
    std::string thread_id;
    std::uint64_t sent_seq = 0, last_seq = 0;
  };

  void hear(subscription& from, const thread_event_ptr& event);
  /// The message about an event, as far as it goes into one.
  [[nodiscard]] std::optional<rpc::app::outgoing> message_of(const subscription& of,
                                                             const thread_event& event) const;
  /// Asks the client a question that this connection was not sent yet.
  void offer(subscription& to, const thread_event_ptr& asked);
  void tell_status(subscription& to);
  void tell_ended(const ended& what);

  client_writer& out_;
  bool answers_ = false;
  std::size_t most_bytes_;
  std::map<std::string, std::shared_ptr<subscription>> subscriptions_; ///< by thread
  std::vector<ended> unsaid_; ///< threads that were closed while the client was away or behind
};

} // namespace gatehouse::actors
