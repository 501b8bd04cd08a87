#include "actors/thread_host.hpp"

#include "actors/random_id.hpp"
#include "actors/session_thread.hpp"
#include "protocol/denial_message.hpp"
#include "reactor/actor_scheduler.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/send.hpp>

#include <utility>
#include <vector>

namespace gatehouse::actors {
namespace {

using namespace std::chrono_literals;
using namespace thread_messages;

/// Of one program: some five processes and a few MiB each.
constexpr std::size_t most_attempts = 256;

/// A thread as its handles see it: gone once it is closed, whoever still holds one.
struct place {
  session_thread_actor actor; ///< unset: closed
};

/// What a message gets that no thread hears any more.
void answer_for_nobody(const thread_message& message) {
  const error closed{errc::invalid_request, "the thread is closed", {}};
  std::visit(
      [&](const auto& m) {
        using kind = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<kind, read_status> || std::is_same_v<kind, list_terminals> ||
                      std::is_same_v<kind, read_terminal>) {
          m.done({});
        } else if constexpr (std::is_same_v<kind, clean_terminals>) {
          if (m.done) m.done(0);
        } else if constexpr (requires { m.done(false); }) {
          if (m.done) m.done(false);
        } else if constexpr (std::is_same_v<kind, close_thread>) {
          if (m.done) m.done();
        } else if constexpr (requires { m.done; }) {
          if (m.done) m.done(closed);
        }
      },
      message);
}

} // namespace

struct thread_host::state {
  explicit state(std::shared_ptr<reactor::clock> time)
      : loop{time ? std::move(time) : std::make_shared<reactor::steady_clock>()} {}

  reactor::event_loop loop;
  reactor::worker_pool workers{loop, 2};
  std::shared_ptr<attempt_slots> slots = std::make_shared<attempt_slots>(most_attempts);
  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  std::vector<std::shared_ptr<place>> places;
  program_audit audit;
};

thread_host::thread_host(std::shared_ptr<reactor::clock> time)
    : state_{std::make_unique<state>(std::move(time))} {
  reactor::run_actors_on(state_->loop, state_->config);
  state_->system.emplace(state_->config);
}

thread_host::~thread_host() {
  auto& s = *state_;
  for (const auto& p : s.places) {
    if (!p->actor) continue;
    caf::anon_send(p->actor, message_v, std::make_shared<const thread_message>(close_thread{}));
    p->actor = nullptr;
  }
  (void)reactor::run_until_actors_done(s.loop, *s.system, 10s);
  s.system.reset();
  s.workers.finish(); // what it still has to write, it writes into the audit first
  s.audit = {};
}

reactor::event_loop& thread_host::loop() noexcept {
  return state_->loop;
}

reactor::worker_pool& thread_host::workers() noexcept {
  return state_->workers;
}

void thread_host::record_in(program_audit audit) {
  state_->audit = std::move(audit);
}

std::shared_ptr<audit_sink> thread_host::audit_sink() const {
  return state_->audit.sink;
}

thread_handle thread_host::open(thread_terms terms) {
  auto& s = *state_;
  if (terms.id.empty()) terms.id = "thread-" + random_id();
  const auto id = terms.id;
  if (!terms.shell.slots) terms.shell.slots = s.slots;
  std::erase_if(s.places, [](const auto& p) { return !p->actor; });
  const auto p = std::make_shared<place>();
  p->actor = s.system->spawn<session_thread>(std::move(terms), s.loop, s.workers, s.audit);
  s.places.push_back(p);
  return thread_handle{id, [p, loop = &s.loop](thread_message message) {
                         if (!p->actor) {
                           loop->post([m = std::move(message)] { answer_for_nobody(m); });
                           return;
                         }
                         const bool last = std::holds_alternative<close_thread>(message);
                         caf::anon_send(p->actor, message_v,
                                        std::make_shared<const thread_message>(std::move(message)));
                         if (last) p->actor = nullptr;
                       }};
}

result<call_report_ptr> thread_host::run(const thread_handle& thread, tool_request request,
                                         const std::function<bool()>& stop) {
  const auto end = std::make_shared<std::optional<result<call_report_ptr>>>();
  const auto id = request.call_id;
  if (stop && stop()) { // before it has begun
    call_report report;
    report.call_id = id;
    report.ending = call_ending::aborted;
    report.message = cancelled_message();
    return std::make_shared<const call_report>(std::move(report));
  }
  thread.send(begin_call{std::move(request),
                         [end](const result<call_report_ptr>& report) { end->emplace(report); }});
  bool stopped = false;
  state_->loop.run_until([&] {
    if (stop && !stopped && stop()) {
      stopped = true;
      thread.send(cancel_call{id});
    }
    return end->has_value();
  });
  return **end;
}

} // namespace gatehouse::actors
