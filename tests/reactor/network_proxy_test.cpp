#include "reactor/network_proxy.hpp"
#include "reactor/proxy_dial.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace std::chrono_literals;

namespace {

struct listening {
  unique_fd fd;
  std::uint16_t port = 0;
};

listening listen_on_loopback(const char* where = "127.0.0.1") {
  listening l;
  const bool v6 = std::string_view{where}.find(':') != std::string_view::npos;
  l.fd.reset(::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage at{};
  socklen_t size = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  at.ss_family = v6 ? AF_INET6 : AF_INET;
  if (v6)
    inet_pton(AF_INET6, where, &reinterpret_cast<sockaddr_in6&>(at).sin6_addr);
  else
    inet_pton(AF_INET, where, &reinterpret_cast<sockaddr_in&>(at).sin_addr);
  REQUIRE(::bind(l.fd.get(), reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(::listen(l.fd.get(), 1024) == 0);
  ::getsockname(l.fd.get(), reinterpret_cast<sockaddr*>(&at), &size);
  l.port = ntohs(reinterpret_cast<sockaddr_in&>(at).sin_port);
  return l;
}

/// A blocking client.
class client {
public:
  explicit client(std::uint16_t port) : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) fd_.reset();
    const timeval limit{10, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  explicit client(unique_fd fd) : fd_{std::move(fd)} {}

  void send(std::string_view text) const {
    while (!text.empty()) {
      const auto n = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  [[nodiscard]] std::string some(std::size_t least) const {
    std::string out;
    char chunk[4096];
    while (out.size() < least) {
      const auto n = ::recv(fd_.get(), chunk, std::min(sizeof chunk, least - out.size()), 0);
      if (n <= 0) break;
      out.append(chunk, static_cast<std::size_t>(n));
    }
    return out;
  }
  [[nodiscard]] std::string all() const { return some(std::string::npos); }
  [[nodiscard]] std::string head() const {
    std::string out;
    while (!out.ends_with("\r\n\r\n")) {
      const auto next = some(1);
      if (next.empty()) break;
      out += next;
    }
    return out;
  }
  void end_of_input() const { ::shutdown(fd_.get(), SHUT_WR); }
  [[nodiscard]] int get() const { return fd_.get(); }
  void close() { fd_.reset(); }

private:
  unique_fd fd_;
};

/// What the gate is told and says.
struct fake_gate : network_gate {
  std::map<std::string, bool> hosts; ///< absent: the answer is kept open
  std::vector<connection_facts> asked;
  std::vector<std::string> unread, disagreed;
  std::vector<network_protocol> unread_protocols;
  std::vector<reply> open;
  int gone = 0;
  bool addresses_allowed = true;
  int checked = 0;

  std::shared_ptr<void> decide(const connection_facts& what, reply answer) override {
    asked.push_back(what);
    const auto known = hosts.find(what.host);
    if (known == hosts.end()) {
      open.push_back(std::move(answer));
      return {this, [](fake_gate* g) { ++g->gone; }};
    }
    if (known->second)
      answer({true, what.host, {}, {}});
    else
      answer({false, {}, network_refusal::denied_by_rule, "blocked for the test: ask the user"});
    return nullptr;
  }
  address_verdict check(const connection_facts&, const std::string&,
                        std::span<const ip_address> addresses) override {
    ++checked;
    if (!addresses_allowed) return {{}, network_refusal::local_address, "it is local"};
    return {{addresses.begin(), addresses.end()}, {}, {}};
  }
  std::optional<std::string> disagreement(const connection_facts&, const std::string& host,
                                          std::string_view name, named_by) override {
    if (host == name) return std::nullopt;
    disagreed.emplace_back(name);
    return "it names another server";
  }
  void unreadable(const connection_facts& what, const std::string& why) override {
    unread.push_back(why);
    unread_protocols.push_back(what.protocol);
  }
};

struct fake_resolver : host_resolver {
  explicit fake_resolver(event_loop& l) : loop{l} {}
  void resolve(const std::string& host, reply answer) override {
    asked.push_back(host);
    const auto found = names.find(host);
    const auto addresses = found == names.end() ? std::vector<ip_address>{} : found->second;
    loop.post([answer, addresses] { answer(addresses); });
  }
  event_loop& loop;
  std::map<std::string, std::vector<ip_address>> names;
  std::vector<std::string> asked;
};

struct stage {
  explicit stage(proxy_limits limits = {}) {
    auto l = listen_on_loopback();
    port = l.port;
    resolver->names["ok.test"] = {ipv4_address(0x7f000001)};
    gate->hosts = {{"ok.test", true}, {"denied.test", false}, {"gone.test", true}};
    proxy = network_proxy::serve(loop, std::move(l.fd), gate, resolver, limits);
  }

  /// Runs a client's side on a thread of its own while the loop runs here.
  void during(const std::function<void()>& body) {
    std::atomic<bool> done = false;
    std::thread other{[&] {
      body();
      done = true;
      loop.post([] {});
    }};
    CHECK(loop.run_until([&] { return done.load(); }, 30s));
    other.join();
  }
  [[nodiscard]] bool settled() {
    return loop.run_until([&] { return proxy->connections() == 0; }, 5s);
  }

  event_loop loop;
  std::shared_ptr<fake_gate> gate = std::make_shared<fake_gate>();
  std::shared_ptr<fake_resolver> resolver = std::make_shared<fake_resolver>(loop);
  std::uint16_t port = 0;
  std::unique_ptr<network_proxy> proxy;
};

unique_fd accept_one(const listening& l) {
  pollfd waiting{l.fd.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 10'000) != 1) return {};
  return unique_fd{::accept4(l.fd.get(), nullptr, nullptr, SOCK_CLOEXEC)};
}

bool nobody_came(const listening& l) {
  pollfd waiting{l.fd.get(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 0;
}

std::string connect_to(std::uint16_t port, const char* host = "ok.test") {
  const auto target = std::string{host} + ":" + std::to_string(port);
  return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
}

std::string socks_to(std::uint16_t port, std::string_view host = "ok.test") {
  std::string text{"\x05\x01\x00\x05\x01\x00\x03", 7};
  text += static_cast<char>(host.size());
  text += host;
  text += static_cast<char>(port >> 8);
  return text += static_cast<char>(port);
}

/// The least ClientHello that names a server.
std::string hello_for(std::string_view name) {
  const auto counted = [](std::size_t size, const std::string& body) {
    std::string out;
    for (auto i = size; i-- > 0;)
      out += static_cast<char>(body.size() >> (8 * i));
    return out + body;
  };
  const auto names = counted(2, std::string(1, '\0') + counted(2, std::string{name}));
  const std::string body = "\x03\x03" + std::string(32, 'r') + std::string(1, '\0') +
                           counted(2, "\x13\x01") + counted(1, std::string(1, '\0')) +
                           counted(2, std::string(2, '\0') + counted(2, names));
  return "\x16\x03\x01" + counted(2, '\x01' + counted(3, body));
}

} // namespace

TEST_SUITE("reactor.network_proxy") {
  TEST_CASE("§143 BR-090 a tunnel is transparent: server first, both ways, half-close") {
    for (const bool socks : {false, true}) {
      stage s;
      const auto server = listen_on_loopback();
      s.during([&] {
        client c{s.port};
        c.send(socks ? socks_to(server.port) : connect_to(server.port));
        const auto answer = socks ? c.some(12) : c.head();
        if (socks)
          CHECK(answer == std::string("\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12));
        else
          CHECK(answer.starts_with("HTTP/1.1 200 "));
        client peer{accept_one(server)};
        peer.send("SSH-2.0-banner\r\n"); // before the client has said a word
        CHECK(c.some(16) == "SSH-2.0-banner\r\n");
        c.send("hello");
        CHECK(peer.some(5) == "hello");
        c.end_of_input();
        CHECK(peer.all().empty());
        peer.send(std::string(3'000'000, 'x'));
        peer.close();
        CHECK(c.all().size() == 3'000'000);
      });
      CHECK(s.settled());
      CHECK(s.gate->asked.at(0).protocol ==
            (socks ? network_protocol::socks5_tcp : network_protocol::https));
    }
  }

  TEST_CASE("§143 a plain request reaches the server as its own, and nothing behind it does") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client c{s.port};
      const auto authority = "ok.test:" + std::to_string(server.port);
      c.send("POST http://" + authority + "/p?q HTTP/1.1\r\nHost: " + authority +
             "\r\nProxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbody"
             "DELETE http://" +
             authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
      client peer{accept_one(server)};
      CHECK(peer.head() == "POST /p?q HTTP/1.1\r\nHost: " + authority +
                               "\r\nContent-Length: 4\r\nConnection: close\r\n\r\n");
      CHECK(peer.some(4) == "body");
      peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nanswer");
      ::shutdown(peer.get(), SHUT_WR);
      CHECK(c.all().ends_with("answer"));
      c.close();
      CHECK(peer.all().empty());
    });
    CHECK(s.settled());
    CHECK(s.gate->asked.size() == 1);
    CHECK(s.gate->asked.at(0).method == "POST");
    CHECK(s.gate->asked.at(0).also_named.size() == 1);
  }

  TEST_CASE("§143 a client that has said everything may end its side and still gets the answer") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client c{s.port};
      const auto authority = "ok.test:" + std::to_string(server.port);
      c.send("GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
      client peer{accept_one(server)};
      CHECK_FALSE(peer.head().empty());
      c.end_of_input();
      std::this_thread::sleep_for(20ms);
      peer.send("HTTP/1.0 200 OK\r\n\r\nlate");
      peer.close();
      CHECK(c.all().ends_with("late"));
    });
    CHECK(s.settled());
  }

  TEST_CASE("§143 BR-089 a refusal is readable in every protocol and reaches no server") {
    stage s;
    s.during([&] {
      for (const auto& text :
           {connect_to(443, "denied.test"),
            std::string{"GET http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\n\r\n"}}) {
        client c{s.port};
        c.send(text);
        const auto answer = c.all();
        CHECK(answer.starts_with("HTTP/1.1 403 Blocked by Gatehouse (denied_by_rule)\r\n"));
        CHECK(answer.find("X-Gatehouse-Decision: denied_by_rule\r\n") != std::string::npos);
        CHECK(answer.ends_with("blocked for the test: ask the user\n"));
      }
      client c{s.port};
      c.send(socks_to(443, "denied.test"));
      CHECK(c.all() == std::string("\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00", 12));
    });
    CHECK(s.settled());
    CHECK(s.resolver->asked.empty()); // BR-077: no name is looked up before its yes
  }

  TEST_CASE("§143 BR-080 what a name leads to is checked before it is dialled") {
    stage s;
    s.gate->addresses_allowed = false;
    const auto server = listen_on_loopback();
    s.during([&] {
      client c{s.port};
      c.send(connect_to(server.port));
      CHECK(c.all().find("it is local") != std::string::npos);
    });
    CHECK(s.gate->checked == 1);
    CHECK(nobody_came(server));
  }

  TEST_CASE("§143 the tunnel stands only when the server does: no false success") {
    stage s;
    const auto closed = [] {
      auto l = listen_on_loopback();
      return l.port;
    }();
    s.during([&] {
      for (const auto& text : {connect_to(closed), connect_to(443, "gone.test")}) {
        client c{s.port};
        c.send(text);
        // Many clients show the status line and nothing else of a failed CONNECT.
        CHECK(c.all().starts_with("HTTP/1.1 502 Bad Gateway (" +
                                  std::string{text.find("gone") == std::string::npos
                                                  ? "No connection to ok.test:"
                                                  : "The name gone.test has no address"}));
      }
      client c{s.port};
      c.send(socks_to(closed));
      CHECK(c.all().substr(2, 2) == "\x05\x04");
    });
  }

  TEST_CASE("§143 a TLS server name must be the host that was asked for") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client good{s.port};
      good.send(connect_to(server.port));
      CHECK(good.head().starts_with("HTTP/1.1 200"));
      const auto hello = hello_for("ok.test");
      good.send(hello.substr(0, 20));
      client peer{accept_one(server)};
      good.send(hello.substr(20));
      CHECK(peer.some(hello.size()) == hello);

      client bad{s.port};
      bad.send(connect_to(server.port) + hello_for("evil.test"));
      CHECK(bad.head().starts_with("HTTP/1.1 200"));
      client other{accept_one(server)};
      CHECK(bad.all() == std::string("\x15\x03\x01\x00\x02\x02\x31", 7));
      CHECK(other.all().empty()); // not a byte of it came through
    });
    CHECK(s.gate->disagreed == std::vector<std::string>{"evil.test"});
  }

  TEST_CASE("§143 malformed input opens no connection, and is answered or cut") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      for (const auto& text :
           {std::string{"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n"}, std::string{"NONSENSE\r\n\r\n"},
            std::string{"\x04\x01\x00\x50\x00\x00\x00\x01", 8}, std::string{"\x05\x01\x02", 3},
            std::string{"\x16\x03\x01\r\n\r\n"},
            "GET http://ok.test:" + std::to_string(server.port) +
                "/ HTTP/1.1\r\nHost: ok.test\r\nHost: ok.test\r\n\r\n",
            std::string{"\x05\x01\x00\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x35", 13}}) {
        client c{s.port};
        c.send(text);
        (void)c.all();
      }
    });
    CHECK(s.settled());
    CHECK(s.gate->asked.empty());
    CHECK(s.gate->unread.size() == 7);
    CHECK(s.gate->unread.back() == "SOCKS5: UDP is not carried");
    CHECK(s.gate->unread_protocols.front() == network_protocol::http);
    CHECK(s.gate->unread_protocols.back() == network_protocol::socks5_tcp);
    CHECK(nobody_came(server));
  }

  TEST_CASE("§143 a record that servers skip hides no ClientHello: nothing reaches the server") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      for (const bool socks : {false, true}) {
        client c{s.port};
        c.send((socks ? socks_to(server.port) : connect_to(server.port)) +
               std::string{"\x15\x03\x01\x00\x02\x01\x5a", 7} + hello_for("evil.test"));
        (void)(socks ? c.some(12) : c.head());
        client peer{accept_one(server)};
        CHECK(peer.all().empty());
        CHECK(c.all() == std::string("\x15\x03\x01\x00\x02\x02\x31", 7));
      }
    });
    CHECK(s.gate->unread.size() == 2);
  }

  TEST_CASE("§143 a second ClientHello that names another server does not reach the server") {
    stage s;
    const auto server = listen_on_loopback();
    const std::string change{"\x14\x03\x03\x00\x01\x01", 6};
    s.during([&] {
      const auto first = hello_for("ok.test");
      for (const bool good : {true, false}) {
        client c{s.port};
        c.send(connect_to(server.port) + first);
        CHECK(c.head().starts_with("HTTP/1.1 200"));
        client peer{accept_one(server)};
        CHECK(peer.some(first.size()) == first);
        peer.send("retry!");
        CHECK(c.some(6) == "retry!");
        const auto second = hello_for(good ? "ok.test" : "evil.test");
        c.send(change + second.substr(0, 30));
        CHECK(peer.some(change.size()) == change);
        c.send(second.substr(30));
        CHECK(peer.some(second.size()) == (good ? second : ""));
        if (!good) continue;
        const std::string data{"\x17\x03\x03\x00\x03xyz", 8};
        c.send(data + "the rest");
        CHECK(peer.some(data.size() + 8) == data + "the rest");
      }
    });
    CHECK(s.gate->disagreed == std::vector<std::string>{"evil.test"});
  }

  TEST_CASE("§143 a request inside a tunnel that names another server does not reach it") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      const std::string head = "GET /x HTTP/1.1\r\nA: b\r\nHost: evil.test\r\n\r\n";
      for (const bool socks : {false, true})
        for (const std::size_t split : {std::size_t{0}, std::size_t{3}, head.size() - 1}) {
          client c{s.port};
          c.send((socks ? socks_to(server.port) : connect_to(server.port)) + head.substr(0, split));
          (void)(socks ? c.some(12) : c.head());
          client peer{accept_one(server)};
          // Nothing is held back that is no whole request yet.
          CHECK(peer.some(split) == head.substr(0, split));
          c.send(head.substr(split));
          const auto answer = c.all();
          CHECK(answer.starts_with("HTTP/1.1 403 Blocked by Gatehouse (names_disagree)\r\n"));
          CHECK(answer.ends_with("it names another server\n"));
          CHECK(peer.all().empty());
        }
      client good{s.port};
      good.send(connect_to(server.port));
      (void)good.head();
      client peer{accept_one(server)};
      const std::string request = "POST / HTTP/1.1\r\nHost: ok.test\r\n\r\nbody and more";
      good.send(request);
      CHECK(peer.some(request.size()) == request);
    });
    CHECK(s.gate->disagreed.size() == 6);
  }

  TEST_CASE("§143 BR-090 what a client sends ahead waits for its answer, however much it is") {
    stage s;
    const auto server = listen_on_loopback();
    s.resolver->names["asked.test"] = {ipv4_address(0x7f000001)};
    s.during([&] {
      const std::string body(3'000'000, 'x');
      const auto authority = "asked.test:" + std::to_string(server.port);
      for (const bool tunnel : {true, false}) {
        client c{s.port};
        std::thread writer{[&] {
          c.send(tunnel ? connect_to(server.port, "asked.test") + body
                        : "POST http://" + authority + "/ HTTP/1.1\r\nHost: " + authority +
                              "\r\nContent-Length: 3000000\r\n\r\n" + body);
        }};
        std::this_thread::sleep_for(50ms);
        s.loop.post([&] {
          auto answer = std::exchange(s.gate->open, {});
          answer.at(0)({true, "asked.test", {}, {}});
        });
        client peer{accept_one(server)};
        if (!tunnel) CHECK(peer.head().starts_with("POST / HTTP/1.1\r\n"));
        CHECK(peer.some(body.size()) == body);
        writer.join();
        peer.send("HTTP/1.1 200 OK\r\n\r\n");
        peer.close();
        CHECK(c.all().ends_with("HTTP/1.1 200 OK\r\n\r\n"));
      }
    });
    CHECK(s.settled());
  }

  TEST_CASE("§143 BR-090 a client that ends its side before the server is there gets the answer") {
    stage s;
    const auto server = listen_on_loopback();
    s.resolver->names["asked.test"] = {ipv4_address(0x7f000001)};
    s.during([&] {
      const auto authority = "asked.test:" + std::to_string(server.port);
      for (const auto& text :
           {"GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n",
            connect_to(server.port, "asked.test") + "all of it"}) {
        client c{s.port};
        c.send(text);
        c.end_of_input();
        std::this_thread::sleep_for(50ms);
        s.loop.post([&] {
          auto answer = std::exchange(s.gate->open, {});
          answer.at(0)({true, "asked.test", {}, {}});
        });
        client peer{accept_one(server)};
        if (text.starts_with("GET"))
          CHECK_FALSE(peer.head().empty());
        else
          CHECK(peer.all() == "all of it"); // and its end
        peer.send("HTTP/1.0 200 OK\r\n\r\nlate");
        peer.close();
        CHECK(c.all().ends_with("late"));
      }
      // A part of a request is none.
      client c{s.port};
      c.send("POST http://" + authority + "/ HTTP/1.1\r\nHost: " + authority +
             "\r\nContent-Length: 9\r\n\r\nbody");
      c.end_of_input();
      CHECK(c.all().empty());
    });
    CHECK(s.settled());
    CHECK(s.gate->gone == 3);
  }

  TEST_CASE(
      "§143 a client that asks again where its server keeps the connection is not left waiting") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      const auto authority = "ok.test:" + std::to_string(server.port);
      const auto request =
          "GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
      client c{s.port};
      c.send(request);
      client peer{accept_one(server)};
      CHECK_FALSE(peer.head().empty());
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
      peer.send(answer);
      CHECK(c.some(answer.size()) == answer);
      c.send("\r\n"); // old clients end a body so
      c.send(request);
      CHECK(c.all().empty()); // it asks on another connection
      c.close();
      CHECK(peer.all().empty());
    });
    CHECK(s.settled());
  }

  TEST_CASE(
      "§143 a broken client of a silent server is noticed, and one that may have left makes room") {
    proxy_limits limits;
    limits.connections = 2;
    stage s{limits};
    const auto server = listen_on_loopback();
    s.during([&] {
      const auto authority = "ok.test:" + std::to_string(server.port);
      const auto request =
          "GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
      client broken{s.port};
      broken.send(request);
      client peer{accept_one(server)};
      CHECK_FALSE(peer.head().empty());
      const linger at_once{1, 0};
      ::setsockopt(broken.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      broken.close();
      CHECK(peer.all().empty());
      peer.close();

      client left{s.port}, there{s.port};
      left.send(request);
      client first{accept_one(server)};
      there.send(connect_to(server.port));
      (void)there.head();
      client second{accept_one(server)};
      left.close();
      client next{s.port};
      next.send(connect_to(server.port));
      CHECK(next.head().starts_with("HTTP/1.1 200"));
      (void)first.head();
      CHECK(first.all().empty());
      there.send("still there");
      CHECK(second.some(11) == "still there");
    });
  }

  TEST_CASE("§116 a client that leaves while somebody is asked takes its question with it") {
    stage s;
    s.during([&] {
      client c{s.port};
      c.send(connect_to(443, "asked.test"));
      std::this_thread::sleep_for(50ms);
    });
    CHECK(s.settled());
    CHECK(s.gate->open.size() == 1);
    CHECK(s.gate->gone == 1);
    s.gate->open[0]({true, "asked.test", {}, {}}); // too late: changes nothing
    CHECK(s.resolver->asked.empty());
  }

  TEST_CASE("§143 an answer that comes later lets the connection go on, with what was sent ahead") {
    stage s;
    const auto server = listen_on_loopback();
    s.resolver->names["asked.test"] = {ipv4_address(0x7f000001)};
    s.during([&] {
      client c{s.port};
      c.send(connect_to(server.port, "asked.test") + "early");
      std::this_thread::sleep_for(30ms);
      s.loop.post([&] { s.gate->open.at(0)({true, "asked.test", {}, {}}); });
      CHECK(c.head().starts_with("HTTP/1.1 200"));
      client peer{accept_one(server)};
      CHECK(peer.some(5) == "early");
    });
  }

  TEST_CASE("§143 limits: a silent client is cut, a full house waits, an idle tunnel ends") {
    proxy_limits limits;
    limits.connections = 2;
    limits.request = 50ms;
    limits.idle = 100ms;
    stage s{limits};
    const auto server = listen_on_loopback();
    s.during([&] {
      client silent{s.port}, half{s.port}, third{s.port};
      half.send("GET http://ok.te");
      third.send(connect_to(server.port));
      CHECK(silent.all().empty());
      CHECK(half.all().starts_with("HTTP/1.1 408"));
      half.close();
      CHECK(third.head().starts_with("HTTP/1.1 200"));
      CHECK(third.all().empty()); // idle
    });
    CHECK(s.settled());
  }

  TEST_CASE("§143 a server or client that reads nothing stalls only its own connection") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client stuck{s.port};
      stuck.send(connect_to(server.port));
      (void)stuck.head();
      client slow{accept_one(server)};
      std::string flood;
      flood.resize(64'000'000, 'x');
      std::thread writer{[&] { stuck.send(flood); }};
      client c{s.port};
      c.send(connect_to(server.port));
      (void)c.head();
      client peer{accept_one(server)};
      for (int i = 0; i < 100; ++i) {
        c.send("ping");
        REQUIRE(peer.some(4) == "ping");
        peer.send("pong");
        REQUIRE(c.some(4) == "pong");
      }
      slow.close();
      writer.join();
    });
  }

  TEST_CASE("§143 a listener of a granted port leads to that port and nowhere else") {
    stage s;
    const auto server = listen_on_loopback();
    auto l = listen_on_loopback();
    s.gate->hosts["127.0.0.1"] = true;
    auto bridge = network_proxy::serve(s.loop, std::move(l.fd), s.gate, s.resolver, {},
                                       forward_target{"127.0.0.1", server.port});
    s.during([&] {
      client c{l.port};
      client peer{accept_one(server)};
      c.send("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
      CHECK(peer.some(8) == "CONNECT ");
      peer.send("raw");
      CHECK(c.some(3) == "raw");
    });
    CHECK(s.gate->asked.size() == 1);
  }

  TEST_CASE("§143 BR-083 a dead family does not keep a live one waiting") {
    event_loop loop;
    const auto server = listen_on_loopback();
    // Discard-only: packets vanish or are refused, both must do.
    const std::vector<ip_address> addresses{*parse_ip_address("100::1"), ipv4_address(0x7f000001)};
    bool connected = false;
    const auto begin = std::chrono::steady_clock::now();
    dial d{loop, addresses, server.port, 5s, [&](const result<unique_fd>& fd) {
             connected = fd.has_value();
             loop.stop();
           }};
    loop.run();
    CHECK(connected);
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
  }

  TEST_CASE("§143 a dial says why nothing answered, and gives up at its limit") {
    event_loop loop;
    const auto closed = listen_on_loopback().port;
    std::string why;
    dial d{loop, {ipv4_address(0x7f000001)}, closed, 5s, [&](const result<unique_fd>& fd) {
             REQUIRE_FALSE(fd.has_value());
             why = fd.error().message;
             loop.stop();
           }};
    loop.run();
    CHECK(why == "Connection refused");
  }

  TEST_CASE("§143 the end of the proxy cuts everything at once") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client c{s.port};
      c.send(connect_to(server.port));
      (void)c.head();
      client peer{accept_one(server)};
      s.loop.post([&] { s.proxy.reset(); });
      CHECK(c.all().empty());
      CHECK(peer.all().empty());
    });
  }
}
