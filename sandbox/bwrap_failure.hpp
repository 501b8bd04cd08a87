#pragma once

#include "protocol/error.hpp"

#include <string_view>

namespace gatehouse::sandbox {

/// Why bubblewrap could not build the view, from what it wrote on standard error: a sentence that
/// quotes it, and the fix for the causes that are known (§84, §92c, BR-098).
/// `complaint` may be empty. @return errc::boundary_failed or errc::boundary_unavailable
error explain_bwrap_failure(std::string_view complaint);

} // namespace gatehouse::sandbox
