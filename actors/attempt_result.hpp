#pragma once

#include "protocol/call_report.hpp"

#include <optional>
#include <string>

namespace gatehouse::actors {

/// A concrete host that the managed proxy refused during an attempt (§100, §102).
struct network_context {
  std::string host;          ///< "https://example.org:443"
  bool attributable = false; ///< surely caused by this attempt, not by a parallel one (§108)
  bool may_ask = false;      ///< the domain policy left it open; false: it is denied for good
};

/// What a runtime hands back for one attempt.
struct attempt_result {
  attempt_record record;
  captured_output output;
  std::optional<patch_progress> patch_done{}; ///< how far a patch came, earlier attempts included
  std::size_t tolerant_matches = 0;           ///< see patch_result
};

} // namespace gatehouse::actors
