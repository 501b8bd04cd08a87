#include "reactor/actor_scheduler.hpp"

#include "reactor/detail/event_loop_access.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/all.hpp>
#include <caf/detail/simple_actor_clock.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace gatehouse::reactor {
namespace {

/// Carries work from other threads to the loop's. What it has posted may come up after the actor
/// system is gone, when it must not be run any more.
class inbox : public std::enable_shared_from_this<inbox> {
public:
  explicit inbox(event_loop& loop) : loop_{loop} {}

  /// Runs `act` on the loop's thread: at once when this is it.
  void run(std::function<void()> act) {
    if (loop_.in_loop()) return act();
    const std::lock_guard lock{mutex_};
    if (closed_) return;
    waiting_.push_back(std::move(act));
    if (waiting_.size() == 1) loop_.post([self = shared_from_this()] { self->drain(); });
  }

  /// Runs what waits. Returns whether anything did. The loop's thread only.
  bool drain() {
    std::vector<std::function<void()>> taken;
    {
      const std::lock_guard lock{mutex_};
      taken.swap(waiting_);
    }
    for (const auto& act : taken)
      act();
    return !taken.empty();
  }

  void close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    waiting_.clear();
  }
  /// The loop's thread only, like `close`.
  [[nodiscard]] bool closed() const { return closed_; }

private:
  event_loop& loop_;
  std::mutex mutex_;
  std::vector<std::function<void()>> waiting_;
  bool closed_ = false;
};

/// CAF's timers on the loop's timer queue.
class loop_clock final : public caf::detail::simple_actor_clock {
  using super = caf::detail::simple_actor_clock;

public:
  loop_clock(event_loop& loop, std::shared_ptr<inbox> in) : loop_{loop}, inbox_{std::move(in)} {}

  time_point now() const noexcept override { return loop_.now(); }

  void shutdown() {
    stopped_ = true;
    disarm();
    schedule_.clear();
    actor_lookup_.clear();
  }

  void set_ordinary_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                            uint64_t id) override {
    locally([=, this, p = caf::strong_actor_ptr{self->ctrl()}] {
      super::set_ordinary_timeout(t, p->get(), type, id);
    });
  }
  void set_multi_timeout(time_point t, caf::abstract_actor* self, caf::atom_value type,
                         uint64_t id) override {
    locally([=, this, p = caf::strong_actor_ptr{self->ctrl()}] {
      super::set_multi_timeout(t, p->get(), type, id);
    });
  }
  void set_request_timeout(time_point t, caf::abstract_actor* self, caf::message_id id) override {
    locally([=, this, p = caf::strong_actor_ptr{self->ctrl()}] {
      super::set_request_timeout(t, p->get(), id);
    });
  }
  void cancel_ordinary_timeout(caf::abstract_actor* self, caf::atom_value type) override {
    locally([=, this, id = self->id()] { super::handle(ordinary_timeout_cancellation{id, type}); });
  }
  void cancel_request_timeout(caf::abstract_actor* self, caf::message_id mid) override {
    locally([=, this, id = self->id()] { super::handle(request_timeout_cancellation{id, mid}); });
  }
  // Runs in ~actor: the id only, since a reference would revive it.
  void cancel_timeouts(caf::abstract_actor* self) override {
    locally([this, id = self->id()] { super::handle(timeouts_cancellation{id}); });
  }
  void schedule_message(time_point t, caf::strong_actor_ptr receiver,
                        caf::mailbox_element_ptr content) override {
    // std::function wants a copyable closure, and a mailbox element is not copyable.
    auto held = std::make_shared<caf::mailbox_element_ptr>(std::move(content));
    locally([this, t, receiver = std::move(receiver), held] {
      super::schedule_message(t, receiver, std::move(*held));
    });
  }
  void schedule_message(time_point t, caf::group target, caf::strong_actor_ptr sender,
                        caf::message content) override {
    locally([=, this] { super::schedule_message(t, target, sender, content); });
  }
  void cancel_all() override {
    locally([this] { super::cancel_all(); });
  }

private:
  void locally(std::function<void()> act) {
    inbox_->run([this, act = std::move(act)] {
      if (stopped_) return;
      act();
      arm();
    });
  }

  void arm() {
    const auto due = schedule_.empty() ? time_point::max() : schedule_.begin()->first;
    if (due >= armed_) return; // waking for nothing is cheaper than arming again
    disarm();
    armed_ = due;
    key_ = event_loop_access::add_timer(loop_, due, [this] {
      key_.reset();
      armed_ = time_point::max();
      trigger_expired_timeouts();
      arm();
    });
  }
  void disarm() {
    if (key_) event_loop_access::cancel_timer(loop_, *key_);
    key_.reset();
    armed_ = time_point::max();
  }

  event_loop& loop_;
  std::shared_ptr<inbox> inbox_;
  bool stopped_ = false;
  time_point armed_ = time_point::max();
  std::optional<timer_queue::key> key_;
};

class loop_coordinator final : public caf::scheduler::abstract_coordinator {
public:
  loop_coordinator(caf::actor_system& system, event_loop& loop)
      : abstract_coordinator{system}, loop_{loop}, inbox_{std::make_shared<inbox>(loop)},
        clock_{loop, inbox_}, unit_{&system, this} {}

  caf::actor_clock& clock() noexcept override { return clock_; }
  [[nodiscard]] bool detaches_utility_actors() const override { return false; }

protected:
  void enqueue(caf::resumable* job) override {
    inbox_->run([this, job] { push(job); });
  }

  void start() override {
    caf::actor_config config{&unit_};
    utility_actors_[printer_id] = caf::make_actor<printer, caf::actor>(
        system().next_actor_id(), system().node(), &system(), config);
  }

  /// Called by ~actor_system on the loop's thread, when the loop no longer runs.
  void stop() override {
    clock_.shutdown();
    do { // actors of CAF's own still have their exit message to handle
      while (!jobs_.empty())
        run_one();
    } while (inbox_->drain());
    utility_actors_[printer_id] = nullptr;
    inbox_->close();
  }

private:
  struct unit final : caf::execution_unit {
    unit(caf::actor_system* system, loop_coordinator* owner)
        : caf::execution_unit{system}, parent{owner} {}
    void exec_later(caf::resumable* job) override { parent->push(job); }
    loop_coordinator* parent;
  };

  /// Where caf::aout prints: never stdout.
  struct printer final : caf::monitorable_actor {
    explicit printer(caf::actor_config& config) : caf::monitorable_actor{config} {}
    void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override {
      if (element->content().match_elements<caf::atom_value, caf::actor_id, std::string>())
        std::fputs(element->content().get_as<std::string>(2).c_str(), stderr);
    }
  };

  void push(caf::resumable* job) {
    jobs_.push_back(job);
    if (pumping_) return;
    pumping_ = true;
    post_pump();
  }

  void post_pump() {
    loop_.post([this, in = inbox_] {
      if (!in->closed()) pump();
    });
  }

  void pump() {
    // Then descriptors and timers have their turn: about a thousand messages, half a millisecond.
    constexpr int budget = 16;
    for (int left = budget; left > 0 && !jobs_.empty(); --left)
      run_one();
    pumping_ = !jobs_.empty();
    if (pumping_) post_pump();
  }

  void run_one() {
    auto* job = jobs_.front();
    jobs_.pop_front();
    switch (job->resume(&unit_, max_throughput())) {
    case caf::resumable::resume_later: jobs_.push_back(job); break;
    case caf::resumable::done:
    case caf::resumable::awaiting_message: caf::intrusive_ptr_release(job); break;
    case caf::resumable::shutdown_execution_unit: break;
    }
  }

  event_loop& loop_;
  std::shared_ptr<inbox> inbox_;
  loop_clock clock_;
  unit unit_;
  std::deque<caf::resumable*> jobs_; // the loop's thread only
  bool pumping_ = false;
};

} // namespace

void run_actors_on(event_loop& loop, caf::actor_system_config& config) {
  // Unlimited by default: an actor that sends to itself would starve the loop.
  config.set("scheduler.max-throughput", 64);
  config.module_factories.push_back(
      [&loop](caf::actor_system& system) -> caf::actor_system::module* {
        return new loop_coordinator{system, loop};
      });
}

bool run_until_actors_done(event_loop& loop, caf::actor_system& system,
                           std::chrono::milliseconds guard) {
  // The system would wait for its actors on this very thread, which runs them.
  system.await_actors_before_shutdown(false);
  return loop.run_until([&] { return system.registry().running() == 0; }, guard);
}

} // namespace gatehouse::reactor
