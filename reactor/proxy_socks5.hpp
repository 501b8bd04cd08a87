#pragma once

#include "protocol/network.hpp"

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
/// only. Pure and bounded: a few hundred bytes are ever kept.
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

  /// After `done`. After `bad` what was asked for, where it stands in what came with it, also in a
  /// request of SOCKS4; else empty and 0.
  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] bool udp() const noexcept; ///< after `bad`: it asks for datagrams
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  /// After `bad`: "SOCKS5: UDP is not carried".
  [[nodiscard]] std::string_view why() const noexcept { return why_; }
  /// After `bad`: network_refusal::malformed or not_carried.
  [[nodiscard]] network_refusal reason() const noexcept { return reason_; }

private:
  state step();
  state refuse(socks5_reply code, std::string_view why);
  void read_address(std::string_view request);
  void read_socks4(std::string_view request);
  void name_refused(std::string_view rest);

  std::string bytes_;
  bool greeted_ = false;
  std::string host_;
  std::uint16_t port_ = 0;
  std::string refusal_;
  std::string_view why_;
  network_refusal reason_ = network_refusal::malformed;
};

/// "no authentication": the answer to an acceptable greeting.
std::string socks5_greeting_answer();
/// A reply to the request; the bound address is not told.
std::string socks5_answer(socks5_reply code);

} // namespace gatehouse::reactor
