#include "reactor/actor_scheduler.hpp"

#include <caf/all.hpp>
#include <doctest/doctest.h>

#include <thread>

using namespace gatehouse::reactor;
using namespace std::chrono_literals;

namespace {

using add_atom = caf::atom_constant<caf::atom("add")>;
using tick_atom = caf::atom_constant<caf::atom("tick")>;
using spin_atom = caf::atom_constant<caf::atom("spin")>;
using counter_actor = caf::typed_actor<caf::replies_to<add_atom, int>::with<int>,
                                       caf::reacts_to<tick_atom>, caf::reacts_to<spin_atom>>;

struct counter_impl : counter_actor::base {
  counter_impl(caf::actor_config& config, int* ticks, std::thread::id* seen_on)
      : counter_actor::base{config}, ticks_{ticks}, seen_on_{seen_on} {}
  behavior_type make_behavior() override {
    return {[this](add_atom, int n) {
              *seen_on_ = std::this_thread::get_id();
              return sum_ += n;
            },
            [this](tick_atom) { ++*ticks_; }, [this](spin_atom) { send(this, spin_atom::value); }};
  }

private:
  int* ticks_;
  std::thread::id* seen_on_;
  int sum_ = 0;
};

/// Asks the counter once for every round, keeps the last answer, ends with it.
struct client_impl : caf::event_based_actor {
  client_impl(caf::actor_config& config, counter_actor peer, int rounds, int* answer)
      : caf::event_based_actor{config}, peer_{std::move(peer)}, rounds_{rounds}, answer_{answer} {}
  caf::behavior make_behavior() override {
    ask();
    return {[](tick_atom) {}};
  }

private:
  void ask() {
    request(peer_, caf::infinite, add_atom::value, 1).then([this](int sum) {
      *answer_ = sum;
      if (--rounds_ > 0)
        ask();
      else
        quit();
    });
  }

  counter_actor peer_;
  int rounds_;
  int* answer_;
};

struct fixture {
  explicit fixture(
      std::shared_ptr<gatehouse::reactor::clock> time = std::make_shared<steady_clock>())
      : loop{std::move(time)} {
    run_actors_on(loop, config);
    system.emplace(config);
    counter = system->spawn<counter_impl>(&ticks, &seen_on);
  }
  ~fixture() {
    caf::anon_send_exit(counter, caf::exit_reason::user_shutdown);
    counter = nullptr;
    CHECK(run_until_actors_done(loop, *system, 10s));
    system.reset();
  }

  event_loop loop;
  caf::actor_system_config config;
  std::optional<caf::actor_system> system;
  counter_actor counter;
  int ticks = 0;
  std::thread::id seen_on;
};

} // namespace

TEST_SUITE("reactor.actor_scheduler") {
  TEST_CASE("actors answer each other on the loop's thread") {
    fixture f;
    int answer = 0;
    f.system->spawn<client_impl>(f.counter, 10'000, &answer);
    CHECK(f.loop.run_until([&] { return answer == 10'000; }, 20s));
    CHECK(f.seen_on == std::this_thread::get_id());
  }

  TEST_CASE("a delayed message follows the loop's clock") {
    const auto time = std::make_shared<manual_clock>();
    fixture f{time};
    f.loop.post([&] { caf::delayed_anon_send(f.counter, 30s, tick_atom::value); });
    f.loop.poll();
    time->advance(29s);
    CHECK(f.ticks == 0);
    time->advance(1s);
    CHECK(f.ticks == 1);
  }

  TEST_CASE("an actor that sends to itself for ever does not starve the loop") {
    fixture f;
    caf::anon_send(f.counter, spin_atom::value);
    int turns = 0;
    std::function<void()> turn = [&] {
      if (++turns < 100) f.loop.post(turn);
    };
    f.loop.post(turn);
    CHECK(f.loop.run_until([&] { return turns == 100; }, 20s));
  }

  TEST_CASE("a pending timer does not delay the end of the system") {
    fixture f;
    caf::delayed_anon_send(f.counter, std::chrono::hours{1}, tick_atom::value);
    f.loop.poll();
  }

  TEST_CASE("another thread may send to an actor") {
    fixture f;
    std::thread other{[&] { caf::anon_send(f.counter, tick_atom::value); }};
    CHECK(f.loop.run_until([&] { return f.ticks == 1; }, 20s));
    other.join();
  }
}
