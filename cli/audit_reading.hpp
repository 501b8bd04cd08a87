#pragma once

#include "actors/audit/audit_store.hpp"
#include "cli/option_reader.hpp"
#include "config/locations.hpp"

#include <functional>
#include <memory>
#include <string>

namespace gatehouse::cli {

/// The database: in a folder of its own, which no command may read.
std::string audit_folder(const config::locations& where);
std::string audit_path(const config::locations& where);

/// "2026-01-31T12:00:00.123456Z".
std::string time_text(actors::audit_time at);

/// One entry, whole, for people.
std::string as_text(const actors::audit_entry& entry);

/// --since, --until, --session, --call, --kind, --limit. Errors are about the command line.
result<actors::audit_filter> audit_filter_of(const options& given, std::int64_t limit);

/// The audit of `--file`, or the user's own, to be read. Errors: as audit_store::open().
result<std::unique_ptr<actors::audit_store>> open_named_audit(const options& given);

/// A decision as `policy replay` takes it.
struct recorded_line {
  std::int64_t seq = 0;
  bool replays = false; ///< false: it was not made by rules alone, or its command was too long
  std::string text;     ///< {"request": …, "decision": …}
};
result<void> read_decisions(actors::audit_store& store, actors::audit_filter which,
                            const std::function<bool(const recorded_line&)>& take);

} // namespace gatehouse::cli
