#pragma once

#include "protocol/call_report.hpp"

#include <string>

namespace gatehouse {

/// The document of `gatehouse run --json`: one line, without the newline. Besides what is always
/// there, `message` says to the model why a call was refused or denied, and `failure` why nothing
/// could run. Bytes that are no UTF-8 appear as U+FFFD.
std::string encode_call_report(const call_report& report);

} // namespace gatehouse
