#pragma once

#include "protocol/call_report.hpp"

#include <string>
#include <string_view>

namespace gatehouse::cli {

/// Decision, boundary and end of a call for people, one fact a line (§204).
std::string run_summary(const call_report& report);

/// "gatehouse: " before it and its further lines indented, with what a terminal would not show made
/// visible.
std::string message_lines(std::string_view message);

} // namespace gatehouse::cli
