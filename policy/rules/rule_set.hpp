#pragma once

#include "policy/rules/program_facts.hpp"
#include "policy/rules/rule_file.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gatehouse::policy {

/// A rule that matches a command.
struct rule_match {
  const prefix_rule* rule = nullptr;       ///< owned by the rule_set
  std::vector<std::string> matched_prefix; ///< the command's own words; basename when resolved
  std::string resolved_program;            ///< absolute path, only for a basename match (§23)
};

/// A file that a prompt or forbidden rule names by a path, and a word that leads there.
struct restricted_path {
  std::string head; ///< the rule's own first word
  std::string word; ///< `head`; or, of a relative one, its place below the folder of its rule file
};

/// Frozen rules of all layers, indexed so that rules which do not match cost nothing (§24, §43).
/// Immutable after construction; share it by shared_ptr<const rule_set>, replace it as a whole.
class rule_set {
public:
  rule_set();
  /// Files from the lowest to the highest layer. Allows of a file with problems are left out (§D7).
  explicit rule_set(std::vector<rule_file> files);
  ~rule_set();
  rule_set(rule_set&&) noexcept;
  rule_set& operator=(rule_set&&) noexcept;

  /// Text-level matching as `policy check` prints it (§D18): every match in rule order, canonical
  /// rules after exact-key ones. With `resolve_host_executables` a program path without an exact
  /// match falls back to basename rules, gated; relative paths are made absolute against `cwd`.
  [[nodiscard]] std::vector<rule_match> match(std::span<const std::string> argv,
                                              bool resolve_host_executables, std::string_view cwd,
                                              std::string_view home) const;

  /// Run-time matching (§23, §26, §D3): as `match` with resolution on, but against real files: an
  /// allow on a bare name covers only a program on the trusted PATH outside every writable root,
  /// and a gate is compared with the real path; gates of several layers intersect. Restrictive
  /// rules match by the word, by the path it leads to, by the real one, by other names of the same
  /// file on the trusted PATH, and by a path to the same file; by the last components of all.
  [[nodiscard]] std::vector<rule_match> match_at_run_time(std::span<const std::string> argv,
                                                          const program_facts& facts) const;

  /// A prompt or forbidden rule that agrees with the first `known_words` words of `argv` (at least
  /// one) and goes on: what follows is only known when the command runs and may match it (§18a).
  [[nodiscard]] const prefix_rule* restrictive_rule_beyond(std::span<const std::string> argv,
                                                           std::size_t known_words,
                                                           const program_facts& facts) const;

  /// A prompt or forbidden rule on a path that would match if `argv`'s program, which lies in an
  /// unknown folder, were that file: its last component is the same.
  [[nodiscard]] const prefix_rule* restrictive_rule_on_a(std::span<const std::string> argv) const;

  /// Whose facts match_at_run_time() wants besides those of the program: each once.
  [[nodiscard]] std::span<const restricted_path> restricted_paths() const noexcept;

  [[nodiscard]] bool has_restrictive_rules() const noexcept; ///< any prompt or forbidden rule
  [[nodiscard]] bool has_unreadable_file() const noexcept; ///< then unmatched commands prompt (§D7)
  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] const std::vector<network_rule>& network_rules() const noexcept;

private:
  struct index;
  std::unique_ptr<index> index_;
};

/// The strictest decision of some matches; allow when there are none (callers check emptiness).
decision strictest(std::span<const rule_match> matches) noexcept;

/// For people and JSON: the rule behind a match.
rule_citation cite(const prefix_rule& rule);

} // namespace gatehouse::policy
