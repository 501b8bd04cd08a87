#include "config/live_rules.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace gatehouse::config {

live_rules::live_rules(locations where, std::string cwd, settings_layer command_line,
                       rule_load_options options)
    : where_{std::move(where)}, cwd_{std::move(cwd)},
      command_line_{std::move(command_line)}, options_{std::move(options)} {}

std::vector<std::string> live_rules::watched() const {
  auto paths = options_.files;
  for (const auto& folder : {where_.system, where_.gatehouse_home}) {
    paths.push_back(folder);
    paths.push_back(folder + "/config.toml");
    add_rule_files(folder + "/rules", paths);
  }
  paths.push_back(where_.system + "/requirements.toml");
  paths.push_back(where_.gatehouse_home + "/trust.toml");
  // A project appears with its folder, in cwd or above it.
  for (auto folder = cwd_;;) {
    paths.push_back(folder + "/.git");
    paths.push_back(folder + "/.gatehouse");
    paths.push_back(folder + "/.gatehouse/config.toml");
    add_rule_files(folder + "/.gatehouse/rules", paths);
    if (folder.find('/') == std::string::npos) break;
    folder.resize(folder.rfind('/'));
  }
  return paths;
}

std::vector<std::string> live_rules::files_elsewhere() const {
  std::vector<std::string> found;
  for (const auto& path : watched()) {
    std::error_code failed;
    const bool named = std::ranges::find(options_.files, path) != options_.files.end();
    if (named || std::filesystem::is_symlink(path, failed))
      found.push_back(std::filesystem::absolute(path, failed).lexically_normal().string());
  }
  return found;
}

result<std::shared_ptr<const rules_in_force>> live_rules::current() {
  if (current_ && !snapshot_.changed()) return current_;
  current_.reset();
  snapshot_ = files_snapshot{watched()};
  auto fresh = read();
  if (fresh) current_ = *fresh;
  return fresh;
}

result<std::shared_ptr<const rules_in_force>> live_rules::read() {
  rules_in_force fresh;
  auto settings = load_settings(where_, cwd_, command_line_);
  if (!settings) return settings.error();
  fresh.settings = std::move(*settings);
  auto rules = load_rules(where_, fresh.settings, options_);
  if (!rules) return rules.error();
  fresh.rules = std::move(rules->rules);
  auto found = fresh.settings.warnings;
  found.insert(found.end(), rules->warnings.begin(), rules->warnings.end());
  if (found != found_before_) warnings_ = found;
  found_before_ = std::move(found);
  return std::make_shared<const rules_in_force>(std::move(fresh));
}

std::vector<std::string> live_rules::take_warnings() {
  return std::exchange(warnings_, {});
}

} // namespace gatehouse::config
