#pragma once

#include "policy/rules/rule.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// Which paths may stand for a program name (§23). Within a layer a later declaration replaces an
/// earlier one (§D18); declarations of several layers, and those of a broken file, all hold at
/// once, so that no layer and no accident opens what another closed.
class gate_table {
public:
  enum class source : std::uint8_t { sound_file, broken_file };
  void add(host_gate gate, source from);

  enum class answer : std::uint8_t { no_gate, refused, permitted };
  /// May any of `spellings` (absolute paths that surely are one file) stand for `name`?
  [[nodiscard]] answer ask(std::string_view name, std::span<const std::string> spellings) const;
  /// The same for a name compared caselessly; paths are always compared exactly.
  [[nodiscard]] answer ask_caseless(std::string_view key,
                                    std::span<const std::string> spellings) const;
  /// True when a gate that is not the project's own lists one of `spellings`.
  [[nodiscard]] bool vouched(std::string_view name, std::span<const std::string> spellings) const;

private:
  struct entry {
    rule_layer layer;
    source from;
    std::vector<std::string> paths;
  };
  static bool lists(const entry& e, std::span<const std::string> spellings);

  std::map<std::string, std::vector<entry>, std::less<>> gates_;
  std::multimap<std::string, std::string, std::less<>> names_by_key_; ///< caseless key → name
};

} // namespace gatehouse::policy
