#include "policy/rules/rule_file.hpp"

#include <cctype>
#include <map>
#include <optional>
#include <variant>

namespace gatehouse::policy {
namespace {

struct value;
using list = std::vector<value>;
struct value : std::variant<std::string, list, bool> {
  using variant::variant;
};

/// Reads calls with literal arguments only.
class literal_reader {
public:
  literal_reader(std::string_view text, rule_file& out, const rule_file_options& options)
      : text_{text}, out_{out}, options_{options} {}

  void run() {
    for (skip(); at_ < text_.size(); skip())
      if (!call()) {
        out_.problems.push_back({{out_.file, line_, 1}, "not understood", {}});
        while (at_ < text_.size() && text_[at_] != '\n')
          ++at_;
      }
  }

private:
  void skip() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#')
        while (at_ < text_.size() && text_[at_] != '\n')
          ++at_;
      if (at_ >= text_.size()) return;
      if (text_[at_] == '\n') ++line_;
      if (!std::isspace(static_cast<unsigned char>(text_[at_]))) return;
    }
  }
  bool take(char c) {
    skip();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }
  std::string name() {
    skip();
    std::string result;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      result += text_[at_++];
    return result;
  }
  std::optional<value> read() {
    skip();
    if (take('[')) {
      list items;
      while (!take(']')) {
        auto item = read();
        if (!item) return std::nullopt;
        items.push_back(*item);
        if (!take(',') && !(skip(), at_ < text_.size() && text_[at_] == ']')) return std::nullopt;
      }
      return items;
    }
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const char quote = text_[at_++];
      std::string s;
      while (at_ < text_.size() && text_[at_] != quote) {
        if (text_[at_] == '\\' || text_[at_] == '\n') return std::nullopt;
        s += text_[at_++];
      }
      if (at_ >= text_.size()) return std::nullopt;
      ++at_;
      return s;
    }
    const auto word = name();
    if (word == "True" || word == "False") return word == "True";
    return std::nullopt;
  }
  static std::optional<std::vector<std::string>> strings(const value& v) {
    const auto* items = std::get_if<list>(&v);
    if (!items) return std::nullopt;
    std::vector<std::string> result;
    for (const auto& item : *items) {
      const auto* s = std::get_if<std::string>(&item);
      if (!s) return std::nullopt;
      result.push_back(*s);
    }
    return result;
  }
  bool call() {
    const int line = line_;
    const auto function = name();
    if ((function != "prefix_rule" && function != "host_executable") || !take('(')) return false;
    std::map<std::string, value> args;
    const std::vector<std::string> order =
        function == "prefix_rule"
            ? std::vector<std::string>{"pattern", "decision", "match", "not_match", "justification"}
            : std::vector<std::string>{"name", "paths"};
    for (std::size_t i = 0; !take(')'); ++i) {
      const auto back = at_;
      auto key = name();
      if (key.empty() || !take('=')) {
        at_ = back;
        if (i >= order.size()) return false;
        key = order[i];
      }
      auto v = read();
      if (!v || !args.emplace(key, *v).second) return false;
      if (!take(',') && !(skip(), at_ < text_.size() && text_[at_] == ')')) return false;
    }
    if (function == "host_executable") {
      const auto* n = std::get_if<std::string>(&args["name"]);
      const auto paths = strings(args["paths"]);
      if (!n || !paths) return false;
      out_.gates.push_back({*n, *paths, options_.layer, {out_.file, line, 1}});
      return true;
    }
    prefix_rule rule;
    rule.layer = options_.layer;
    rule.sandbox = options_.default_sandbox;
    rule.where = {out_.file, line, 1};
    if (const auto d = args.find("decision"); d != args.end()) {
      const auto* s = std::get_if<std::string>(&d->second);
      const auto known = s ? decision_from(*s) : std::nullopt;
      if (!known) return false;
      rule.decision = *known;
    }
    if (const auto j = args.find("justification"); j != args.end())
      if (const auto* s = std::get_if<std::string>(&j->second)) rule.justification = *s;
    if (const auto x = args.find("sandbox"); x != args.end())
      if (const auto* s = std::get_if<std::string>(&x->second))
        rule.sandbox = *s == "keep" ? rule_sandbox::keep : rule_sandbox::bypass;
    const auto* pattern = std::get_if<list>(&args["pattern"]);
    if (!pattern || pattern->empty()) return false;
    for (const auto& token : *pattern) {
      if (const auto* s = std::get_if<std::string>(&token))
        rule.pattern.push_back({*s});
      else if (const auto all = strings(token); all && !all->empty())
        rule.pattern.push_back(*all);
      else
        return false;
    }
    for (const auto& head : rule.pattern.front()) {
      auto one = rule;
      one.pattern.front() = {head};
      out_.rules.push_back(std::move(one));
    }
    return true;
  }

  std::string_view text_;
  rule_file& out_;
  const rule_file_options& options_;
  std::size_t at_ = 0;
  int line_ = 1;
};

} // namespace

rule_file read_rule_file(std::string_view text, std::string file_name,
                         const rule_file_options& options) {
  rule_file out;
  out.file = std::move(file_name);
  out.layer = options.layer;
  literal_reader{text, out, options}.run();
  return out;
}

} // namespace gatehouse::policy
