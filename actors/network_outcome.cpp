#include "actors/network_outcome.hpp"

#include <utility>

namespace gatehouse::actors {

network_outcome apply_network_end(attempt_record& of, network_end seen, bool cancelled) {
  network_outcome outcome;
  outcome.stop = seen.stop;
  of.blocked = std::move(seen.blocked);
  of.blocked_total = seen.blocked_total;
  outcome.ended_for_it =
      of.ending == attempt_ending::cancelled && seen.ended_the_process && !cancelled;
  const bool failed_on_it = of.ending == attempt_ending::denied ||
                            (of.ending == attempt_ending::exited && of.exit_code.value_or(0) != 0);
  if (!seen.denied || (!outcome.ended_for_it && !failed_on_it)) return outcome;
  outcome.refused = std::move(seen.refused);
  if (!of.denied || of.denied->kind == denial_kind::network) {
    of.ending = attempt_ending::denied;
    of.denied = std::move(seen.denied);
  }
  return outcome;
}

} // namespace gatehouse::actors
