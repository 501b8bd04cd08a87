#pragma once

#include "config/files_snapshot.hpp"
#include "config/layers.hpp"
#include "config/rule_loader.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gatehouse::config {

/// Settings and rules that were read together; immutable.
struct rules_in_force {
  loaded_settings settings;
  std::shared_ptr<const policy::rule_set> rules; ///< never null
};

/// The settings and rules for one working folder, read again when a file of any layer has changed:
/// a process that lives long asks before each decision. Not thread-safe; what it hands out may be
/// kept and shared.
class live_rules {
public:
  live_rules(locations where, std::string cwd, settings_layer command_line,
             rule_load_options options);

  /// What is in force now. Costs a look at each file (no reading) while nothing changed. An error
  /// of load_settings() or load_rules() stands until the files are mended: what was read before is
  /// not in force any more.
  result<std::shared_ptr<const rules_in_force>> current();

  /// What was found when something was last read, once; nothing when a reading finds the same as
  /// the one before.
  std::vector<std::string> take_warnings();

  /// The files named by the options, and those of the user's and the system's layers that are
  /// links: whoever writes them decides, and they may stand in a folder that commands may write.
  [[nodiscard]] std::vector<std::string> files_elsewhere() const;

private:
  [[nodiscard]] std::vector<std::string> watched() const;
  result<std::shared_ptr<const rules_in_force>> read();

  locations where_;
  std::string cwd_;
  settings_layer command_line_;
  rule_load_options options_;
  files_snapshot snapshot_;
  std::shared_ptr<const rules_in_force> current_;
  std::vector<std::string> warnings_;
  std::vector<std::string> found_before_;
};

} // namespace gatehouse::config
