#pragma once

#include "protocol/call_report.hpp"

#include <optional>
#include <string>

namespace gatehouse {

/// The document of `gatehouse run --json`: decision (as `policy explain`), reviews, attempts,
/// output, exit status, and where there is one the message to the model; for a patch also `patch`,
/// the files that it would change, `delta`, the files that it has changed, and `tolerant_matches`
/// unless zero. One line of JSON without the newline; bytes that are no UTF-8 appear as U+FFFD.
/// `status`: in the place of exit_status(report).
std::string encode_call_report(const call_report& report, std::optional<int> status = {});

/// An error as it stands in documents: `kind`, `message`, and `remedy` where there is one.
std::string encode_error(const error& what);

/// Its parts: one of `attempts`, and what stands there as `denied` and in `blocked_connections`.
std::string encode_attempt(const attempt_record& attempt);
std::string encode_denial(const denial& what);
std::string encode_blocked(const blocked_connection& what);

} // namespace gatehouse
