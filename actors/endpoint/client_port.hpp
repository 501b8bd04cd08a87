#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace gatehouse::actors {

/// What a connection may do; fixed by its credential (§D13). An agent proposes and reads its own
/// results; a reviewer answers questions and changes policy, and cannot propose.
enum class authority : std::uint8_t { agent, reviewer };

/// Messages of bytes, where a connection has them beside those of text; in one order with these.
class bytes_port {
public:
  virtual ~bytes_port() = default;
  /// One message, `head` and then `bytes`. As client_port::send.
  virtual void send_bytes(std::string head, std::shared_ptr<const std::string> bytes) = 0;
};

/// The way to one connected client. Used on the loop's thread; it never calls back from inside.
class client_port {
public:
  virtual ~client_port() = default;
  /// One message. It is queued; nothing is lost while the connection stands.
  virtual void send(std::string text) = 0;
  /// None: the connection has only text. Lives as long as the port.
  [[nodiscard]] virtual bytes_port* bytes() { return nullptr; }
  /// Bytes that wait because the client reads slowly.
  [[nodiscard]] virtual std::size_t queued_bytes() const = 0;
  /// Ends the connection after what is queued (WebSocket close codes). `lost` still comes.
  virtual void close(int code, const std::string& reason) = 0;
};

/// What a connected client does. Used on the loop's thread.
class client_link {
public:
  virtual ~client_link() = default;
  virtual void received(std::string_view text) = 0;
  /// The client has read; queued_bytes is small again.
  virtual void drained() = 0;
  /// Nothing more comes, but the client still reads: `then` is called when what came has been done.
  virtual void input_over(const std::function<void()>& then) { then(); }
  /// The connection has ended; nothing more comes.
  virtual void lost() = 0;
};

} // namespace gatehouse::actors
