#pragma once

#include "actors/command_process.hpp"
#include "actors/process_interfaces.hpp"
#include "actors/shell_runtime.hpp"
#include "reactor/delta_coalescer.hpp"
#include "reactor/head_tail_buffer.hpp"
#include "reactor/output_capture.hpp"
#include "reactor/timer.hpp"

#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gatehouse::actors {

/// What all sessions of a thread have in common.
struct process_terms {
  shell_terms host;      ///< its time-out and `on_output` are not used
  network_actor network; ///< where registrations are closed; unset: there is no managed network
  /// How long a process may live, and how long it may neither say nor be told anything; they hold
  /// in the background too. Unset: no limit.
  std::optional<std::chrono::milliseconds> hard_limit;
  std::optional<std::chrono::milliseconds> idle_limit;
  std::chrono::milliseconds interrupt_grace{500}; ///< between Ctrl-C and SIGTERM
  std::size_t unread_bytes = 1024 * 1024;         ///< kept for the next poll, half from each end
  std::size_t deltas = 10'000;                    ///< announced per session (§96)
  std::function<void(const process_event&)> on_event; ///< may be unset
};

/// See process_actor. Its `ended_atom` goes to the manager once, when the process has ended.
class process_session : public process_actor::base {
public:
  process_session(caf::actor_config& config, process_terms terms, int session_id,
                  std::chrono::milliseconds first_wait, process_manager_actor manager);

  behavior_type make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "gatehouse.process"; }

private:
  struct waiting_poll {
    poll_order order;
    caf::typed_response_promise<poll_piece_ptr> caller;
  };

  void start();
  void fail(const error& why);
  void keep(reactor::output_stream stream, std::string_view bytes);
  void announce(const std::vector<reactor::output_delta>& deltas);
  void arm_deltas();
  void alive();
  void stop(attempt_ending why);
  void time_out(std::chrono::milliseconds limit);
  void escalate();
  void hold(bool held, reactor::clock::duration counts);
  void limit_to(reactor::clock::duration left);
  void look();
  void wait_for(std::chrono::milliseconds time);
  void conclude();
  void close_network();
  void tell_end();
  void answer_first();
  void begin_poll();
  void answer_poll();
  void end_poll(const std::string& call_id);
  result<void> write(const std::string& chars);
  [[nodiscard]] poll_piece take_piece();

  process_terms terms_;
  const int session_id_;
  const std::chrono::milliseconds first_wait_;
  process_manager_actor manager_;
  attempt_ptr attempt_;
  caf::typed_response_promise<attempt_result_ptr> first_;
  std::unique_ptr<command_process> process_;
  reactor::output_capture tails_;     ///< of each stream, for the classification of its end
  reactor::head_tail_buffer unread_;  ///< both streams, since the last poll
  reactor::head_tail_buffer history_; ///< both streams, since the start
  std::uint64_t lost_ = 0;            ///< bytes that did not come from another machine
  std::uint64_t lost_unread_ = 0;     ///< of these, since the last poll
  reactor::delta_coalescer deltas_;
  reactor::timer wait_; ///< of the first wait or the poll that is being answered
  reactor::timer delta_timer_;
  reactor::timer hard_;
  reactor::timer idle_;
  reactor::timer kill_;
  int kill_stage_ = 0;
  reactor::clock::time_point started_at_;
  reactor::clock::time_point wait_began_;
  std::deque<waiting_poll> polls_; ///< the front one waits now, the others for their turn
  bool polling_ = false;
  bool wait_over_ = false;
  std::optional<attempt_ending> stopped_; ///< limit or cancellation, whichever came first
  std::optional<command_end> end_;
  bool streams_ended_ = false;
  attempt_record record_;
  reactor::clock::time_point hard_at_;                ///< when the hard limit falls due
  std::optional<reactor::clock::duration> hard_left_; ///< of its limit, while that stands still
  bool held_ = false;                                 ///< somebody is asked about a host
  bool refused_ = false;                              ///< stopped because a reviewer refused a host
  bool owns_registration_ = false; ///< the call was answered while the process lived (§115)
  bool concluding_ = false;
  bool over_ = false;
};

} // namespace gatehouse::actors
