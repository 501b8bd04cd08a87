#include "actors/approval_store.hpp"

#include "policy/canonical_command.hpp"
#include "policy/overlay.hpp"
#include "policy/shell/segments.hpp"

#include <algorithm>

namespace gatehouse::actors {

std::vector<std::string> approval_keys_of(const review_request& question, bool terminal_session,
                                          std::string_view folder, std::string_view policy) {
  const proposal& what = question.what;
  command_key key;
  key.environment_id = what.environment_id;
  key.command = policy::canonical_form(what.argv);
  key.cwd = what.cwd;
  key.folder = folder;
  key.login = what.login || (policy::is_shell_wrapper(what.argv) && what.argv[1] == "-lc");
  key.sandbox_permissions = what.sandbox_permissions;
  if (what.additional_permissions)
    key.additional_permissions = policy::normalise_overlay(*what.additional_permissions);
  if (terminal_session) key.tty = what.tty;
  key.without_sandbox = question.without_sandbox;
  key.policy = policy;
  auto text = encode_approval_key(key);
  if (!text) return {};
  return {*std::move(text)};
}

std::vector<std::string> patch_keys_of(const review_request& question,
                                       std::span<const std::string> paths,
                                       std::string_view policy) {
  std::vector<std::string> keys;
  for (const auto& path : paths) {
    auto text = encode_approval_key(patch_file_key{question.what.environment_id, path,
                                                   question.without_sandbox, std::string{policy}});
    if (!text) return {};
    keys.push_back(*std::move(text));
  }
  return keys;
}

bool approval_store::covers(std::span<const std::string> keys) const {
  return !keys.empty() && std::all_of(keys.begin(), keys.end(),
                                      [this](const auto& key) { return by_key_.contains(key); });
}

void approval_store::remember(review_decision decision, std::span<const std::string> keys,
                              std::string_view shown) {
  if (decision != review_decision::approved_for_session) return;
  for (const auto& key : keys) {
    if (by_key_.size() >= capacity_) return;
    if (by_key_.try_emplace(key, entry{next_id_, std::string{shown}}).second) ++next_id_;
  }
}

std::vector<approval_store::entry> approval_store::list() const {
  std::vector<entry> all;
  for (const auto& [key, value] : by_key_)
    all.push_back(value);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

bool approval_store::revoke(std::uint64_t id) {
  return std::erase_if(by_key_, [id](const auto& item) { return item.second.id == id; }) > 0;
}

void user_overrides::allow(std::string digest) {
  digests_.insert(std::move(digest));
}

bool user_overrides::take(std::string_view digest) {
  const auto found = digests_.find(digest);
  if (found == digests_.end()) return false;
  digests_.erase(found);
  return true;
}

} // namespace gatehouse::actors
