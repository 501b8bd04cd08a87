#include "cli/serve_listeners.hpp"

#include "cli/stdio_lines.hpp"
#include "policy/path_text.hpp"

#include <charconv>
#include <utility>

namespace gatehouse::cli {
namespace {

using reactor::http_request;
using reactor::websocket_connection;
using reactor::websocket_events;

error bad_address(std::string_view text, std::string_view why) {
  return {errc::invalid_request, "--listen '" + std::string{text} + "': " + std::string{why},
          "Write ws://127.0.0.1:PORT (0 takes a free one), unix:///PATH or stdio://."};
}

/// A client behind a WebSocket.
class websocket_port : public actors::client_port {
public:
  explicit websocket_port(std::shared_ptr<websocket_connection> connection)
      : connection_{std::move(connection)} {}
  void send(std::string text) override { connection_->send(std::move(text)); }
  [[nodiscard]] std::size_t queued_bytes() const override { return connection_->queued_bytes(); }
  void close(int code, const std::string& reason) override {
    connection_->close(static_cast<std::uint16_t>(code), reason);
  }

private:
  std::shared_ptr<websocket_connection> connection_;
};

class websocket_listener : public listener {
public:
  websocket_listener(std::unique_ptr<reactor::websocket_server> server, listen_address at)
      : server_{std::move(server)}, at_{std::move(at)} {}
  [[nodiscard]] std::string url() const override {
    if (at_.what == listen_address::kind::local) return "unix://" + at_.path;
    const bool v6 = at_.host.find(':') != std::string::npos;
    return "ws://" + (v6 ? "[" + at_.host + "]" : at_.host) + ":" + std::to_string(server_->port());
  }

private:
  std::unique_ptr<reactor::websocket_server> server_;
  listen_address at_;
};

websocket_events welcome(const client_taker& take, actors::authority who,
                         std::shared_ptr<websocket_connection> connection) {
  const std::shared_ptr<actors::client_link> link =
      take(who, std::make_shared<websocket_port>(std::move(connection)));
  return {[link](std::string_view text) { link->received(text); }, [link] { link->drained(); },
          [link] { link->lost(); }};
}

/// The one client on standard input and output.
class stdio_listener : public listener {
public:
  stdio_listener(reactor::event_loop& loop, const client_taker& take, actors::authority who,
                 std::function<void(const result<void>&)> on_end)
      : lines_{loop,
               {[this](std::string_view line) { link_->received(line); },
                [this] { link_->drained(); }, [this] { link_->lost(); }, std::move(on_end)}},
        link_{take(who, std::make_shared<port>(lines_))} {}
  [[nodiscard]] std::string url() const override { return "stdio://"; }

private:
  struct port : actors::client_port {
    explicit port(stdio_lines& l) : lines{l} {}
    void send(std::string text) override { lines.send(std::move(text)); }
    [[nodiscard]] std::size_t queued_bytes() const override { return lines.queued_bytes(); }
    void close(int code, const std::string& reason) override {
      // It could not come back for what it was not told; its requests wait instead.
      if (code != try_again_later) lines.close(reason);
    }
    stdio_lines& lines;
  };
  static constexpr int try_again_later = 1013;

  stdio_lines lines_;
  std::unique_ptr<actors::client_link> link_; // ends first: it writes to `lines_`
};

} // namespace

result<listen_address> read_listen_address(std::string_view text, const std::string& cwd) {
  listen_address at;
  if (text == "stdio://") {
    at.what = listen_address::kind::stdio;
    return at;
  }
  if (text.starts_with("unix://")) {
    at.what = listen_address::kind::local;
    const auto path = text.substr(7);
    if (path.empty()) return bad_address(text, "the path is missing");
    at.path = policy::absolute_below(cwd, std::string{path});
    return at;
  }
  if (!text.starts_with("ws://")) return bad_address(text, "not an address that is known");
  const auto rest = text.substr(5);
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, "the port is missing");
  const auto digits = rest.substr(colon + 1);
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), at.port);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || digits.empty())
    return bad_address(text, "the port is no number from 0 to 65535");
  const auto host = rest.substr(0, colon);
  // Other addresses would carry tokens in the clear.
  if (host != "127.0.0.1" && host != "[::1]" && host != "localhost")
    return bad_address(text, "only loopback addresses are served");
  at.host = host == "[::1]" ? "::1" : "127.0.0.1";
  return at;
}

result<std::unique_ptr<listener>>
open_listener(reactor::event_loop& loop, const client_taker& take, const listen_address& at,
              const actors::admission_terms& admission, actors::authority who,
              std::function<void(const result<void>&)> on_stdio_end,
              actors::console_door* console) {
  if (at.what == listen_address::kind::stdio)
    return std::unique_ptr<listener>{
        std::make_unique<stdio_listener>(loop, take, who, std::move(on_stdio_end))};
  const auto admit = [admission, console](const http_request& request) {
    if (console)
      if (auto told = console->consider(request)) return *std::move(told);
    return actors::admit(request, admission);
  };
  const auto judge = [admit](const http_request& request) { return admit(request).answer; };
  const auto open = [admit, take](const http_request& request,
                                  std::shared_ptr<websocket_connection> connection) {
    return welcome(take, admit(request).who, std::move(connection));
  };
  auto server =
      at.what == listen_address::kind::local
          ? reactor::websocket_server::listen_unix(loop, at.path, {}, judge, open)
          : reactor::websocket_server::listen_tcp(loop, at.host, at.port, {}, judge, open);
  if (!server) return server.error();
  return std::unique_ptr<listener>{std::make_unique<websocket_listener>(*std::move(server), at)};
}

} // namespace gatehouse::cli
