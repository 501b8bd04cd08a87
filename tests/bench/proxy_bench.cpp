// bench_proxy: bytes through CONNECT against the same bytes over a direct loopback connection, many
// connections at once, and the latency that the proxy adds. Prints one JSON object.
#include "reactor/network_proxy.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::reactor;
using seconds = std::chrono::duration<double>;

namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

std::uint16_t port_of(int fd) {
  sockaddr_in at{};
  socklen_t size = sizeof at;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  return ntohs(at.sin_port);
}

unique_fd listen_now() {
  unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) fail("bind");
  if (::listen(fd.get(), 4096) != 0) fail("listen");
  return fd;
}

unique_fd connect_to(std::uint16_t port) {
  unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) fail("connect");
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

unique_fd through(std::uint16_t proxy, std::uint16_t port) {
  auto fd = connect_to(proxy);
  const auto target = "127.0.0.1:" + std::to_string(port);
  const auto head = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n";
  if (::send(fd.get(), head.data(), head.size(), 0) < 0) fail("send");
  std::string answer;
  for (char c = 0; !answer.ends_with("\r\n\r\n"); answer += c)
    if (::recv(fd.get(), &c, 1, 0) != 1) fail("the proxy's answer");
  if (!answer.starts_with("HTTP/1.1 200")) fail("the proxy's answer");
  return fd;
}

struct open_gate : network_gate {
  std::shared_ptr<void> decide(const connection_facts& what, reply answer) override {
    answer({true, what.host, {}, {}});
    return nullptr;
  }
  address_verdict check(const connection_facts&, const std::string&,
                        std::span<const ip_address> addresses) override {
    return {{addresses.begin(), addresses.end()}, {}, {}};
  }
  std::optional<std::string> disagreement(const connection_facts&, const std::string&,
                                          std::string_view, named_by) override {
    return std::nullopt;
  }
  void unreadable(const connection_facts&, network_refusal, const std::string&) override {}
};

struct no_names : host_resolver {
  void resolve(const std::string&, reply) override {}
};

/// The two ends stay apart: on one processor a direct connection is only half as fast as it can be.
void stay_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  (void)::sched_setaffinity(0, sizeof set, &set); // there may be only one
}

/// Answers one byte 's' with `bytes` bytes, and every 'p' with one byte.
void serve(int listener, std::size_t bytes) {
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    std::thread{[fd, bytes] {
      stay_on(1);
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      std::vector<char> block(256 * 1024, 'x');
      char what = 0;
      while (::recv(fd, &what, 1, 0) == 1) {
        std::size_t left = what == 's' ? bytes : 1;
        while (left > 0) {
          const auto n = ::send(fd, block.data(), std::min(left, block.size()), MSG_NOSIGNAL);
          if (n <= 0) break;
          left -= static_cast<std::size_t>(n);
        }
      }
      ::close(fd);
    }}.detach();
  }
}

double megabytes_a_second(int fd, std::size_t bytes) {
  std::vector<char> block(256 * 1024);
  const auto begin = std::chrono::steady_clock::now();
  ::send(fd, "s", 1, 0);
  for (std::size_t got = 0; got < bytes;) {
    const auto n = ::recv(fd, block.data(), block.size(), 0);
    if (n <= 0) fail("recv");
    got += static_cast<std::size_t>(n);
  }
  const seconds taken = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(bytes) / 1e6 / taken.count();
}

double microseconds_a_turn(int fd, int turns) {
  std::vector<double> taken;
  for (int i = 0; i < turns; ++i) {
    char c = 0;
    const auto begin = std::chrono::steady_clock::now();
    ::send(fd, "p", 1, 0);
    if (::recv(fd, &c, 1, 0) != 1) fail("recv");
    taken.push_back(seconds{std::chrono::steady_clock::now() - begin}.count() * 1e6);
  }
  std::sort(taken.begin(), taken.end());
  return taken[taken.size() / 2];
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 7;
  const int parallel = argc > 2 ? std::atoi(argv[2]) : 1000;
  constexpr std::size_t bytes = std::size_t{1} << 30;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);

  const auto server = listen_now();
  std::thread{[&] { serve(server.get(), bytes); }}.detach();
  const auto port = port_of(server.get());
  event_loop loop;
  auto listener = listen_now();
  const auto proxy_port = port_of(listener.get());
  auto proxy = network_proxy::serve(loop, std::move(listener), std::make_shared<open_gate>(),
                                    std::make_shared<no_names>());
  std::thread turning{[&] { loop.run(); }};

  stay_on(0);
  std::vector<double> direct, proxied, ratios;
  for (int run = 0; run < runs; ++run) {
    direct.push_back(megabytes_a_second(connect_to(port).get(), bytes));
    proxied.push_back(megabytes_a_second(through(proxy_port, port).get(), bytes));
    ratios.push_back(proxied.back() / direct.back());
  }
  const double plain = microseconds_a_turn(connect_to(port).get(), 2000);
  const double added = microseconds_a_turn(through(proxy_port, port).get(), 2000);
  std::vector<double> connecting;
  for (int i = 0; i < 200; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    (void)through(proxy_port, port);
    connecting.push_back(seconds{std::chrono::steady_clock::now() - begin}.count() * 1e6);
  }

  const auto begin = std::chrono::steady_clock::now();
  std::vector<unique_fd> many;
  for (int i = 0; i < parallel; ++i)
    many.push_back(through(proxy_port, port));
  for (const auto& fd : many)
    ::send(fd.get(), "p", 1, 0);
  int answered = 0;
  for (const auto& fd : many) {
    char c = 0;
    answered += ::recv(fd.get(), &c, 1, 0) == 1 ? 1 : 0;
  }
  const seconds all = std::chrono::steady_clock::now() - begin;
  std::printf("{\"direct_mb_s\": %.0f, \"proxied_mb_s\": %.0f, \"ratio\": %.2f, "
              "\"turn_us\": %.1f, \"proxied_turn_us\": %.1f, \"connect_us\": %.0f, "
              "\"parallel\": %d, \"answered\": %d, \"parallel_s\": %.2f}\n",
              median(direct), median(proxied), median(ratios), plain, added, median(connecting),
              parallel, answered, all.count());
  std::fflush(stdout);
  std::_Exit(answered == parallel ? 0 : 1);
}
