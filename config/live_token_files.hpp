#pragma once

#include "config/environments.hpp"
#include "config/files_snapshot.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gatehouse::config {

/// The token files of every environment that the configuration has named since this began: whoever
/// reads one runs commands on that machine (§D13), also after it is named no more. Not thread-safe.
class live_token_files {
public:
  /// What `named` has; the configuration is read again when it changes.
  live_token_files(locations where, const named_environments& named);

  /// Costs a look at two files while nothing changed. A configuration that cannot be read adds
  /// nothing: no environment of it can be used either.
  std::vector<std::string> now();

private:
  void add(const named_environments& named);

  locations where_;
  std::optional<files_snapshot> snapshot_;
  std::set<std::string> seen_;
};

} // namespace gatehouse::config
