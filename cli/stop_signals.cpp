#include "cli/stop_signals.hpp"

#include <csignal>
#include <utility>

#include <pthread.h>

namespace gatehouse::cli {
namespace {

constexpr int leave = SIGUSR1; // ours alone: ends the waiting thread

sigset_t waited_for() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, leave})
    sigaddset(&set, number);
  return set;
}

} // namespace

stop_signals::stop_signals(std::function<void()> on_stop) {
  const sigset_t set = waited_for();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::jthread{[set, on_stop = std::move(on_stop)](const std::stop_token& token) {
    int number = 0;
    while (sigwait(&set, &number) == 0 && !token.stop_requested())
      if (number != leave) on_stop();
  }};
}

stop_signals::~stop_signals() {
  waiter_.request_stop();
  pthread_kill(waiter_.native_handle(), leave);
  waiter_.join();
}

} // namespace gatehouse::cli
