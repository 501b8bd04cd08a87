#include "policy/rules/gate_table.hpp"

#include "policy/rules/caseless.hpp"

#include <algorithm>

namespace gatehouse::policy {

void gate_table::add(host_gate gate, source from) {
  auto [it, is_new] = gates_.try_emplace(gate.name);
  if (is_new) names_by_key_.emplace(caseless_key(gate.name), gate.name);
  auto& entries = it->second;
  if (from == source::sound_file) {
    const auto replaced = std::ranges::find_if(entries, [&](const entry& e) {
      return e.from == source::sound_file && e.layer == gate.layer;
    });
    if (replaced != entries.end()) {
      replaced->paths = std::move(gate.paths);
      return;
    }
  }
  entries.push_back({gate.layer, from, std::move(gate.paths)});
}

bool gate_table::lists(const entry& e, std::span<const std::string> spellings) {
  return std::ranges::any_of(
      e.paths, [&](const auto& p) { return std::ranges::find(spellings, p) != spellings.end(); });
}

gate_table::answer gate_table::ask(std::string_view name,
                                   std::span<const std::string> spellings) const {
  const auto it = gates_.find(name);
  if (it == gates_.end()) return answer::no_gate;
  const bool all =
      std::ranges::all_of(it->second, [&](const entry& e) { return lists(e, spellings); });
  return all ? answer::permitted : answer::refused;
}

gate_table::answer gate_table::ask_caseless(std::string_view key,
                                            std::span<const std::string> spellings) const {
  auto result = answer::no_gate;
  const auto [first, last] = names_by_key_.equal_range(key);
  for (auto it = first; it != last; ++it) {
    result = ask(it->second, spellings);
    if (result == answer::refused) break;
  }
  return result;
}

bool gate_table::vouched(std::string_view name, std::span<const std::string> spellings) const {
  const auto it = gates_.find(name);
  return it != gates_.end() && std::ranges::any_of(it->second, [&](const entry& e) {
           return e.layer != rule_layer::project && lists(e, spellings);
         });
}

} // namespace gatehouse::policy
