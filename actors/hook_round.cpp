#include "actors/hook_round.hpp"

#include <utility>

namespace gatehouse::actors {

hook_round::hook_round(reactor::event_loop& loop, hook_question question,
                       std::function<void(hook_decision)> done)
    : question_{std::move(question)}, done_{std::move(done)},
      ends_(question_.handlers.size()), open_{ends_.size()}, nobody_{loop} {
  if (open_ == 0) {
    nobody_.start(reactor::clock::duration::zero(), [this] { finish(); });
    return;
  }
  const auto input = encode_hook_payload(question_.payload);
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const auto& handler = question_.handlers[i];
    reactor::exchange_request request;
    request.spawn.argv = {"sh", "-c", handler.command};
    request.spawn.program = "/bin/sh";
    request.spawn.env = question_.env;
    request.spawn.cwd = question_.folder;
    request.input = input;
    request.limit = handler.timeout;
    running_.push_back(std::make_unique<reactor::program_exchange>(
        loop, std::move(request), [this, i](reactor::exchange_end end) {
          ends_[i] = std::move(end);
          if (--open_ == 0) finish();
        }));
  }
}

void hook_round::finish() {
  const auto done = std::move(done_);
  done(weigh_hooks(question_.payload.event, question_.handlers, ends_, question_.retry));
}

} // namespace gatehouse::actors
