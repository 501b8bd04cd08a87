#include "reactor/websocket_client.hpp"
#include "reactor/websocket_server.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace std::chrono_literals;

namespace {

/// A server that answers every text, and what it has seen.
struct partner {
  event_loop loop;
  std::unique_ptr<websocket_server> server;
  std::shared_ptr<websocket_connection> connection;
  http_request request;
  std::size_t lost = 0;

  websocket_server::judge judge() {
    return [this](const http_request& asked) {
      request = asked;
      const auto* token = asked.header("authorization");
      if (!token || *token != "Bearer secret") return http_answer{401, {}, "a token is needed\n"};
      return http_answer{101, {}, ""};
    };
  }
  websocket_server::welcome welcome() {
    return [this](const http_request&, std::shared_ptr<websocket_connection> in) {
      connection = std::move(in);
      return websocket_events{
          [this](std::string_view text) { connection->send("echo " + std::string{text}); },
          {},
          [this] { ++lost; }};
    };
  }
  std::string listen() {
    auto made = websocket_server::listen_tcp(loop, "127.0.0.1", 0, {}, judge(), welcome());
    REQUIRE(made);
    server = *std::move(made);
    return "ws://127.0.0.1:" + std::to_string(server->port());
  }
};

/// A client and everything that it hears.
struct caller {
  event_loop& loop;
  std::vector<std::string> heard;
  bool opened = false;
  std::size_t drained = 0, ends = 0;
  std::optional<websocket_end> end;
  std::unique_ptr<websocket_client> client;

  caller(event_loop& on, const std::string& url,
         websocket_client_terms terms = {.bearer = "secret"})
      : loop{on} {
    auto to = read_websocket_address(url);
    REQUIRE(to);
    client = std::make_unique<websocket_client>(
        on, *std::move(to), std::move(terms),
        websocket_client_events{[this] { opened = true; },
                                [this](std::string_view text) { heard.emplace_back(text); },
                                [this] { ++drained; },
                                [this](const websocket_end& why) {
                                  ++ends;
                                  end = why;
                                }});
  }
  bool until(const std::function<bool()>& done) { return loop.run_until(done, 10s); }
};

std::string wrong_address(std::string_view url) {
  const auto read = read_websocket_address(url);
  return read ? "taken" : read.error().message;
}

} // namespace

TEST_SUITE("reactor.websocket_client") {
  TEST_CASE("§203 addresses are read strictly") {
    const auto tcp = *read_websocket_address("ws://[::1]:8080/exec?a=b");
    CHECK(tcp.host == "::1");
    CHECK(tcp.port == 8080);
    CHECK(tcp.target == "/exec?a=b");
    CHECK(tcp.local());
    CHECK(read_websocket_address("ws://build-7.example")->port == 80);
    CHECK_FALSE(read_websocket_address("ws://build-7.example")->local());
    CHECK_FALSE(read_websocket_address("ws://127.0.0.1.example:1")->local());
    CHECK(read_websocket_address("unix:///run/x.sock")->path == "/run/x.sock");
    for (const auto* url : {"", "http://127.0.0.1:1", "wss://127.0.0.1:1", "ws://", "ws://:80",
                            "ws://a:0", "ws://a:", "ws://a:65536", "ws://a:8x", "ws://a b:80",
                            "ws://a:80/\r\nX: y", "ws://user:pw@a:80", "ws://[::1", "ws://::1",
                            "ws://[a]:80", "ws://a/#x", "unix://relative", "unix://"})
      CHECK_MESSAGE(wrong_address(url) != "taken", url);
    CHECK(wrong_address("unix:///" + std::string(200, 'x')) != "taken");
  }

  TEST_CASE("§203 texts go both ways, those before the open too") {
    partner p;
    caller c{p.loop, p.listen()};
    c.client->send("early");
    c.client->send("second");
    CHECK_FALSE(c.opened); // never inside of the constructor
    REQUIRE(c.until([&] { return c.heard.size() == 2; }));
    CHECK(c.opened);
    CHECK(c.heard == std::vector<std::string>{"echo early", "echo second"});
    CHECK(p.request.target == "/");
  }

  TEST_CASE("§120 binary messages come in one order with texts, whole and as they were sent") {
    partner p;
    const auto url = p.listen();
    std::vector<std::string> heard;
    websocket_client_events events;
    events.on_text = [&](std::string_view text) { heard.push_back("t:" + std::string{text}); };
    events.on_bytes = [&](std::string_view bytes) { heard.push_back("b:" + std::string{bytes}); };
    websocket_client client{p.loop, *read_websocket_address(url), {.bearer = "secret"}, events};
    REQUIRE(p.loop.run_until([&] { return p.connection != nullptr; }, 10s));
    const std::string bytes{"\0\xff", 2}, long_bytes(300'000, '\xfe');
    p.connection->send("1");
    p.connection->send_bytes("head", std::make_shared<const std::string>(bytes));
    p.connection->send("2");
    p.connection->send_bytes("", std::make_shared<const std::string>(long_bytes));
    p.connection->send_bytes("alone", std::make_shared<const std::string>());
    CHECK(p.connection->queued_bytes() > long_bytes.size());
    p.connection->send("3");
    REQUIRE(p.loop.run_until([&] { return heard.size() == 6; }, 10s));
    CHECK(heard == std::vector<std::string>{"t:1", "b:head" + bytes, "t:2", "b:" + long_bytes,
                                            "b:alone", "t:3"});
    CHECK(p.loop.run_until([&] { return p.connection->queued_bytes() == 0; }, 10s));
  }

  TEST_CASE("§120 a client that has no use for binary messages ends with the first") {
    partner p;
    caller c{p.loop, p.listen()};
    REQUIRE(c.until([&] { return c.opened && p.connection; }));
    p.connection->send_bytes("x", std::make_shared<const std::string>("y"));
    REQUIRE(c.until([&] { return c.end.has_value(); }));
    CHECK(c.heard.empty());
    CHECK(p.loop.run_until([&] { return p.lost == 1; }, 10s));
  }

  TEST_CASE("§203 two texts are never written at once, also when one is sent inside of on_open") {
    partner p;
    const auto url = p.listen();
    std::unique_ptr<websocket_client> client;
    std::vector<std::string> heard;
    websocket_client_events events;
    events.on_open = [&] {
      client->send("inside 1");
      client->send("inside 2");
    };
    events.on_text = [&](std::string_view text) { heard.emplace_back(text); };
    client = std::make_unique<websocket_client>(p.loop, *read_websocket_address(url),
                                                websocket_client_terms{.bearer = "secret"}, events);
    client->send("before");
    REQUIRE(p.loop.run_until([&] { return heard.size() == 3; }, 10s));
    CHECK(heard == std::vector<std::string>{"echo before", "echo inside 1", "echo inside 2"});
  }

  TEST_CASE("§95 a client that pauses leaves the rest with the server, and loses nothing of it") {
    partner p;
    caller c{p.loop, p.listen()};
    REQUIRE(c.until([&] { return c.opened && p.connection; }));
    c.client->pause_reading();
    constexpr std::size_t messages = 400, bytes = 100'000;
    for (std::size_t i = 0; i < messages; ++i)
      p.connection->send(std::string(bytes, 'x'));
    CHECK_FALSE(p.loop.run_until([&] { return c.heard.size() > 1; }, 200ms));
    CHECK(p.connection->queued_bytes() > messages * bytes / 2);
    c.client->resume_reading();
    REQUIRE(c.until([&] { return c.heard.size() == messages; }));
    CHECK(c.heard.back().size() == bytes);
    CHECK(p.lost == 0);
  }

  TEST_CASE("§95 a client that pauses reads a little all the same, and can be closed") {
    partner p;
    caller c{
        p.loop, p.listen(), {.bearer = "secret", .paused_bytes = 150'000, .paused_look = 20ms}};
    REQUIRE(c.until([&] { return c.opened && p.connection; }));
    c.client->pause_reading();
    for (std::size_t i = 0; i < 20; ++i)
      p.connection->send(std::string(100'000, 'x'));
    REQUIRE(c.until([&] { return c.heard.size() >= 5; }));
    CHECK(c.heard.size() < 20);
    c.client->close(1000, "enough");
    REQUIRE(c.until([&] { return c.end.has_value(); }));
    CHECK(c.ends == 1);
  }

  TEST_CASE("§95 a client that pauses for too long takes no more than it was told, and ends") {
    partner p;
    caller c{p.loop,
             p.listen(),
             {.bearer = "secret", .idle_limit = 1s, .paused_bytes = 150'000, .paused_look = 20ms}};
    REQUIRE(c.until([&] { return c.opened && p.connection; }));
    c.client->pause_reading(400'000);
    for (std::size_t i = 0; i < 20; ++i)
      p.connection->send(std::string(100'000, 'x'));
    REQUIRE(c.until([&] { return c.end.has_value(); }));
    CHECK(c.end->not_read);
    CHECK(c.heard.size() >= 4);
    CHECK(c.heard.size() <= 9);
  }

  TEST_CASE("§203 a large message comes whole, and the queue tells when it is short again") {
    partner p;
    caller c{p.loop, p.listen()};
    c.client->send(std::string(5U << 20U, 'x'));
    CHECK(c.client->queued_bytes() == 5U << 20U);
    REQUIRE(c.until([&] { return c.heard.size() == 1; }));
    CHECK(c.heard[0].size() == (5U << 20U) + 5);
    CHECK(c.drained == 1);
    CHECK(c.client->queued_bytes() == 0);
  }

  TEST_CASE("§203 over a Unix socket") {
    const tests::temp_folder folder;
    partner p;
    p.server = *websocket_server::listen_unix(p.loop, folder / "s", {}, p.judge(), p.welcome());
    caller c{p.loop, "unix://" + folder / "s"};
    c.client->send("hi");
    REQUIRE(c.until([&] { return c.heard.size() == 1; }));
    CHECK(p.request.local_socket);
  }

  TEST_CASE("§203 a refused handshake tells status and words") {
    partner p;
    caller c{p.loop, p.listen(), {.bearer = "wrong"}};
    c.client->send("never sent");
    REQUIRE(c.until([&] { return c.end.has_value(); }));
    CHECK_FALSE(c.end->opened);
    CHECK(c.end->http_status == 401);
    CHECK(c.end->reason == "the server answered 401: a token is needed");
    CHECK_FALSE(c.opened);
  }

  TEST_CASE("§203 nobody there, and somebody who never answers") {
    partner p;
    caller gone{p.loop, "ws://127.0.0.1:1"};
    REQUIRE(gone.until([&] { return gone.end.has_value(); }));
    CHECK(gone.end->reason.find("cannot connect") == 0);
    const int silent = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof at;
    REQUIRE(::bind(silent, reinterpret_cast<sockaddr*>(&at), length) == 0);
    REQUIRE(::listen(silent, 1) == 0);
    REQUIRE(::getsockname(silent, reinterpret_cast<sockaddr*>(&at), &length) == 0);
    caller waits{p.loop,
                 "ws://127.0.0.1:" + std::to_string(ntohs(at.sin_port)),
                 {.bearer = {}, .handshake_limit = std::chrono::seconds{1}}};
    REQUIRE(waits.until([&] { return waits.end.has_value(); }));
    CHECK(waits.end->reason == "the server does not answer");
    ::close(silent);
  }

  TEST_CASE("§203 both sides may close, and the code arrives") {
    partner p;
    const auto url = p.listen();
    caller c{p.loop, url};
    REQUIRE(c.until([&] { return p.connection != nullptr; }));
    p.connection->close(4001, "enough");
    REQUIRE(c.until([&] { return c.end.has_value(); }));
    CHECK(c.end->code == 4001);
    CHECK(c.end->reason == "enough");
    caller d{p.loop, url};
    d.client->send("last");
    d.client->close(1000, "done");
    d.client->send("too late");
    REQUIRE(d.until([&] { return d.end.has_value() && p.lost == 2; }));
    CHECK(d.end->opened);
    CHECK(d.ends == 1);
  }

  TEST_CASE("§203 a connection that is cut ends without a code") {
    partner p;
    caller c{p.loop, p.listen()};
    REQUIRE(c.until([&] { return c.opened; }));
    p.server.reset();
    REQUIRE(c.until([&] { return c.end.has_value(); }));
    CHECK(c.end->code == 1006);
    CHECK(c.ends == 1);
  }

  TEST_CASE("§203 a client may go inside of its own event, and nothing comes after") {
    partner p;
    const auto url = p.listen();
    std::unique_ptr<websocket_client> client;
    std::size_t texts = 0;
    websocket_client_events events;
    events.on_text = [&](std::string_view) {
      ++texts;
      client.reset();
    };
    events.on_closed = [](const websocket_end&) { FAIL("nobody is there to hear it"); };
    client = std::make_unique<websocket_client>(p.loop, *read_websocket_address(url),
                                                websocket_client_terms{.bearer = "secret"}, events);
    client->send("one");
    client->send("two");
    REQUIRE(p.loop.run_until([&] { return p.lost == 1; }, 10s));
    CHECK(texts == 1);
  }
}
