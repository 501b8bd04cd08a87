#include "config/live_token_files.hpp"

#include <utility>

namespace gatehouse::config {

live_token_files::live_token_files(locations where, const named_environments& named)
    : where_{std::move(where)} {
  add(named); // read before there was a snapshot: the first look reads again
}

void live_token_files::add(const named_environments& named) {
  for (const auto& [name, one] : named.by_name)
    if (!one.token_file.empty()) seen_.insert(one.token_file);
}

std::vector<std::string> live_token_files::now() {
  if (!snapshot_ || snapshot_->changed()) {
    std::vector<std::string> paths;
    for (const auto& folder : {where_.system, where_.gatehouse_home}) {
      paths.push_back(folder);
      paths.push_back(folder + "/config.toml");
    }
    snapshot_.emplace(std::move(paths));
    if (const auto named = load_environments(where_)) add(*named);
  }
  return {seen_.begin(), seen_.end()};
}

} // namespace gatehouse::config
