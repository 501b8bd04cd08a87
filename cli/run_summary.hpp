#pragma once

#include "protocol/call_report.hpp"

#include <string>

namespace gatehouse::cli {

/// Decision, boundary and end of a call for people, one fact a line (§204).
std::string run_summary(const call_report& report);

} // namespace gatehouse::cli
