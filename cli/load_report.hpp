#pragma once

#include "cli/load_run.hpp"

#include <string>

namespace gatehouse::cli {

/// The result in a few lines.
std::string load_summary(const load_terms& terms, const load_result& result);
/// The same and everything that was measured over time, as one JSON object.
std::string load_json(const load_terms& terms, const load_result& result);
/// One self-contained page with plots: no script, nothing from elsewhere.
std::string load_page(const load_terms& terms, const load_result& result);

} // namespace gatehouse::cli
