#include "reactor/network_proxy.hpp"

#include "reactor/descriptor_limit.hpp"
#include "reactor/detail/proxy_connection.hpp"
#include "reactor/host_lookup.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace gatehouse::reactor {
namespace {

/// After a failure that repeats itself (no descriptors left, say), and where there is no room.
constexpr std::chrono::milliseconds accept_again_after{100};
/// So long a client that may have left keeps its place although others wait for one.
constexpr std::chrono::milliseconds place_kept{1000};

/// Of all proxies of the program: descriptors are the program's, and without them no command could
/// be started. The loop's thread only.
std::size_t open_connections = 0;

std::size_t most_connections() {
  // A client, a server, and a pipe in each direction that stands still; the rest is for calls.
  constexpr std::size_t descriptors_each = 6, kept_for_calls = 256, least = 8;
  const auto limit = descriptor_limit();
  return limit > kept_for_calls ? std::max(least, (limit - kept_for_calls) / descriptors_each)
                                : least;
}

} // namespace

class network_proxy::impl : public std::enable_shared_from_this<network_proxy::impl> {
public:
  impl(unique_fd listener, proxy_terms terms)
      : terms_{std::make_shared<const proxy_terms>(std::move(terms))},
        listener_{terms_->loop, std::move(listener)}, again_{terms_->loop} {
    ::fcntl(listener_.get(), F_SETFL, ::fcntl(listener_.get(), F_GETFL) | O_NONBLOCK);
  }

  void accept() {
    if (waiting_ || closed_) return;
    waiting_ = true;
    listener_.when_readable([self = shared_from_this()] {
      self->waiting_ = false;
      self->take();
    });
  }

  void close() {
    closed_ = true;
    again_.cancel();
    listener_.close();
    open_connections -= open_.size();
    for (const auto& connection : std::exchange(open_, {}))
      connection->abandon();
  }

  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }

private:
  void take() {
    while (!closed_) {
      if (!has_room()) {
        if (!somebody_waits()) return accept();
        if (!make_room()) return again_.start(accept_again_after, [this] { accept(); });
      }
      unique_fd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (!client) {
        if (errno == EINTR || errno == ECONNABORTED) continue;
        if (errno == EAGAIN) return accept();
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
          again_.start(accept_again_after, [this] { accept(); });
        return;
      }
      const auto connection = std::make_shared<proxy_connection>(
          terms_, std::move(client),
          [weak = weak_from_this()](const std::shared_ptr<proxy_connection>& ended) {
            if (const auto self = weak.lock()) self->gone(ended);
          });
      open_.insert(connection);
      ++open_connections;
      connection->start();
    }
  }

  /// Never more than is left for all others, so that one command cannot take it all.
  [[nodiscard]] bool has_room() const {
    const auto most = most_connections();
    return open_.size() < terms_->limits.connections && open_connections < most &&
           open_.size() < most - open_connections;
  }

  [[nodiscard]] bool somebody_waits() {
    pollfd waiting{listener_.get(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }

  /// Ends the connection whose client may have left and whose server has been silent for longest.
  bool make_room() {
    auto since = terms_->loop.now() - place_kept;
    std::shared_ptr<proxy_connection> found;
    for (const auto& connection : open_)
      if (const auto left = connection->maybe_left(); left && *left <= since) {
        since = *left;
        found = connection;
      }
    if (found) found->end();
    return found && has_room();
  }

  void gone(const std::shared_ptr<proxy_connection>& ended) {
    open_connections -= open_.erase(ended);
    again_.cancel();
    accept();
  }

  std::shared_ptr<const proxy_terms> terms_;
  watched_fd listener_;
  timer again_;
  std::set<std::shared_ptr<proxy_connection>> open_;
  bool waiting_ = false, closed_ = false;
};

std::unique_ptr<network_proxy> network_proxy::serve(event_loop& loop, unique_fd listener,
                                                    std::shared_ptr<network_gate> gate,
                                                    std::shared_ptr<host_resolver> resolver,
                                                    proxy_limits limits,
                                                    std::optional<forward_target> target) {
  auto made = std::make_shared<impl>(
      std::move(listener), proxy_terms{loop, std::move(gate), fair_share(std::move(resolver)),
                                       std::make_shared<pipe_pool>(), limits, std::move(target)});
  made->accept();
  return std::unique_ptr<network_proxy>{new network_proxy{std::move(made)}};
}

network_proxy::network_proxy(std::shared_ptr<impl> i) : impl_{std::move(i)} {}
network_proxy::~network_proxy() {
  impl_->close();
}

std::size_t network_proxy::connections() const noexcept {
  return impl_->size();
}

} // namespace gatehouse::reactor
