#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// What a channel tells. All run on the loop, never inside a call of ours, and none after
/// `on_close`.
struct channel_events {
  std::function<void(std::string_view)> on_message; ///< one text message
  std::function<void()> on_drained;                 ///< it was full, and now takes more
  std::function<void()> on_close;                   ///< once, last
};

/// One client that exchanges text messages with us, over a WebSocket or line by line. Lives as long
/// as it is open or somebody holds it.
class message_channel {
public:
  virtual ~message_channel() = default;

  /// Set once, before the loop runs on.
  virtual void set_events(channel_events events) = 0;
  /// Queues one message; dropped when it is closed. Never blocks.
  virtual void send(std::string text) = 0;
  /// More waits than the limit: send only what must be sent, until `on_drained`.
  [[nodiscard]] virtual bool full() const noexcept = 0;
  /// Says goodbye after what is queued; `on_close` follows.
  /// @param code of a WebSocket
  virtual void close(std::uint16_t code, std::string reason) = 0;
};
using channel_ptr = std::shared_ptr<message_channel>;

} // namespace gatehouse::reactor
