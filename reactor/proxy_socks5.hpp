#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// Reply codes of RFC 1928.
enum class socks5_reply : std::uint8_t {
  succeeded = 0,
  general_failure = 1,
  not_allowed = 2,
  network_unreachable = 3,
  host_unreachable = 4,
  refused = 5,
  expired = 6,
  command_not_supported = 7,
  address_type_not_supported = 8,
};

/// The client's half of a SOCKS5 conversation (RFC 1928), without authentication and with CONNECT
/// only. Pure and bounded: at most 257 bytes are ever kept.
class socks5_reader {
public:
  enum class state : std::uint8_t {
    more,    ///< feed further bytes
    greeted, ///< once: send `greeting_answer`, then go on
    done,    ///< host and port are known
    bad,     ///< send `refusal`, then close
  };

  /// Reads `bytes`, which begin where the last call ended, up to the next state other than `more`.
  /// `taken`: how many were read; the rest belongs to what follows.
  state feed(std::string_view bytes, std::size_t& taken);

  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  /// After `bad`: "SOCKS5: UDP is not carried".
  [[nodiscard]] std::string_view why() const noexcept { return why_; }

private:
  state step();
  state refuse(socks5_reply code, std::string_view why);

  std::string bytes_;
  bool greeted_ = false;
  std::string host_;
  std::uint16_t port_ = 0;
  std::string refusal_;
  std::string_view why_;
};

/// "no authentication": the answer to an acceptable greeting.
std::string socks5_greeting_answer();
/// A reply to the request; the bound address is not told.
std::string socks5_answer(socks5_reply code);

} // namespace gatehouse::reactor
