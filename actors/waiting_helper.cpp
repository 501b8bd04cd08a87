#include "actors/waiting_helper.hpp"

#include <utility>

namespace gatehouse::actors {
namespace {

constexpr std::chrono::seconds longest_wait{10};

} // namespace

result<std::unique_ptr<command_process>> waiting_helper::start(const command_request& request,
                                                               command_listener listener) {
  const auto give_up_waiting = [this] {
    next_.cancel();
    idle_.cancel();
    return std::exchange(helper_, nullptr);
  };
  if (!helper_process::fits(request)) {
    auto other = helper_process::start(loop_, request, std::move(listener));
    if (!other) return other.error();
    return std::unique_ptr<command_process>{*std::move(other)};
  }
  auto own = give_up_waiting();
  const bool same = before_.helper == request.launch.helper &&
                    environment_ == request.environment &&
                    helper_process::collects(before_) == helper_process::collects(request.launch);
  before_ = request.launch;
  before_.command = {"-"}; // nothing of ours is shown longer than it runs
  environment_ = request.environment;
  // While the command itself runs this thread has the least to do.
  listener.on_started = [weak = weak_from_this(), told = std::move(listener.on_started)] {
    if (const auto self = weak.lock(); self && !self->helper_ && !self->next_.pending())
      self->next_.start({}, [self = self.get()] { self->start_next(); });
    if (told) told();
  };
  if (own && same && own->give(request, listener))
    return std::unique_ptr<command_process>{std::move(own)};
  auto fresh = helper_process::start(loop_, request, std::move(listener));
  if (!fresh) return fresh.error();
  return std::unique_ptr<command_process>{*std::move(fresh)};
}

void waiting_helper::start_next() {
  auto started = helper_process::start_ahead(loop_, before_, environment_);
  if (!started) return; // the next command says why
  helper_ = *std::move(started);
  idle_.start(longest_wait, [this] { helper_.reset(); });
}

} // namespace gatehouse::actors
