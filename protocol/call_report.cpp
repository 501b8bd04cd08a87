#include "protocol/call_report.hpp"

namespace gatehouse {
namespace {

constexpr int timed_out = 124;

} // namespace

std::optional<int> shell_status(const attempt_record& attempt) noexcept {
  if (attempt.ending == attempt_ending::timed_out) return timed_out;
  if (attempt.signal) return 128 + *attempt.signal;
  return attempt.exit_code;
}

int exit_status(const call_report& report) noexcept {
  constexpr int stopped_by_user = 120;
  constexpr int no_boundary = 121;
  constexpr int refused = 125;
  constexpr int usage = 2;
  constexpr int patch_failed = 1;
  switch (report.ending) {
  case call_ending::refused: return refused;
  case call_ending::aborted: return stopped_by_user;
  case call_ending::failed:
    if (report.patch && report.failure && report.failure->code != errc::boundary_unavailable &&
        report.failure->code != errc::boundary_failed)
      return patch_failed;
    if (report.failure && report.failure->code == errc::invalid_request) return usage;
    return no_boundary;
  case call_ending::completed:
    if (report.session_id) return 0; // it goes on
    break;
  }
  if (report.attempts.empty()) return no_boundary;
  const attempt_record& last = report.attempts.back();
  if (last.ending == attempt_ending::cancelled) return stopped_by_user;
  constexpr int largest = 255; // a system takes the rest of a division by 256, which may be 0
  const int status = shell_status(last).value_or(no_boundary);
  return status >= 0 && status <= largest ? status : largest;
}

} // namespace gatehouse
