#include "policy/fork_bomb.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gatehouse::policy {
namespace {

using tokens = std::vector<std::string_view>;

/// Names and single marks; quotes are marks like any other: a generous reading.
tokens read_tokens(std::string_view script) {
  constexpr std::string_view blanks = " \t\r";
  constexpr std::string_view marks = "\n;&|(){}<>\"'`$";
  tokens found;
  for (std::size_t at = 0; at < script.size();) {
    if (blanks.find(script[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    auto end = at + 1;
    if (marks.find(script[at]) == std::string_view::npos)
      while (end < script.size() && blanks.find(script[end]) == std::string_view::npos &&
             marks.find(script[end]) == std::string_view::npos)
        ++end;
    found.push_back(script.substr(at, end - at));
    at = end;
  }
  return found;
}

/// The words of each function's body.
std::map<std::string_view, tokens> read_functions(const tokens& script) {
  std::map<std::string_view, tokens> functions;
  const auto is = [&](std::size_t i, std::string_view text) {
    return i < script.size() && script[i] == text;
  };
  for (std::size_t i = 0; i < script.size(); ++i) {
    std::size_t name = i, body = 0;
    if (is(i, "function")) {
      name = i + 1;
      body = is(i + 2, "(") && is(i + 3, ")") ? i + 4 : i + 2;
    } else if (is(i + 1, "(") && is(i + 2, ")")) {
      body = i + 3;
    } else {
      continue;
    }
    while (is(body, "\n"))
      ++body;
    if (!is(body, "{") && !is(body, "(")) continue;
    const std::string_view open = script[body], close = open == "{" ? "}" : ")";
    auto& words = functions[script[name]];
    int depth = 0;
    for (; body < script.size(); ++body) {
      depth += is(body, open) ? 1 : is(body, close) ? -1 : 0;
      if (depth == 0) break;
      words.push_back(script[body]);
    }
  }
  return functions;
}

/// Whether one function leads to another, with a bound on the work of all questions.
class call_graph {
public:
  explicit call_graph(const std::map<std::string_view, tokens>& functions)
      : functions_{functions} {}

  bool leads(std::string_view from, std::string_view to) {
    std::set<std::string_view> seen{from};
    tokens waiting{from};
    while (!waiting.empty()) {
      const auto& body = functions_.at(waiting.back());
      waiting.pop_back();
      for (const auto word : body) {
        if (--steps_left_ <= 0) return false;
        if (word == to) return true;
        if (functions_.contains(word) && seen.insert(word).second) waiting.push_back(word);
      }
    }
    return false;
  }
  [[nodiscard]] bool exhausted() const { return steps_left_ <= 0; }

private:
  const std::map<std::string_view, tokens>& functions_;
  int steps_left_ = 100'000;
};

} // namespace

std::optional<std::string> find_fork_bomb(std::string_view script) {
  if (script.find_first_of("|&") == std::string_view::npos) return std::nullopt;
  const auto functions = read_functions(read_tokens(script));
  call_graph graph{functions};
  for (const auto& [name, body] : functions) {
    const auto recurs = [&](std::size_t i) {
      return i < body.size() && functions.contains(body[i]) &&
             (body[i] == name || graph.leads(body[i], name));
    };
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      const bool background = body[i + 1] == "&" && (i + 2 >= body.size() || body[i + 2] != "&");
      const bool pipe = body[i + 1] == "|" && i + 2 < body.size();
      if ((background && recurs(i)) || (pipe && recurs(i) && recurs(i + 2)))
        return "a fork bomb starts processes without end";
    }
  }
  if (graph.exhausted()) return "so many functions call one another that a fork bomb could hide";
  return std::nullopt;
}

} // namespace gatehouse::policy
