#include "reactor/websocket_server.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace std::chrono_literals;

namespace {

/// A client that writes bytes as they are given, so that it can be wrong in every way.
class raw_client {
public:
  raw_client(event_loop& loop, std::uint16_t port) : loop_{loop} {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  ~raw_client() { ::close(fd_); }
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;

  void hang_up() { ::shutdown(fd_, SHUT_RDWR); }
  void say(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
      if (n < 0 && errno != EAGAIN) return; // the server has closed
      loop_.poll();
    }
  }
  void upgrade(std::string_view more = "") {
    say("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
        std::string{more} + "\r\n");
    REQUIRE(hears("\r\n\r\n"));
    heard.clear();
  }
  /// A frame with mask 0.
  void frame(unsigned first, std::string_view payload, bool masked = true) {
    std::string out(1, static_cast<char>(first));
    const auto mask = masked ? 0x80U : 0U;
    if (payload.size() < 126) {
      out += static_cast<char>(mask | payload.size());
    } else {
      out += static_cast<char>(mask | 126U);
      out += static_cast<char>(payload.size() >> 8U);
      out += static_cast<char>(payload.size() & 0xffU);
    }
    if (masked) out += std::string(4, '\0');
    say(out + std::string{payload});
  }
  /// Takes so much of what has come, and forgets it.
  void read_some(std::size_t most) {
    std::string bytes(most, '\0');
    (void)::recv(fd_, bytes.data(), bytes.size(), 0);
  }
  bool until(const std::function<bool()>& done) {
    return loop_.run_until(
        [&] {
          char bytes[4096];
          for (ssize_t n; (n = ::recv(fd_, bytes, sizeof bytes, 0)) >= 0;) {
            if (n == 0) {
              at_end = true;
              break;
            }
            heard.append(bytes, static_cast<std::size_t>(n));
          }
          if (errno == ECONNRESET) at_end = true;
          if (done()) return true;
          loop_.post([] {}); // look again
          return false;
        },
        10s);
  }
  bool hears(std::string_view text) {
    return until([&] { return heard.find(text) != std::string::npos; });
  }
  /// The code of the close frame that comes; 0 when the connection just ends.
  int close_code() {
    until([&] { return at_end || heard.find('\x88') != std::string::npos; });
    const auto at = heard.find('\x88');
    if (at == std::string::npos) return 0;
    until([&] { return at_end || heard.size() >= at + 4; });
    if (heard.size() < at + 4) return 0;
    return (static_cast<unsigned char>(heard[at + 2]) << 8) |
           static_cast<unsigned char>(heard[at + 3]);
  }

  std::string heard;
  bool at_end = false;

private:
  event_loop& loop_;
  int fd_ = -1;
};

struct echo_server {
  event_loop loop;
  std::unique_ptr<websocket_server> server;
  std::shared_ptr<websocket_connection> last;
  std::size_t opened = 0, closed = 0, drained = 0;
  http_request seen;

  websocket_server::judge judge() {
    return [this](const http_request& request) {
      seen = request;
      if (request.target == "/health") return http_answer{200, {}, "fine"};
      return http_answer{request.upgrade ? 101U : 426U, {}, ""};
    };
  }
  websocket_server::welcome welcome() {
    return [this](const http_request&, std::shared_ptr<websocket_connection> connection) {
      ++opened;
      last = connection;
      return websocket_events{[connection](std::string_view text) {
                                connection->send("you said " + std::string{text});
                              },
                              [this] { ++drained; }, [this] { ++closed; }};
    };
  }
  explicit echo_server(websocket_terms terms = {}) {
    auto made =
        websocket_server::listen_tcp(loop, "127.0.0.1", 0, std::move(terms), judge(), welcome());
    REQUIRE(made);
    server = *std::move(made);
  }
};

} // namespace

TEST_SUITE("reactor.websocket_server") {
  TEST_CASE("§201 messages go both ways, whole and in fragments") {
    echo_server s;
    raw_client c{s.loop, s.server->port()};
    c.upgrade();
    c.frame(0x81, "hello");
    CHECK(c.hears("you said hello"));
    c.frame(0x01, "a");
    c.frame(0x89, "ping"); // a ping may stand between fragments
    c.frame(0x80, "b");
    CHECK(c.hears("you said ab"));
    CHECK(c.heard.find("\x8a\x04ping") != std::string::npos);
    c.frame(0x88, "\x03\xe8");
    CHECK(c.close_code() == 1000);
    c.hang_up();
    CHECK(s.loop.run_until([&] { return s.closed == 1; }, 10s));
    CHECK(s.server->connections() == 0);
  }

  TEST_CASE("frames against the protocol end the connection with their code, and nothing else") {
    struct row {
      const char* what;
      unsigned first;
      std::string payload;
      bool masked;
      int code;
    };
    const row rows[] = {
        {"unmasked", 0x81, "x", false, 1002},
        {"reserved bit", 0xc1, "x", true, 1002},
        {"reserved opcode", 0x83, "x", true, 1002},
        {"continuation of nothing", 0x80, "x", true, 1002},
        {"fragmented ping", 0x09, "x", true, 1002},
        {"long ping", 0x89, std::string(126, 'x'), true, 1002},
        {"no UTF-8", 0x81, "\xff\xfe", true, 1007},
        {"half a character", 0x81, "\xe2\x82", true, 1007},
        {"binary", 0x82, "x", true, 1003},
        {"too large", 0x81, std::string(2000, 'x'), true, 1009},
        {"close with one byte", 0x88, "x", true, 1002},
        {"close with a reserved code", 0x88, std::string{"\x03\xed"}, true, 1002},
    };
    websocket_terms terms;
    terms.frame_bytes = 1000;
    echo_server s{terms};
    for (const auto& r : rows) {
      CAPTURE(r.what);
      raw_client c{s.loop, s.server->port()};
      c.upgrade();
      c.frame(r.first, r.payload, r.masked);
      CHECK(c.close_code() == r.code);
      CHECK(c.heard.find("you said") == std::string::npos);
    }
    raw_client still{s.loop, s.server->port()};
    still.upgrade();
    still.frame(0x81, "there");
    CHECK(still.hears("you said there"));
  }

  TEST_CASE("requests are judged with their headers, and answered without a WebSocket") {
    echo_server s;
    raw_client c{s.loop, s.server->port()};
    c.say("GET /health HTTP/1.1\r\nHost: a\r\nHOST: b\r\nX-One: 1\r\n\r\n");
    CHECK(c.hears("fine"));
    CHECK(s.seen.count("host") == 2);
    CHECK(s.seen.header("host") == nullptr);
    REQUIRE(s.seen.header("x-one"));
    CHECK(*s.seen.header("x-one") == "1");
    CHECK(s.seen.port == s.server->port());
    c.heard.clear();
    c.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n"); // the same connection
    CHECK(c.hears(" 426 "));
  }

  TEST_CASE("frames that come with the handshake are refused, not lost") {
    echo_server s;
    raw_client c{s.loop, s.server->port()};
    c.say("GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
          "\x81\x01x");
    CHECK(c.hears(" 400 "));
    CHECK(c.until([&] { return c.at_end; }));
    CHECK(s.opened == 0);
  }

  TEST_CASE("what is no HTTP is told so once") {
    echo_server s;
    const std::pair<std::string, const char*> rows[] = {
        {"nonsense\r\n\r\n", " 400 "},
        {"GET / HTTP/1.1\r\nA: " + std::string(20000, 'x') + "\r\n\r\n", " 431 "},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n", " 413 "},
    };
    for (const auto& [text, status] : rows) {
      const auto& expected = status; // clang 14 captures no structured binding
      CAPTURE(expected);
      raw_client c{s.loop, s.server->port()};
      c.say(text);
      CHECK(c.hears(status));
      CHECK(c.until([&] { return c.at_end; }));
    }
    CHECK(s.opened == 0);
  }

  TEST_CASE("§201 strangers who hold every waiting place keep nobody out") {
    websocket_terms terms;
    terms.waiting_connections = 2;
    echo_server s{terms};
    const std::string_view health = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
    raw_client idle{s.loop, s.server->port()};
    raw_client answered{s.loop, s.server->port()};
    answered.say(health);
    CHECK(answered.hears("fine"));
    CHECK(s.server->connections() == 2);
    raw_client first{s.loop, s.server->port()};
    first.upgrade();
    CHECK(answered.hears(" 503 ")); // it came later, and had its answer
    CHECK(answered.until([&] { return answered.at_end; }));
    raw_client second{s.loop, s.server->port()};
    second.upgrade();
    raw_client more{s.loop, s.server->port()};
    more.say("GET /hea");
    CHECK(s.loop.run_until([&] { return s.server->connections() == 4; }, 10s));
    raw_client third{s.loop, s.server->port()};
    third.upgrade();
    CHECK(idle.hears(" 503 ")); // the oldest
    more.say("lth HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(more.hears("fine"));
    CHECK(s.opened == 3);
  }

  TEST_CASE("§201 of strangers beyond the waiting places every second one kept its descriptor") {
    websocket_terms terms;
    terms.waiting_connections = 2;
    echo_server s{terms};
    const auto descriptors = [] {
      return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"},
                           std::filesystem::directory_iterator{});
    };
    const auto before = descriptors();
    std::vector<std::unique_ptr<raw_client>> strangers;
    for (int i = 0; i < 40; ++i)
      strangers.push_back(std::make_unique<raw_client>(s.loop, s.server->port()));
    raw_client last{s.loop, s.server->port()};
    last.say("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(last.hears("fine")); // it came after all of them
    CHECK(descriptors() - before <= 41 + 3);
  }

  TEST_CASE("§201 a connection that asks and asks does not stay for ever before its upgrade") {
    const std::string health = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";
    websocket_terms terms;
    terms.handshake_limit = 1s;
    terms.requests = 1000;
    echo_server slow{terms};
    raw_client c{slow.loop, slow.server->port()};
    auto next = std::chrono::steady_clock::now();
    CHECK(c.until([&] {
      if (std::chrono::steady_clock::now() > next) {
        c.say(health);
        next += 100ms;
      }
      return c.at_end;
    }));
    CHECK(c.heard.find("fine") != std::string::npos);
    terms.handshake_limit = 10s;
    terms.requests = 3;
    echo_server quick{terms};
    raw_client d{quick.loop, quick.server->port()};
    d.say(health + health + health + health);
    CHECK(d.until([&] { return d.at_end; }));
    std::size_t answers = 0;
    for (std::size_t at = 0; (at = d.heard.find("fine", at)) != std::string::npos; ++at)
      ++answers;
    CHECK(answers == 3);
  }

  TEST_CASE("§201 HEAD is not answered with a body, which would be read as the next answer") {
    echo_server s;
    raw_client c{s.loop, s.server->port()};
    c.say("HEAD /health HTTP/1.1\r\nHost: a\r\n\r\nGET /health HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(c.hears("fine"));
    CHECK(c.heard.find("\r\n\r\nHTTP/1.1 200") != std::string::npos);
  }

  TEST_CASE("§201 a peer that sends and sends but reads nothing is not kept for ever") {
    for (const bool closing : {false, true}) {
      CAPTURE(closing);
      websocket_terms terms;
      terms.stuck_limit = 1s;
      echo_server s{terms};
      raw_client c{s.loop, s.server->port()};
      c.upgrade();
      REQUIRE(s.last);
      for (int i = 0; i < 64; ++i)
        s.last->send(std::string(256 * 1024, 'x'));
      if (closing) s.last->close(1013, "it does not read"); // behind all that is queued
      auto next = std::chrono::steady_clock::now();
      CHECK(s.loop.run_until(
          [&] {
            if (std::chrono::steady_clock::now() > next) {
              c.frame(0x81, "x");
              next += 100ms;
            }
            s.loop.post([] {}); // look again
            return s.closed == 1;
          },
          10s));
      CHECK(s.server->connections() == 0);
    }
  }

  TEST_CASE("a peer that reads slowly is not taken for one that reads nothing") {
    websocket_terms terms;
    terms.stuck_limit = 1s;
    echo_server s{terms};
    raw_client c{s.loop, s.server->port()};
    c.upgrade();
    s.last->send(std::string(std::size_t{64} << 20U, 'x'));
    const auto until = std::chrono::steady_clock::now() + 2s;
    auto next = std::chrono::steady_clock::now();
    CHECK(s.loop.run_until(
        [&] {
          if (std::chrono::steady_clock::now() > next) {
            c.read_some(std::size_t{512} << 10U);
            next += 200ms;
          }
          s.loop.post([] {}); // look again
          return std::chrono::steady_clock::now() > until;
        },
        10s));
    CHECK(s.closed == 0);
    CHECK(s.last->queued_bytes() > 0);
  }

  TEST_CASE("a queue that a slow client leaves behind is counted, and its end is told") {
    echo_server s;
    raw_client c{s.loop, s.server->port()};
    c.upgrade();
    REQUIRE(s.last);
    for (int i = 0; i < 64; ++i)
      s.last->send(std::string(256 * 1024, 'x'));
    CHECK(s.last->queued_bytes() > 1024 * 1024);
    std::size_t read = 0;
    CHECK(c.until([&] {
      read += c.heard.size();
      c.heard.clear();
      return s.drained == 1;
    }));
    CHECK(read > std::size_t{64} * 256 * 1024);
    s.last->close(1013, "enough");
    s.last->send("not any more");
    CHECK(c.close_code() == 1013);
  }

  TEST_CASE("the end of the server ends its connections without a word to their owners") {
    echo_server s;
    raw_client c{s.loop, s.server->port()};
    c.upgrade();
    s.server.reset();
    CHECK(c.until([&] { return c.at_end; }));
    CHECK(s.closed == 0);
  }

  TEST_CASE("a Unix socket is for its user; a dead one is replaced, a live one and files are not") {
    const tests::temp_folder folder;
    const auto path = folder / "s.sock";
    event_loop loop;
    http_request seen;
    const auto listen = [&](const std::string& at) {
      return websocket_server::listen_unix(
          loop, at, {},
          [&](const http_request& r) {
            seen = r;
            return http_answer{200, {}, "hi"};
          },
          [](const http_request&, const auto&) { return websocket_events{}; });
    };
    auto server = listen(path);
    REQUIRE(server);
    struct stat about {};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    CHECK((about.st_mode & 0777U) == 0600);
    CHECK_FALSE(listen(path));
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path - 1);
    REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    const std::string_view text = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    REQUIRE(::send(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    CHECK(loop.run_until([&] { return seen.peer_uid.has_value(); }, 10s));
    CHECK(seen.peer_uid == ::geteuid());
    ::close(fd);
    server->reset();
    CHECK(::access(path.c_str(), F_OK) != 0);
    // Left by one that was killed.
    const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(dead, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
    ::close(dead);
    CHECK(listen(path));
    const auto file = folder.write("file", "mine");
    CHECK_FALSE(listen(file));
    CHECK_FALSE(listen(folder / std::string(200, 'x')));
    CHECK_FALSE(websocket_server::listen_tcp(loop, "localhost", 0, {}, {}, {}));
  }
}
