#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// What a ClientHello says in the clear (RFC 8446 §4.1.2, RFC 6066 §3).
struct client_hello {
  std::optional<std::string> server_name; ///< unset: the client names no server
  bool early_data = false; ///< its own records may follow before the server has answered
};

/// Looks at the first bytes that a client sends through a tunnel: is it TLS, and which server does
/// it name? Only looks: the bytes are passed on as they are.
class client_hello_reader {
public:
  static constexpr std::size_t most_bytes = std::size_t{64} * 1024;

  enum class state : std::uint8_t {
    more,    ///< may still become a ClientHello
    not_tls, ///< something else; nothing is known about it
    done,    ///< a whole ClientHello, see hello()
    /// Begins as TLS and then breaks its rules, or with another record than a ClientHello's: some
    /// servers skip such records, and would believe the hello behind them.
    bad,
  };

  /// @param bytes everything sent so far
  state look(std::string_view bytes);

  [[nodiscard]] const client_hello& hello() const noexcept { return hello_; } ///< after `done`
  /// After `done`: how many bytes are the records of the hello.
  [[nodiscard]] std::size_t taken() const noexcept { return taken_; }

private:
  client_hello hello_;
  std::size_t taken_ = 0;
};

/// Looks at what follows a first ClientHello. A server may ask for a second one, which comes in the
/// clear as well (RFC 8446 §4.1.4), and goes by the name in that.
class later_hello_reader {
public:
  /// More than servers take.
  static constexpr std::size_t most_bytes = std::size_t{132} * 1024;

  enum class state : std::uint8_t {
    more,  ///< pass on what was taken, and look at what follows
    hello, ///< the last taken record ends a further hello, see hello()
    over,  ///< no further hello can come in the clear: pass on everything
    bad,   ///< breaks the rules of TLS
  };

  explicit later_hello_reader(const client_hello& first) : early_data_{first.early_data} {}

  /// Reads whole records of `bytes`, which begin where the last call stopped taking. `taken`: the
  /// size of those that are known to be harmless, with `hello` also of that hello.
  state look(std::string_view bytes, std::size_t& taken);

  [[nodiscard]] const client_hello& hello() const noexcept { return hello_; } ///< after `hello`

private:
  state take(char type, std::string_view fragment);

  bool early_data_;
  std::string message_; ///< of handshake records, as far as it has come
  client_hello hello_;
};

/// A fatal alert "access denied": what a TLS client gets when its server name is refused.
std::string tls_access_denied();

} // namespace gatehouse::reactor
