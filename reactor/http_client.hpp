#pragma once

#include "protocol/result.hpp"
#include "reactor/event_loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::reactor {

/// Where an HTTP request goes.
struct http_target {
  bool tls = false;
  std::string host; ///< a name, or an address without brackets
  std::uint16_t port = 0;
  std::string path; ///< with its query; never empty

  bool operator==(const http_target&) const = default;
};

/// Reads `http://` and `https://` URLs. Plain HTTP is taken for this machine only (localhost,
/// 127.0.0.0/8, ::1), since what is sent must not be read on the way. User names in a URL,
/// fragments, spaces and anything unclear are errc::invalid_request.
result<http_target> parse_http_url(std::string_view url);

struct http_post {
  http_target to;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds limit{0}; ///< for everything, from the name to the last byte
  std::size_t max_reply = 1024 * 1024;
};

struct http_end {
  enum class ending : std::uint8_t { answered, timed_out, failed };
  ending how = ending::failed;
  unsigned status = 0; ///< answered
  std::string body;    ///< answered
  std::string why;     ///< failed, timed_out
};

/// Sends requests, one connection each. TLS (1.2 and later) checks the server's certificate and
/// name. Redirects are not followed: they are answers like any other.
class http_client {
public:
  /// @param ca_file certificates to trust, PEM; empty: those of the system
  /// @param loop outlives the client and its requests
  explicit http_client(event_loop& loop, std::string ca_file = {});
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// `done` is called once, on the loop, never inside this call. Dropping the handle gives up.
  std::shared_ptr<void> post(http_post request, std::function<void(http_end)> done);

  struct state;

private:
  std::shared_ptr<state> state_;
};

} // namespace gatehouse::reactor
