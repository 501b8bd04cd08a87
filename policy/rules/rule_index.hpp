#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gatehouse::policy {

/// Alternatives per token.
using token_pattern = std::vector<std::vector<std::string>>;

/// Does `pattern` from token `from` on fit `words` from there on?
bool fits(const token_pattern& pattern, std::span<const std::string_view> words, bool exact,
          std::size_t from = 0) noexcept;

/// Prefix tree over tokens: a look-up costs as much as the command has words and matches, however
/// many rules share a part of them. Holds views into the patterns, which must outlive it.
class rule_index {
public:
  using rule_id = std::uint32_t;

  void insert(rule_id id, const token_pattern& pattern, bool exact);

  /// Appends the ids of all rules that match, ascending, each once.
  void find(std::span<const std::string_view> words, std::vector<rule_id>& found) const;

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct edge {
    std::uint32_t node;
    std::string_view token;
    bool operator==(const edge&) const = default;
  };
  struct edge_hash {
    std::size_t operator()(const edge& e) const noexcept {
      return std::hash<std::string_view>{}(e.token) ^ (e.node * std::size_t{0x9e3779b97f4a7c15});
    }
  };
  /// A rule that ends at a node, or (with `rest`) one whose alternatives are too many to spread out
  /// and are compared one by one from that node on.
  struct entry {
    const token_pattern* rest;
    rule_id id;
    std::uint32_t next; ///< of the same node
    bool exact;
  };

  void insert_below(std::uint32_t node, std::size_t depth, std::size_t budget, rule_id id,
                    const token_pattern& pattern, bool exact);
  void attach(std::uint32_t node, const token_pattern* rest, rule_id id, bool exact);

  std::unordered_map<edge, std::uint32_t, edge_hash> edges_;
  std::vector<std::uint32_t> first_entry_{none}; ///< per node; node 0 is the root
  std::vector<entry> entries_;
};

} // namespace gatehouse::policy
