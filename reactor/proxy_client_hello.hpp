#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// Looks at the first bytes that a client sends through a tunnel: is it TLS, and which server does
/// it name (RFC 8446 §4.1.2, RFC 6066 §3)? Only looks: the bytes are passed on as they are.
class client_hello_reader {
public:
  static constexpr std::size_t most_bytes = std::size_t{64} * 1024;

  enum class state : std::uint8_t {
    more,    ///< may still become a ClientHello
    not_tls, ///< something else; nothing is known about it
    done,    ///< a whole ClientHello; see server_name()
    bad,     ///< begins as TLS and then breaks its rules
  };

  /// @param bytes everything sent so far
  state look(std::string_view bytes);

  /// Unset: the client names no server.
  [[nodiscard]] const std::optional<std::string>& server_name() const noexcept { return name_; }

private:
  state parse(std::string_view hello);
  bool parse_server_names(std::string_view list);

  std::optional<std::string> name_;
};

/// A fatal alert "access denied": what a TLS client gets when its server name is refused.
std::string tls_access_denied();

} // namespace gatehouse::reactor
