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
    running_.push_back(std::make_unique<reactor::program_exchange>(
        loop,
        supervised_program(question_.place, {"/bin/sh", "-c", handler.command}, input,
                           handler.timeout),
        [this, i](reactor::exchange_end end) {
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
