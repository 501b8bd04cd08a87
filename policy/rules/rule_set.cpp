#include "policy/rules/rule_set.hpp"

#include "policy/path_text.hpp"
#include "policy/rules/caseless.hpp"
#include "policy/rules/gate_table.hpp"
#include "policy/rules/many_tools.hpp"
#include "policy/rules/program_path.hpp"
#include "policy/rules/rule_index.hpp"

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_set>

namespace gatehouse::policy {
namespace {

using rule_id = rule_index::rule_id;
using views = std::vector<std::string_view>;

token_pattern folded(const token_pattern& pattern) {
  token_pattern result = pattern;
  for (auto& alternatives : result)
    for (auto& token : alternatives)
      token = caseless_key(token);
  return result;
}

} // namespace

struct rule_set::index {
  std::vector<prefix_rule> rules;
  std::deque<token_pattern> folded_patterns; ///< of the canonical rules; never moved
  rule_index by_words;                       ///< rules compared exactly
  rule_index by_keys;                        ///< canonical rules, over folded words
  gate_table gates;
  std::vector<network_rule> network;
  std::vector<restricted_path> restricted_paths;
  std::unordered_set<std::string> known_paths; ///< while building: heads with their words
  bool restrictive = false;
  bool unreadable = false;

  void take(rule_file file);
  void restrict_path(const std::string& head, const std::string& cwd);
  void build();

  /// All rules that match `command` when its program is called `head`: exact-key rules, then
  /// canonical ones, each in rule order.
  [[nodiscard]] std::vector<rule_id> find(std::string_view head,
                                          std::span<const std::string> command) const;
  [[nodiscard]] rule_match matched(rule_id id, std::string_view head,
                                   std::span<const std::string> command,
                                   std::string resolved_program) const;
  [[nodiscard]] bool gate_permits(const prefix_rule& rule, std::string_view name,
                                  std::span<const std::string> spellings) const;
};

void rule_set::index::take(rule_file file) {
  const bool broken = !file.problems.empty();
  const auto honoured = [&](decision d) { return !broken || d != decision::allow; };
  for (auto& rule : file.rules) {
    if (rule.decision != decision::allow && is_path(rule.pattern.front().front()))
      restrict_path(rule.pattern.front().front(), file.cwd);
    if (honoured(rule.decision)) rules.push_back(std::move(rule));
  }
  for (auto& rule : file.network)
    if (honoured(rule.decision)) network.push_back(std::move(rule));
  for (auto& gate : file.gates)
    gates.add(std::move(gate),
              broken ? gate_table::source::broken_file : gate_table::source::sound_file);
  unreadable = unreadable || file.unreadable;
}

void rule_set::index::restrict_path(const std::string& head, const std::string& cwd) {
  const auto add = [&](std::string word) {
    if (known_paths.insert(head + '\0' + word).second)
      restricted_paths.push_back({head, std::move(word)});
  };
  add(head);
  if (!head.starts_with('/') && !head.starts_with('~')) add(absolute_below(cwd, head));
}

void rule_set::index::build() {
  rules.shrink_to_fit();
  known_paths = {};
  for (rule_id id = 0; id < rules.size(); ++id) {
    const auto& rule = rules[id];
    restrictive = restrictive || rule.decision != decision::allow;
    if (rule.canonical)
      by_keys.insert(id, folded_patterns.emplace_back(folded(rule.pattern)), rule.exact);
    else
      by_words.insert(id, rule.pattern, rule.exact);
  }
}

std::vector<rule_id> rule_set::index::find(std::string_view head,
                                           std::span<const std::string> command) const {
  std::vector<rule_id> found;
  views command_words{command.begin(), command.end()};
  command_words.front() = head;
  by_words.find(command_words, found);
  if (!by_keys.empty()) {
    std::vector<std::string> keys(command_words.size());
    std::ranges::transform(command_words, keys.begin(), caseless_key);
    by_keys.find(views{keys.begin(), keys.end()}, found);
  }
  return found;
}

rule_match rule_set::index::matched(rule_id id, std::string_view head,
                                    std::span<const std::string> command,
                                    std::string resolved_program) const {
  const auto& rule = rules[id];
  rule_match result;
  result.rule = &rule;
  const auto prefix = command.first(rule.pattern.size());
  result.matched_prefix.assign(prefix.begin(), prefix.end());
  result.matched_prefix.front() = head;
  result.resolved_program = std::move(resolved_program);
  return result;
}

bool rule_set::index::gate_permits(const prefix_rule& rule, std::string_view name,
                                   std::span<const std::string> spellings) const {
  const auto answer = rule.canonical ? gates.ask_caseless(caseless_key(name), spellings)
                                     : gates.ask(name, spellings);
  return answer != gate_table::answer::refused;
}

rule_set::rule_set() : index_{std::make_unique<index>()} {}

rule_set::rule_set(std::vector<rule_file> files) : rule_set{} {
  for (auto& file : files)
    index_->take(std::move(file));
  index_->build();
}

rule_set::~rule_set() = default;
rule_set::rule_set(rule_set&&) noexcept = default;
rule_set& rule_set::operator=(rule_set&&) noexcept = default;

std::vector<rule_match> rule_set::match(std::span<const std::string> argv,
                                        bool resolve_host_executables, std::string_view cwd,
                                        std::string_view home) const {
  std::vector<rule_match> matches;
  if (argv.empty()) return matches;
  for (auto id : index_->find(argv.front(), argv))
    matches.push_back(index_->matched(id, argv.front(), argv, {}));
  if (!matches.empty() || !resolve_host_executables) return matches;

  const auto absolute = lexically_absolute(argv.front(), cwd, home);
  const auto name = base_name(absolute);
  if (name.empty()) return matches;
  for (auto id : index_->find(name, argv))
    if (index_->gate_permits(index_->rules[id], name, {&absolute, 1}))
      matches.push_back(index_->matched(id, name, argv, absolute));
  return matches;
}

const std::vector<network_rule>& rule_set::network_rules() const noexcept {
  return index_->network;
}
const prefix_rule* rule_set::restrictive_rule_on_a(std::span<const std::string> argv) const {
  for (const auto& path : index_->restricted_paths) {
    if (base_name(path.head) != base_name(argv.front())) continue;
    for (const auto id : index_->find(path.head, argv))
      if (index_->rules[id].decision != decision::allow) return &index_->rules[id];
  }
  return nullptr;
}

std::span<const restricted_path> rule_set::restricted_paths() const noexcept {
  return index_->restricted_paths;
}
bool rule_set::has_restrictive_rules() const noexcept {
  return index_->restrictive;
}
bool rule_set::has_unreadable_file() const noexcept {
  return index_->unreadable;
}
std::size_t rule_set::size() const noexcept {
  return index_->rules.size();
}

namespace {

/// The names under which a restrictive rule may catch a program, the word itself first.
std::vector<std::string> names_of(std::string_view word, const program_fact* fact) {
  std::vector<std::string> names{std::string{word}};
  const auto add = [&](std::string_view name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  const auto add_path = [&](std::string_view path) {
    add(path);
    add(base_name(path));
  };
  add_path(word);
  if (word.starts_with('/')) add_path(lexically_normal(word));
  if (fact) {
    add_path(fact->absolute);
    add_path(fact->real_path);
  }
  return names;
}

/// Names of the program's file that the word does not show: other paths to it on the trusted PATH,
/// and the paths by which restrictive rules name it. An allow never goes by these.
std::vector<std::string> aliases_of(std::string_view word, const program_fact* fact,
                                    const program_facts& facts,
                                    std::span<const restricted_path> paths) {
  std::vector<std::string> aliases;
  if (!fact) return aliases;
  const bool goes_by_name = is_many_tools(base_name(fact->real_path));
  const auto name = base_name(word);
  if (!goes_by_name)
    for (const auto& path : fact->other_paths) {
      aliases.push_back(path);
      aliases.emplace_back(base_name(path));
    }
  for (const auto& path : paths) {
    const auto known = facts.find(path.word);
    if (known != facts.end() && is_same_file(known->second, *fact) &&
        (!goes_by_name || base_name(path.head) == name))
      aliases.push_back(path.head);
  }
  return aliases;
}

/// Absolute paths that are surely the very file the kernel runs for `word`. A spelling with `..`
/// is left out: a link before it may lead elsewhere than the text says.
std::vector<std::string> sure_spellings(std::string_view word, const program_fact& fact) {
  std::vector<std::string> spellings{fact.real_path};
  if (word.starts_with('/') && !climbs(word)) spellings.push_back(lexically_normal(word));
  return spellings;
}

} // namespace

std::vector<rule_match> rule_set::match_at_run_time(std::span<const std::string> argv,
                                                    const program_facts& facts) const {
  std::vector<rule_match> matches;
  if (argv.empty()) return matches;
  const std::string& word = argv.front();
  const auto known = facts.find(word);
  const auto* fact = known == facts.end() ? nullptr : &known->second;
  const auto spellings = fact ? sure_spellings(word, *fact) : std::vector<std::string>{};

  bool word_matched = false;
  // §D3. The name a program is called by must be the rule's own: programs that are many tools in
  // one file take it as their first argument.
  const auto allow_covers = [&](const prefix_rule& rule, std::string_view name) {
    if (!fact || fact->in_writable_root) return false;
    if (!is_path(word)) return name == word && fact->on_trusted_path;
    if (fact->real_path.empty() || base_name(name) != base_name(word)) return false;
    const auto& head = rule.pattern.front().front();
    if (is_path(head)) return std::ranges::find(spellings, head) != spellings.end();
    return !word_matched && index_->gate_permits(rule, name, spellings) &&
           index_->gate_permits(rule, base_name(fact->real_path), spellings) &&
           (fact->on_trusted_path || index_->gates.vouched(name, spellings));
  };

  std::unordered_set<rule_id> seen;
  const auto take = [&](const std::string& name, bool is_alias) {
    const bool is_word = name == word;
    for (auto id : index_->find(name, argv)) {
      const auto& rule = index_->rules[id];
      word_matched = word_matched || is_word;
      if (seen.contains(id)) continue;
      if (rule.decision == decision::allow && (is_alias || !allow_covers(rule, name))) continue;
      seen.insert(id);
      matches.push_back(
          index_->matched(id, name, argv, is_word || !fact ? std::string{} : fact->absolute));
    }
  };
  for (const auto& name : names_of(word, fact))
    take(name, false);
  if (index_->restrictive)
    for (const auto& name : aliases_of(word, fact, facts, index_->restricted_paths))
      take(name, true);
  std::ranges::stable_sort(matches, {}, [](const rule_match& m) {
    return std::pair{m.rule->canonical, m.rule};
  });
  return matches;
}

const prefix_rule* rule_set::restrictive_rule_beyond(std::span<const std::string> argv,
                                                     std::size_t known_words,
                                                     const program_facts& facts) const {
  known_words = std::min(known_words, argv.size());
  if (!index_->restrictive || known_words == 0) return nullptr;
  const auto known = facts.find(argv.front());
  const auto* fact = known == facts.end() ? nullptr : &known->second;
  auto names = names_of(argv.front(), fact);
  for (auto& alias : aliases_of(argv.front(), fact, facts, index_->restricted_paths))
    names.push_back(std::move(alias));
  const auto agrees = [](const prefix_rule& rule, std::size_t token, const std::string& word) {
    return std::ranges::any_of(rule.pattern[token], [&](const auto& alternative) {
      return rule.canonical ? caseless_key(alternative) == caseless_key(word) : alternative == word;
    });
  };
  for (const auto& rule : index_->rules) {
    if (rule.decision == decision::allow || rule.pattern.size() <= known_words) continue;
    bool fits = std::ranges::any_of(names, [&](const auto& n) { return agrees(rule, 0, n); });
    for (std::size_t token = 1; fits && token < known_words; ++token)
      fits = agrees(rule, token, argv[token]);
    if (fits) return &rule;
  }
  return nullptr;
}

} // namespace gatehouse::policy
