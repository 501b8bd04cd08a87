#pragma once

#include "reactor/detail/byte_pump.hpp"
#include "reactor/detail/watched_fd.hpp"
#include "reactor/network_proxy.hpp"
#include "reactor/proxy_client_hello.hpp"
#include "reactor/proxy_dial.hpp"
#include "reactor/proxy_http_head.hpp"
#include "reactor/proxy_socks5.hpp"
#include "reactor/proxy_tunnel_request.hpp"
#include "reactor/timer.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// What all connections of a proxy share.
struct proxy_terms {
  event_loop& loop;
  std::shared_ptr<network_gate> gate;
  std::shared_ptr<host_resolver> resolver;
  std::shared_ptr<pipe_pool> pipes;
  proxy_limits limits;
  std::optional<forward_target> target;
};

/// One client of the proxy, from its first byte to its end.
class proxy_connection : public std::enable_shared_from_this<proxy_connection> {
public:
  /// @param gone called once, when it has ended
  proxy_connection(std::shared_ptr<const proxy_terms> terms, unique_fd client,
                   std::function<void(const std::shared_ptr<proxy_connection>&)> gone);

  void start();
  /// Cuts both sides; `gone` is not called.
  void abandon();
  /// As if one of the sides had ended it.
  void end();
  /// The client has ended its side, so that it may have left altogether: since when no byte has
  /// come from the server. Unset: it has not.
  [[nodiscard]] std::optional<clock::time_point> maybe_left() const;

private:
  enum class step : std::uint8_t {
    first_bytes,
    http_head,
    socks,
    deciding,
    resolving,
    dialling,
    inspecting, ///< a tunnel whose client has not yet shown what it speaks
    relaying,
    leaving, ///< the answer has been written; the client may still read it
    over,
  };

  void read_client();
  void client_ended();
  void watch_client();
  [[nodiscard]] bool has_said_all() const;
  void took(std::string_view bytes);
  void feed_http(std::string_view bytes);
  void feed_socks(std::string_view bytes);
  void decide();
  void decided(const connection_verdict& verdict);
  void resolve();
  void resolved(const std::vector<ip_address>& addresses);
  void dialled(result<unique_fd> socket);
  void inspect();
  void inspect_hello();
  void inspect_later_hello();
  void inspect_request();
  [[nodiscard]] bool agrees(std::string_view named, named_by by);
  void refuse_inside(std::string answer);
  void pass_on(std::size_t size);
  void pump_up();
  void pump_down();
  void forward_body(std::string_view bytes);
  void behind_request(std::string_view bytes);
  void relay_ended(bool whole);
  void touch();

  void refuse(network_refusal reason, const std::string& message);
  void fail(int status, socks5_reply reply, const std::string& message);
  void answer_and_leave(std::string answer);
  void leave();
  /// Writes to one side, then goes on; the rest waits for a slow reader.
  void write(const std::shared_ptr<watched_fd>& to, std::string bytes, std::function<void()> then);
  void close_all();

  std::shared_ptr<const proxy_terms> terms_;
  std::function<void(const std::shared_ptr<proxy_connection>&)> gone_;
  std::shared_ptr<watched_fd> client_, server_;
  step step_ = step::first_bytes;
  connection_facts facts_;
  http_head_reader http_;
  socks5_reader socks_;
  client_hello_reader hello_;
  std::optional<later_hello_reader> later_hello_; ///< once a first hello has passed
  std::optional<tunnel_request_reader> request_;  ///< once it is known not to be TLS
  std::string disagreement_;                      ///< for the program
  std::optional<http_body_reader> body_;
  std::string early_; ///< what the client sent before it could be passed on
  std::string host_;  ///< canonical, once allowed
  std::shared_ptr<void> question_;
  std::unique_ptr<dial> dial_;
  std::shared_ptr<byte_pump> up_, down_;
  bool reading_ = false;  ///< a wait for the client's bytes is open
  bool watching_ = false; ///< a wait for the client's failure is open
  bool ended_ = false;    ///< the client has ended its side, and may still listen
  bool sending_ = false;  ///< a part of the body, or of what is looked at, is being written
  bool answered_ = false; ///< a byte of the server's answer has come
  bool up_ended_ = false, down_ended_ = false;
  clock::time_point last_bytes_;
  timer limit_;
};

} // namespace gatehouse::reactor
