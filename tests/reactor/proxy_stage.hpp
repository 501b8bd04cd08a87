#pragma once

#include "reactor/network_proxy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
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

/// A proxy on the loopback, with clients and servers that speak plain sockets.
namespace gatehouse::test {

using namespace gatehouse::reactor;
using namespace std::chrono_literals;

struct listening {
  unique_fd fd;
  std::uint16_t port = 0;
};

inline listening listen_on_loopback(const char* where = "127.0.0.1") {
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
  std::vector<connection_facts> unread_facts;
  std::vector<network_refusal> unread_reasons;
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
  void unreadable(const connection_facts& what, network_refusal reason,
                  const std::string& why) override {
    unread.push_back(why);
    unread_facts.push_back(what);
    unread_reasons.push_back(reason);
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
  /// From the client's side, once a question is open: `then` on the loop.
  void when_asked(const std::function<void(std::vector<network_gate::reply>& open)>& then) {
    for (bool asked = false; !asked; std::this_thread::yield()) {
      std::promise<bool> looked;
      loop.post([&] {
        const bool open = !gate->open.empty();
        if (open) then(gate->open);
        looked.set_value(open);
      });
      asked = looked.get_future().get();
    }
  }
  /// Likewise: that host is allowed.
  void allow_when_asked(const std::string& host) {
    when_asked([&](std::vector<network_gate::reply>& open) {
      std::exchange(open, {}).at(0)({true, host, {}, {}});
    });
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

inline unique_fd accept_one(const listening& l) {
  pollfd waiting{l.fd.get(), POLLIN, 0};
  if (::poll(&waiting, 1, 10'000) != 1) return {};
  return unique_fd{::accept4(l.fd.get(), nullptr, nullptr, SOCK_CLOEXEC)};
}

inline bool nobody_came(const listening& l) {
  pollfd waiting{l.fd.get(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 0;
}

inline std::string connect_to(std::uint16_t port, const char* host = "ok.test") {
  const auto target = std::string{host} + ":" + std::to_string(port);
  return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
}

inline std::string socks_to(std::uint16_t port, std::string_view host = "ok.test") {
  std::string text{"\x05\x01\x00\x05\x01\x00\x03", 7};
  text += static_cast<char>(host.size());
  text += host;
  text += static_cast<char>(port >> 8);
  return text += static_cast<char>(port);
}

/// The least ClientHello that names a server.
inline std::string hello_for(std::string_view name) {
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

} // namespace gatehouse::test
