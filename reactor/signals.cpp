#include "reactor/signals.hpp"

#include "reactor/detail/event_loop_access.hpp"

#include <boost/asio/signal_set.hpp>

#include <cstring>
#include <string>
#include <utility>

namespace gatehouse::reactor {

using boost::system::error_code;

class signal_watch::impl final : public std::enable_shared_from_this<signal_watch::impl> {
public:
  impl(event_loop& loop, std::function<void(int)> on_signal)
      : signals_{event_loop_access::context(loop)},
        on_signal_{std::make_shared<std::function<void(int)>>(std::move(on_signal))} {}

  error_code add(int number) {
    error_code ec;
    signals_.add(number, ec);
    return ec;
  }

  void wait() {
    signals_.async_wait([self = shared_from_this()](error_code ec, int number) {
      const auto tell = self->on_signal_; // the callback may destroy the owner
      if (ec || !tell) return;
      (*tell)(number);
      if (self->on_signal_) self->wait();
    });
  }

  void abandon() {
    on_signal_.reset();
    error_code ignored;       // the set is going away
    signals_.cancel(ignored); // `clear` alone would leave the wait without anything to wait for
    signals_.clear(ignored);
  }

private:
  boost::asio::signal_set signals_;
  std::shared_ptr<std::function<void(int)>> on_signal_;
};

result<std::unique_ptr<signal_watch>> signal_watch::open(event_loop& loop,
                                                         std::initializer_list<int> signals,
                                                         std::function<void(int)> on_signal) {
  auto watch = std::make_shared<impl>(loop, std::move(on_signal));
  for (const int number : signals)
    if (const auto ec = watch->add(number))
      return error{errc::io,
                   "cannot catch signal " + std::to_string(number) + " (" + ::strsignal(number) +
                       "): " + ec.message(),
                   ""};
  watch->wait();
  return std::unique_ptr<signal_watch>{new signal_watch{std::move(watch)}};
}

signal_watch::signal_watch(std::shared_ptr<impl> i) : impl_{std::move(i)} {}
signal_watch::~signal_watch() {
  impl_->abandon();
}

} // namespace gatehouse::reactor
