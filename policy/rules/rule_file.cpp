#include "policy/rules/rule_file.hpp"

#include "policy/rules/caseless.hpp"
#include "policy/rules/gate_table.hpp"
#include "policy/rules/program_path.hpp"
#include "policy/rules/rule_calls.hpp"
#include "policy/starlark/program.hpp"
#include "protocol/shell_quote.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <span>
#include <tuple>

namespace gatehouse::policy {
namespace {

using starlark::call_arguments;
using example = std::vector<std::string>;

/// Does `rule` fit `words` when their program is called `head`?
bool fits_as(const prefix_rule& rule, std::string_view head, const example& words) {
  std::vector<std::string_view> compared{words.begin(), words.end()};
  compared.front() = head;
  if (!rule.canonical) return fits(rule.pattern, compared, rule.exact);
  std::vector<std::string> folded(compared.size());
  std::ranges::transform(compared, folded.begin(), caseless_key);
  auto pattern = rule.pattern;
  for (auto& alternatives : pattern)
    for (auto& token : alternatives)
      token = caseless_key(token);
  compared.assign(folded.begin(), folded.end());
  return fits(pattern, compared, rule.exact);
}

class reader {
public:
  reader(std::string_view text, std::string name, const rule_file_options& options)
      : text_{text}, options_{options} {
    file_.file = std::move(name);
    file_.layer = options.layer;
    file_.cwd = options.cwd;
  }

  rule_file read() {
    if (text_.size() > largest_rule_file)
      return refused("the file has " + std::to_string(text_.size()) + " bytes; at most " +
                     std::to_string(largest_rule_file) + " are read");
    if (const auto bad = find_invalid_utf8(text_))
      return refused("byte " + std::to_string(*bad) + " of the file is not valid UTF-8");
    if (const auto nul = text_.find('\0'); nul != std::string_view::npos)
      return refused("byte " + std::to_string(nul) + " of the file is NUL: this is not text");

    const std::vector<starlark::host_function> functions{
        {"prefix_rule", [this](const call_arguments& a) { return take_prefix_rule(a); }},
        {"host_executable", [this](const call_arguments& a) { return take_gate(a); }},
        {"network_rule", [this](const call_arguments& a) { return take_network_rule(a); }},
    };
    auto report = starlark::run(text_, functions);
    for (auto& problem : report.problems)
      file_.problems.push_back(
          {place_of(problem.where), std::move(problem.message), std::move(problem.excerpt)});
    check_examples();
    std::ranges::stable_sort(file_.problems, {}, [](const rule_problem& p) {
      return std::pair{p.where.line, p.where.column};
    });
    const bool nothing_read = file_.rules.empty() && file_.gates.empty() && file_.network.empty();
    file_.unreadable = report.over_limit || (!file_.problems.empty() && nothing_read);
    file_.rules.shrink_to_fit();
    return std::move(file_);
  }

private:
  /// The examples of one call and the rules it made.
  struct promise {
    std::size_t first_rule;
    std::size_t rules;
    std::vector<example> match;
    std::vector<example> not_match;
    starlark::position where;
  };

  rule_file refused(std::string why) {
    file_.problems.push_back({{file_.file, 1, 1}, std::move(why), {}});
    file_.unreadable = true;
    return std::move(file_);
  }

  [[nodiscard]] source_position place_of(starlark::position where) const {
    return {file_.file, static_cast<int>(where.line), static_cast<int>(where.column)};
  }

  std::optional<std::string> take_prefix_rule(const call_arguments& arguments) {
    auto read = read_prefix_call(arguments);
    if (auto* wrong = std::get_if<std::string>(&read)) {
      if (auto saved = salvage_prefix_call(arguments)) add(std::move(*saved), arguments.where);
      return std::move(*wrong);
    }
    add(std::move(std::get<prefix_call>(read)), arguments.where);
    return std::nullopt;
  }

  void add(prefix_call call, starlark::position where) {
    const auto first = file_.rules.size();
    const auto heads = std::exchange(call.pattern.front(), {});
    for (const auto& head : heads) {
      prefix_rule rule;
      rule.pattern = call.pattern;
      rule.pattern.front() = {head};
      rule.decision = call.decision;
      rule.justification = call.justification;
      rule.canonical = call.canonical;
      rule.exact = call.exact;
      rule.sandbox = call.sandbox.value_or(options_.default_sandbox);
      rule.says_sandbox = call.sandbox.has_value();
      rule.layer = options_.layer;
      rule.where = place_of(where);
      file_.rules.push_back(std::move(rule));
    }
    if (!call.match.empty() || !call.not_match.empty())
      promises_.push_back(
          {first, heads.size(), std::move(call.match), std::move(call.not_match), where});
  }

  std::optional<std::string> take_gate(const call_arguments& arguments) {
    auto read = read_host_executable_call(arguments);
    if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
    auto& gate = file_.gates.emplace_back(std::move(std::get<host_gate>(read)));
    gate.layer = options_.layer;
    gate.where = place_of(arguments.where);
    return std::nullopt;
  }

  std::optional<std::string> take_network_rule(const call_arguments& arguments) {
    auto read = read_network_call(arguments);
    if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
    auto& rule = file_.network.emplace_back(std::move(std::get<network_rule>(read)));
    rule.layer = options_.layer;
    rule.where = place_of(arguments.where);
    return std::nullopt;
  }

  void check_examples() {
    if (promises_.empty()) return;
    gate_table gates;
    for (const auto& gate : options_.earlier_gates)
      gates.add(gate, gate_table::source::sound_file);
    for (const auto& gate : file_.gates)
      gates.add(gate, gate_table::source::sound_file);
    for (const auto& made : promises_) {
      const auto rules = std::span{file_.rules}.subspan(made.first_rule, made.rules);
      const auto matches = [&](const example& words) { return match(rules, words, gates); };
      if (const auto bad = std::ranges::find_if(made.not_match, matches);
          bad != made.not_match.end())
        note(made.where,
             "the example `" + shell_join(*bad) + "` of `not_match` is matched by this rule");
      std::string missed;
      for (const auto& words : made.match)
        if (!matches(words)) missed += (missed.empty() ? "`" : ", `") + shell_join(words) + "`";
      if (!missed.empty()) note(made.where, "this rule does not match its example " + missed);
    }
  }

  [[nodiscard]] bool match(std::span<const prefix_rule> rules, const example& words,
                           const gate_table& gates) const {
    const auto any = [&](std::string_view head, auto also) {
      return std::ranges::any_of(
          rules, [&](const auto& rule) { return fits_as(rule, head, words) && also(rule); });
    };
    if (any(words.front(), [](const auto&) { return true; })) return true;
    const auto absolute = lexically_absolute(words.front(), options_.cwd, options_.home);
    const auto name = base_name(absolute);
    return !name.empty() && any(name, [&](const prefix_rule& rule) {
      const auto answer = rule.canonical ? gates.ask_caseless(caseless_key(name), {&absolute, 1})
                                         : gates.ask(name, {&absolute, 1});
      return answer != gate_table::answer::refused;
    });
  }

  void note(starlark::position where, std::string message) {
    file_.problems.push_back(
        {place_of(where), std::move(message), starlark::excerpt_at(text_, where)});
  }

  std::string_view text_;
  const rule_file_options& options_;
  rule_file file_;
  std::vector<promise> promises_;
};

} // namespace

rule_file read_rule_file(std::string_view text, std::string file_name,
                         const rule_file_options& options) {
  return reader{text, std::move(file_name), options}.read();
}

} // namespace gatehouse::policy
