#pragma once

#include "protocol/denial.hpp"
#include "protocol/error.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/network.hpp"
#include "protocol/patch_call.hpp"
#include "protocol/review.hpp"
#include "protocol/sandbox_choice.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gatehouse {

/// What a process left behind, capped in memory (§96).
struct captured_output {
  std::string stdout_text;
  std::string stderr_text;
  std::string aggregated;            ///< both streams in the order of arrival
  std::uint64_t truncated_bytes = 0; ///< bytes of the two streams seen but not kept in their texts
  std::uint64_t total_bytes = 0;     ///< of both streams, as they came
  std::uint64_t aggregate_omitted_bytes = 0; ///< bytes seen but not kept in `aggregated`
  bool dropped = false;                      ///< the texts are empty since they are no longer kept
};

/// How one attempt ended, in the order of classification (§97).
enum class attempt_ending : std::uint8_t {
  signalled, ///< died by `signal`
  timed_out,
  denied, ///< the boundary refused something the command needed (§98, §D10)
  exited, ///< ended by itself with `exit_code`
  cancelled,
  not_started, ///< the boundary could not be built or the program not executed: `failure`
  lost,        ///< it was started elsewhere, and its end is not known: `failure`
  running, ///< a terminal session that goes on after the call (§122); `output` is what came so far
};

struct attempt_record {
  int number = 1;
  sandbox_backend sandbox = sandbox_backend::none;
  network_mode network = network_mode::isolated;
  attempt_ending ending = attempt_ending::not_started;
  std::optional<int> exit_code;
  std::optional<int> signal;
  std::optional<denial> denied;
  std::vector<blocked_connection> blocked; ///< by the managed network, in order; the first 200
  std::size_t blocked_total = 0;           ///< of these and all later ones
  std::optional<error> failure;
  std::chrono::milliseconds duration{0};
  std::chrono::milliseconds limit{0}; ///< time limit; 0: it did not come to one
  bool idle = false;    ///< timed_out: `limit` is of the time without output and input
  bool stopped = false; ///< timed_out: the command stood still then, stopped by a signal (BR-157)
  std::chrono::milliseconds grace{0}; ///< between the request to end and the kill
  std::vector<std::string> warnings;  ///< about the boundary, before the start
};

struct review_record {
  std::string id;
  int attempt = 1;
  reviewer_kind reviewer = reviewer_kind::none;
  review_decision decision = review_decision::denied;
  std::string reason;
  std::string host{}; ///< "https://example.org:443": about a connection of the attempt; else empty
  bool denies_host = false; ///< network_policy_amendment: the rule to add denies the host

  /// A yes of some kind.
  [[nodiscard]] bool lets_through() const noexcept;
};

/// What became of a patch, all attempts together (§107).
struct patch_result {
  std::vector<file_change> asked;     ///< what it would change
  std::vector<file_change> committed; ///< what is on disk, also when the rest failed
  /// Chunks that matched only where white space or typographic characters were ignored.
  std::size_t tolerant_matches = 0;
};

/// How the whole call ended.
enum class call_ending : std::uint8_t {
  completed, ///< the last attempt stands (its ending may still be a denial or a time-out)
  refused,   ///< by policy, handler or reviewer: nothing ran, or the retry was refused
  aborted,   ///< a reviewer stopped the turn
  failed,    ///< nothing could be run: `failure`
};

/// Everything that is known about one finished tool call (§204).
struct call_report {
  std::string call_id;
  call_ending ending = call_ending::failed;
  exec_evaluation evaluation; ///< of a write_stdin: that of the call which began the session
  bool judged = true;         ///< false: there was nothing to judge (a session that does not exist)
  sandbox_summary sandbox;
  std::vector<review_record> reviews;
  std::vector<attempt_record> attempts;
  captured_output output;                   ///< of the last attempt
  std::optional<patch_result> patch;        ///< set when the call is a patch
  std::optional<given_permissions> granted; ///< request_permissions: what it was given
  /// The terminal session that goes on after the call (§122); unset: nothing is left of it.
  std::optional<int> session_id;
  std::string message; ///< to the model: why it was refused or denied and the safer path (§48b)
  std::optional<error> failure;
};

using call_report_ptr = std::shared_ptr<const call_report>;

/// As a shell tells it: 124 after a time-out, whatever the kill did then; 128+n after a signal.
/// Unset: there is none.
std::optional<int> shell_status(const attempt_record& attempt) noexcept;

/// How the call ended, without its output and without the way to its decision: for whoever
/// remembers many calls. Of long texts the beginning stays, of many changes of a patch none;
/// `output.dropped` is set.
call_report outcome_of(const call_report& report);

/// Roughly what it takes to keep the report. Its output counts once, although a report holds it
/// both apart and in the order of arrival.
std::size_t kept_bytes(const call_report& report) noexcept;

/// Exit status of `gatehouse run`: the command's own (1 for a patch that cannot be applied); 128+n
/// for a signal; 124 time-out; 125 refused; 126/127 not executable / not found; 120 stopped by the
/// user; 121 no boundary (nothing ran), or a lost command; 255 for a code that is no exit status.
int exit_status(const call_report& report) noexcept;

} // namespace gatehouse
