#include "actors/process_store.hpp"

#include <algorithm>
#include <memory>
#include <random>

namespace gatehouse::actors {

process_store::process_store(id_source ids, process_store_limits limits)
    : ids_{std::move(ids)}, limits_{limits} {}

process_store::id_source process_store::random_ids() {
  const auto source = std::make_shared<std::random_device>();
  return [source] { return std::uniform_int_distribution<int>{first_id, last_id}(*source); };
}

process_store::id_source process_store::increasing_ids() {
  return [next = first_id]() mutable { return next++; };
}

result<int> process_store::reserve() {
  const auto taken = [this](int id) { return reserved_.contains(id) || entries_.contains(id); };
  constexpr int patience = 1000;
  for (int i = 0; i < patience; ++i) {
    const int id = ids_();
    if (id < first_id || id > last_id || taken(id)) continue;
    reserved_.insert(id);
    return id;
  }
  for (int id = first_id; id <= last_id; ++id)
    if (!taken(id)) {
      reserved_.insert(id);
      return id;
    }
  return error{errc::too_large, "all numbers for terminal sessions are taken",
               "end sessions that are not needed"};
}

void process_store::release(int id) {
  reserved_.erase(id);
}

std::optional<int> process_store::admit(int id, time_point now) {
  reserved_.erase(id);
  std::optional<int> victim;
  if (entries_.size() >= limits_.processes) victim = choose_victim();
  if (victim) entries_.erase(*victim);
  entries_[id].used = now;
  return victim;
}

std::optional<int> process_store::choose_victim() const {
  std::vector<std::map<int, entry>::const_iterator> oldest_first;
  for (auto it = entries_.begin(); it != entries_.end(); ++it)
    oldest_first.push_back(it);
  std::stable_sort(oldest_first.begin(), oldest_first.end(),
                   [](auto a, auto b) { return a->second.used < b->second.used; });
  oldest_first.resize(oldest_first.size() -
                      std::min(oldest_first.size(), limits_.protected_recent));
  for (const bool exited : {true, false})
    for (const auto& it : oldest_first)
      if (it->second.exited == exited && it->second.holders == 0) return it->first;
  return std::nullopt;
}

void process_store::remove(int id) {
  entries_.erase(id);
}

void process_store::take_back(int id) {
  entries_.erase(id);
  reserved_.insert(id);
}

void process_store::used(int id, time_point now) {
  if (const auto found = entries_.find(id); found != entries_.end()) found->second.used = now;
}

void process_store::exited(int id) {
  if (const auto found = entries_.find(id); found != entries_.end()) found->second.exited = true;
}

void process_store::hold(int id) {
  if (const auto found = entries_.find(id); found != entries_.end()) ++found->second.holders;
}

void process_store::unhold(int id) {
  if (const auto found = entries_.find(id); found != entries_.end() && found->second.holders > 0)
    --found->second.holders;
}

std::vector<int> process_store::ids() const {
  std::vector<int> out;
  for (const auto& [id, unused] : entries_)
    out.push_back(id);
  return out;
}

} // namespace gatehouse::actors
