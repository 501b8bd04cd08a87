#pragma once

#include "actors/endpoint/admission.hpp"
#include "actors/endpoint/console_door.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::cli {

/// Where `serve` listens: ws://ADDRESS:PORT (loopback only), unix://PATH, stdio://.
struct listen_address {
  enum class kind : std::uint8_t { tcp, local, stdio };
  kind what = kind::tcp;
  std::string host; ///< IP literal without brackets
  std::uint16_t port = 0;
  std::string path; ///< absolute
};
/// errc::invalid_request names what is wrong.
result<listen_address> read_listen_address(std::string_view text, const std::string& cwd);

/// `--allow-origin`: an origin as browsers write it, so that it can be compared as it is:
/// SCHEME://HOST[:PORT] in lower case, without a path and without the scheme's own port.
/// errc::invalid_request names what could never match.
result<std::string> read_origin(std::string_view text);

/// One place where clients come in; its end closes its connections.
class listener {
public:
  virtual ~listener() = default;
  /// As `--listen` takes it, with the real port.
  [[nodiscard]] virtual std::string url() const = 0;
};

/// Takes a client that has connected and shown its credential. The link holds the port.
using client_taker = std::function<std::unique_ptr<actors::client_link>(
    actors::authority who, std::shared_ptr<actors::client_port> port)>;

/// @param take outlives the listener
/// @param who the authority of a stdio client
/// @param on_stdio_end the stdio client is gone; an error: not by the plain end of its input
/// @param console the door of the console's page; null: there is none; outlives the listener
result<std::unique_ptr<listener>>
open_listener(reactor::event_loop& loop, const client_taker& take, const listen_address& at,
              const actors::admission_terms& admission, actors::authority who,
              std::function<void(const result<void>&)> on_stdio_end,
              actors::console_door* console = nullptr);

} // namespace gatehouse::cli
