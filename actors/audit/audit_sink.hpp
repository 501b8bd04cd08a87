#pragma once

#include "protocol/audit.hpp"
#include "protocol/result.hpp"

#include <functional>

namespace gatehouse::actors {

/// Where the entries of the audit go (§205). Whatever an entry describes happens only after it is
/// written: whoever causes an effect waits for `written`. Entries are written in the order of the
/// calls, so that the wait for one is a wait for all before it.
class audit_sink {
public:
  virtual ~audit_sink() = default;

  /// Loop's thread. `written` (may be empty) is called on the loop, never inside this call; an
  /// error means that the entry does not stand, and what it describes must not happen.
  virtual void record(audit_record entry, std::function<void(const result<void>&)> written) = 0;

  /// Any thread but the loop's: waits until it is written.
  virtual result<void> record_and_wait(audit_record entry) = 0;
};

} // namespace gatehouse::actors
