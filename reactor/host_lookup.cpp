#include "reactor/host_lookup.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace gatehouse::reactor {
namespace {

std::vector<ip_address> look_up(const std::string& host) {
  // It has one meaning (RFC 6761), which a system without /etc/hosts does not know.
  if (host == "localhost") return {*parse_ip_address("127.0.0.1"), *parse_ip_address("::1")};
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<ip_address> out;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return out;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned{found, &freeaddrinfo};
  for (const auto* at = found; at && out.size() < 64; at = at->ai_next) {
    ip_address address;
    if (at->ai_family == AF_INET) {
      std::memcpy(address.bytes.data(),
                  &reinterpret_cast<const sockaddr_in*>(at->ai_addr)->sin_addr, 4);
    } else if (at->ai_family == AF_INET6) {
      address.v6 = true;
      std::memcpy(address.bytes.data(),
                  &reinterpret_cast<const sockaddr_in6*>(at->ai_addr)->sin6_addr, 16);
      // The one value of an IPv4-mapped address.
      if (const auto plain = parse_ip_address(to_string(address))) address = *plain;
    } else {
      continue;
    }
    if (std::ranges::find(out, address) == out.end()) out.push_back(address);
  }
  return out;
}

/// A look-up blocks, and cannot be stopped: each has a thread of its own that nobody waits for, so
/// that a silent name server keeps neither other names nor the end of a session waiting.
class thread_resolver final : public host_resolver {
public:
  explicit thread_resolver(event_loop& loop) : loop_{loop}, shared_{std::make_shared<shared>()} {
    shared_->loop = &loop;
  }
  ~thread_resolver() override {
    const std::lock_guard guard{shared_->lock};
    shared_->loop = nullptr;
    shared_->waiting.clear();
  }
  thread_resolver(const thread_resolver&) = delete;
  thread_resolver& operator=(const thread_resolver&) = delete;

  void resolve(const std::string& host, reply answer) override {
    const auto id = ++last_;
    replies_->emplace(id, std::move(answer));
    const std::weak_ptr<replies> to = replies_;
    const auto done = [to, id](std::vector<ip_address> found) {
      const auto waiting = to.lock();
      if (!waiting) return;
      auto node = waiting->extract(id);
      if (!node.empty()) node.mapped()(std::move(found));
    };
    const std::lock_guard guard{shared_->lock};
    if (shared_->waiting.size() >= most_waiting) return loop_.post([done] { done({}); });
    shared_->waiting.push_back({host, done});
    if (shared_->threads == most_threads) return;
    ++shared_->threads;
    try {
      std::thread{[s = shared_] { work(*s); }}.detach();
    } catch (const std::system_error&) { // no more threads: those that run take it, if there are
      if (--shared_->threads > 0) return;
      shared_->waiting.pop_back();
      loop_.post([done] { done({}); });
    }
  }

private:
  static constexpr std::size_t most_threads = 128, most_waiting = 1024;
  using replies = std::map<std::uint64_t, reply>; // the loop's thread only
  struct job {
    std::string host;
    std::function<void(std::vector<ip_address>)> done; ///< to be called on the loop
  };
  struct shared {
    std::mutex lock;
    event_loop* loop = nullptr; ///< unset: nobody listens any more
    std::deque<job> waiting;
    std::size_t threads = 0;
  };

  static void work(shared& s) {
    std::unique_lock guard{s.lock};
    while (s.loop && !s.waiting.empty()) {
      const auto next = std::move(s.waiting.front());
      s.waiting.pop_front();
      guard.unlock();
      auto found = look_up(next.host);
      guard.lock();
      if (s.loop) s.loop->post([done = next.done, found = std::move(found)] { done(found); });
    }
    --s.threads;
  }

  event_loop& loop_;
  std::shared_ptr<shared> shared_;
  std::shared_ptr<replies> replies_ = std::make_shared<replies>();
  std::uint64_t last_ = 0;
};

/// See fair_share.
class shared_resolver final : public host_resolver,
                              public std::enable_shared_from_this<shared_resolver> {
public:
  explicit shared_resolver(std::shared_ptr<host_resolver> of) : of_{std::move(of)} {}

  void resolve(const std::string& host, reply answer) override {
    if (running_ == most_at_once) return waiting_.emplace_back(host, std::move(answer)), void();
    ++running_;
    of_->resolve(host, [weak = weak_from_this(), answer = std::move(answer)](auto found) {
      const auto self = weak.lock();
      if (!self) return;
      --self->running_;
      if (!self->waiting_.empty()) {
        auto next = std::move(self->waiting_.front());
        self->waiting_.pop_front();
        self->resolve(next.first, std::move(next.second));
      }
      answer(std::move(found));
    });
  }

private:
  static constexpr std::size_t most_at_once = 16;

  std::shared_ptr<host_resolver> of_;
  std::size_t running_ = 0;
  std::deque<std::pair<std::string, reply>> waiting_;
};

} // namespace

std::shared_ptr<host_resolver> system_resolver(event_loop& loop) {
  return std::make_shared<thread_resolver>(loop);
}

std::shared_ptr<host_resolver> fair_share(std::shared_ptr<host_resolver> of) {
  return std::make_shared<shared_resolver>(std::move(of));
}

} // namespace gatehouse::reactor
