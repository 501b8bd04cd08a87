#pragma once

#include "actors/audit/program_audit.hpp"
#include "actors/thread.hpp"
#include "actors/thread_terms.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/worker_pool.hpp"

#include <functional>
#include <memory>

namespace gatehouse::actors {

/// Event loop, actors and workers of one program that runs threads. One thread of the machine uses
/// it. Its end closes every thread.
class thread_host {
public:
  explicit thread_host(std::shared_ptr<reactor::clock> time = {});
  ~thread_host();
  thread_host(const thread_host&) = delete;
  thread_host& operator=(const thread_host&) = delete;

  [[nodiscard]] reactor::event_loop& loop() noexcept;
  [[nodiscard]] reactor::worker_pool& workers() noexcept;

  /// Every thread that is opened from here on is recorded (§205). The sink's last owner is this
  /// host, so that it does not outlive the loop.
  void record_in(program_audit audit);
  /// Where that is; unset: nothing is recorded. Kept no longer than this host.
  [[nodiscard]] std::shared_ptr<actors::audit_sink> audit_sink() const;

  /// @param terms their `id` may be empty: one is made
  thread_handle open(thread_terms terms);

  /// Runs one call to its end on the loop. `stop` (may be empty) is asked while it runs, at every
  /// event: true ends the call as a cancellation. Errors as for begin_call.
  result<call_report_ptr> run(const thread_handle& thread, tool_request request,
                              const std::function<bool()>& stop = {});

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace gatehouse::actors
