#include "actors/host_answers.hpp"

namespace gatehouse::actors {

void host_answers::remember(const host_key& host, bool allowed) {
  const auto [at, fresh] = id_of_.try_emplace(host, next_id_);
  if (!fresh) {
    by_id_.erase(at->second);
    at->second = next_id_;
  }
  by_id_.emplace(next_id_, entry{next_id_, host, allowed});
  ++next_id_;
}

std::optional<bool> host_answers::find(const host_key& host) const {
  const auto at = id_of_.find(host);
  if (at == id_of_.end()) return {};
  return by_id_.at(at->second).allowed;
}

std::vector<host_answers::entry> host_answers::list() const {
  std::vector<entry> all;
  for (const auto& [id, one] : by_id_)
    if (!one.kept) all.push_back(one);
  return all;
}

void host_answers::keep(const host_key& host) {
  if (const auto at = id_of_.find(host); at != id_of_.end()) by_id_.at(at->second).kept = true;
}

void host_answers::forget_kept() {
  std::erase_if(id_of_, [this](const auto& one) { return by_id_.at(one.second).kept; });
  std::erase_if(by_id_, [](const auto& one) { return one.second.kept; });
}

bool host_answers::revoke(std::uint64_t id) {
  const auto at = by_id_.find(id);
  if (at == by_id_.end() || at->second.kept) return false;
  id_of_.erase(at->second.host);
  by_id_.erase(at);
  return true;
}

} // namespace gatehouse::actors
