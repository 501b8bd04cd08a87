#include "cli/serve_listeners.hpp"

#include "cli/stdio_lines.hpp"
#include "policy/path_text.hpp"
#include "reactor/descriptor_limit.hpp"
#include "reactor/timer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
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
class websocket_port : public actors::client_port, public actors::bytes_port {
public:
  explicit websocket_port(std::shared_ptr<websocket_connection> connection)
      : connection_{std::move(connection)} {}
  void send(std::string text) override { connection_->send(std::move(text)); }
  void send_bytes(std::string head, std::shared_ptr<const std::string> bytes) override {
    connection_->send_bytes(std::move(head), std::move(bytes));
  }
  [[nodiscard]] actors::bytes_port* bytes() override { return this; }
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

/// Clients of one listener by their authority: one that connects without end keeps its own kind
/// out, never the other.
struct client_counts {
  std::array<std::size_t, 2> of{};
  [[nodiscard]] std::size_t& at(actors::authority who) { return of[static_cast<std::size_t>(who)]; }
};

/// Where descriptors are scarce, commands need most of them.
std::size_t most_clients() {
  return std::min(std::size_t{1024}, reactor::descriptor_limit() / 8);
}

/// The same of those that have shown no credential yet.
reactor::websocket_terms terms_here() {
  reactor::websocket_terms terms;
  terms.waiting_connections =
      std::clamp(reactor::descriptor_limit() / 16, std::size_t{4}, terms.waiting_connections);
  return terms;
}

constexpr std::chrono::seconds silence_limit{30};
constexpr std::uint16_t policy_violation = 1008;

websocket_events welcome(reactor::event_loop& loop, const client_taker& take, actors::authority who,
                         const std::shared_ptr<client_counts>& counts,
                         const std::shared_ptr<websocket_connection>& connection) {
  const std::shared_ptr<actors::client_link> link =
      take(who, std::make_shared<websocket_port>(connection));
  ++counts->at(who);
  const auto silence = std::make_shared<reactor::timer>(loop);
  silence->start(silence_limit,
                 [connection] { connection->close(policy_violation, "the client said nothing"); });
  return {[link, silence](std::string_view text) {
            silence->cancel();
            link->received(text);
          },
          [link] { link->drained(); },
          [link, silence, counts, who] {
            silence->cancel();
            --counts->at(who);
            link->lost();
          }};
}

/// The one client on standard input and output.
class stdio_listener : public listener {
public:
  stdio_listener(reactor::event_loop& loop, const client_taker& take, actors::authority who,
                 std::function<void(const result<void>&)> on_end)
      : lines_{loop,
               {[this](std::string_view line) { link_->received(line); },
                [this] { link_->drained(); }, [this] { link_->lost(); }, std::move(on_end),
                [this](const std::function<void()>& then) { link_->input_over(then); }}},
        link_{take(who, std::make_shared<port>(lines_))} {}
  [[nodiscard]] std::string url() const override { return "stdio://"; }

private:
  struct port : actors::client_port {
    explicit port(stdio_lines& l) : lines{l} {}
    void send(std::string text) override { lines.send(std::move(text)); }
    [[nodiscard]] std::size_t queued_bytes() const override { return lines.queued_bytes(); }
    void close(int, const std::string& reason) override { lines.close(reason); }
    stdio_lines& lines;
  };
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

result<std::string> read_origin(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return error{errc::invalid_request,
                 "--allow-origin '" + std::string{text} + "': " + std::string{why},
                 "Write it as the browser sends it: https://ide.example or vscode-webview://ID."};
  };
  if (text == "null") return bad("every page without an origin says null");
  if (text.find('*') != std::string_view::npos) return bad("there are no patterns");
  const auto colon = text.find("://");
  if (colon == std::string_view::npos || colon == 0) return bad("SCHEME://HOST is missing");
  const auto host = text.substr(colon + 3);
  if (host.empty()) return bad("the host is missing");
  for (const char c : text)
    if (c <= ' ' || c == '\x7f' || (c >= 'A' && c <= 'Z'))
      return bad("an origin is lower case, without blanks");
  if (host.find_first_of("/?#@\\") != std::string_view::npos)
    return bad("an origin ends after the host and the port");
  const auto scheme = text.substr(0, colon);
  for (const auto& [name, port] : {std::pair<std::string_view, std::string_view>{"http", ":80"},
                                   {"https", ":443"},
                                   {"ws", ":80"},
                                   {"wss", ":443"}})
    if (scheme == name && host.ends_with(port)) return bad("browsers leave this port out");
  return std::string{text};
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
  const auto counts = std::make_shared<client_counts>();
  const auto judge = [admit, counts](const http_request& request) -> reactor::http_answer {
    const auto verdict = admit(request);
    if (verdict.answer.status != 101 || counts->at(verdict.who) < most_clients())
      return verdict.answer;
    return {503, {{"retry-after", "1"}}, "too many connections with this credential\n"};
  };
  const auto open = [admit, take, counts,
                     &loop](const http_request& request,
                            const std::shared_ptr<websocket_connection>& connection) {
    return welcome(loop, take, admit(request).who, counts, connection);
  };
  auto server =
      at.what == listen_address::kind::local
          ? reactor::websocket_server::listen_unix(loop, at.path, terms_here(), judge, open)
          : reactor::websocket_server::listen_tcp(loop, at.host, at.port, terms_here(), judge,
                                                  open);
  if (!server) return server.error();
  return std::unique_ptr<listener>{std::make_unique<websocket_listener>(*std::move(server), at)};
}

} // namespace gatehouse::cli
