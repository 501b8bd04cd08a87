#pragma once

#include "protocol/network.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::reactor {

/// The head of one request to an HTTP proxy: `GET http://host/path` or `CONNECT host:port`.
struct http_request_head {
  std::string method;
  bool connect = false;
  std::string host; ///< as written, without brackets; never empty
  std::uint16_t port = 0;
  std::string path; ///< forward only: from '/' on, as the server is asked for it
  std::vector<std::pair<std::string, std::string>> headers; ///< in order, names as written
  std::vector<std::string> host_headers;                    ///< values of `Host`, at most one
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
};

/// Reads one request head as it arrives. Ours rather than a library's, because this is the place
/// where two readers of the same bytes must not differ: whatever RFC 9112 lets a recipient repair
/// (bare line feeds, folded lines, blanks before a colon, repeated lengths, both kinds of length)
/// is refused, since the server behind might repair it in another way (request smuggling).
class http_head_reader {
public:
  static constexpr std::size_t most_bytes = std::size_t{64} * 1024;
  static constexpr std::size_t most_headers = 128;

  enum class state : std::uint8_t { more, done, bad };

  /// Reads `bytes`, which begin where the last call ended. `taken`: how many belong to the head;
  /// what follows is body or tunnel.
  state feed(std::string_view bytes, std::size_t& taken);

  /// After `done`; after `bad` what had been read, and host and port where they can be told.
  [[nodiscard]] const http_request_head& head() const noexcept { return head_; }
  [[nodiscard]] int status() const noexcept { return status_; }          ///< after `bad`: 400, …
  [[nodiscard]] const std::string& why() const noexcept { return why_; } ///< after `bad`
  /// After `bad`: network_refusal::malformed or not_carried.
  [[nodiscard]] network_refusal reason() const noexcept { return reason_; }

private:
  state refuse(int status, std::string why);
  state parse();
  state parse_request_line(std::string_view line);
  state parse_header(std::string_view line);
  state parse_authority(std::string_view authority, std::uint16_t default_port);
  void name_host_of(std::string_view url);
  void name_host_in(std::string_view headers);

  std::string bytes_;
  http_request_head head_;
  std::string version_;
  std::string why_;
  int status_ = 400;
  network_refusal reason_ = network_refusal::malformed;
};

/// The head for the server itself: path instead of URL, one Host of `host_and_port`, without what
/// is between this client and its proxy only, and with `Connection: close`.
std::string head_for_server(const http_request_head& head, std::string_view host_and_port);

/// Follows the body of one request, so that not a byte behind it is passed on.
class http_body_reader {
public:
  explicit http_body_reader(const http_request_head& head);

  /// How many of `bytes` belong to the body.
  std::size_t feed(std::string_view bytes);
  [[nodiscard]] bool done() const noexcept { return part_ == part::done; }
  [[nodiscard]] bool bad() const noexcept { return part_ == part::bad; }

private:
  enum class part : std::uint8_t {
    counted,   ///< `left_` bytes of a body of known length
    size,      ///< hexadecimal digits
    extension, ///< up to the line feed of the size line
    data,      ///< `left_` bytes of a chunk
    data_end,  ///< CR, LF behind a chunk
    trailer,   ///< lines up to an empty one
    done,
    bad,
  };
  bool take(char c);

  part part_ = part::done;
  std::uint64_t left_ = 0;
  std::size_t digits_ = 0;
  std::size_t line_ = 0;     ///< bytes of the present size or trailer line
  std::size_t trailers_ = 0; ///< bytes of all trailer lines
  bool cr_ = false;
};

} // namespace gatehouse::reactor
