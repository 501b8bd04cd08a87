#include "protocol/call_report.hpp"

namespace gatehouse {

int exit_status(const call_report& report) noexcept {
  constexpr int stopped_by_user = 120;
  constexpr int no_boundary = 121;
  constexpr int timed_out = 124;
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
  case call_ending::completed: break;
  }
  if (report.attempts.empty()) return no_boundary;
  const attempt_record& last = report.attempts.back();
  if (last.ending == attempt_ending::timed_out) return timed_out;
  if (last.ending == attempt_ending::cancelled) return stopped_by_user;
  if (last.signal) return 128 + *last.signal;
  if (last.exit_code) return *last.exit_code;
  return no_boundary;
}

} // namespace gatehouse
