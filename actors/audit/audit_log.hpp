#pragma once

#include "actors/audit/audit_sink.hpp"
#include "actors/audit/audit_store.hpp"
#include "reactor/event_loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gatehouse::actors {

struct audit_terms {
  std::string path;     ///< of the database, absolute
  bool flush = false;   ///< every commit, see audit_store::append; amendments are flushed anyway
  bool required = true; ///< false: what cannot be written is told by `warn`, and things go on
  audit_retention keep;
  std::vector<std::string> secrets;       ///< values that are never written (policy::secret_values)
  std::function<void(const error&)> warn; ///< any thread; may be unset
  std::function<audit_time()> wall_clock; ///< any thread; unset: the system's
};

/// Writes entries on a thread of its own, as many as wait in one commit, so that the loop never
/// waits for a disk. A request, a decision and the end of an attempt that nobody waits for are
/// written with the next entry, at the latest 5 ms later: one commit before an attempt, one after.
/// Secrets are redacted there. What could not be written is kept and tried again before the next
/// entries, but for what then did not happen; beyond what memory is reasonable for the oldest go,
/// and an entry (`lost`) says how many. Where a file of the database has been moved or removed
/// meanwhile, what it knew is saved and it goes on with what stands at its path, or a new one,
/// which `warn` is told. Entries have a greatest size, and so have all denials of one attempt
/// (audit_bounds.hpp). Entries grow older only as this program's
/// life goes on: a wall clock that is set forward takes nothing out.
class audit_log : public audit_sink {
public:
  /// Opens the database (and makes it, when there is none). Errors as of audit_store::open; with
  /// `required` unset they are warnings and the log writes nothing.
  /// @param loop outlives the log
  static result<std::shared_ptr<audit_log>> open(reactor::event_loop& loop, audit_terms terms);
  /// Writes what waits.
  ~audit_log() override;

  void record(audit_record entry, std::function<void(const result<void>&)> written) override;
  result<void> record_and_wait(audit_record entry) override;

private:
  class impl;
  explicit audit_log(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

} // namespace gatehouse::actors
