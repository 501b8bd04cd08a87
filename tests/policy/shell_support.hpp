#pragma once

#include "policy/shell/segments.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::tests {

inline policy::command_analysis analysis_of(std::string_view script) {
  const std::vector<std::string> argv{"bash", "-lc", std::string(script)};
  return policy::analyze_command(argv);
}

/// The words of a command with `|` between them.
inline std::string line(const std::vector<std::string>& argv) {
  std::string text;
  for (const auto& word : argv)
    text += (&word == &argv.front() ? "" : "|") + word;
  return text;
}

/// Every segment as a line, in order.
inline std::vector<std::string> lines(const policy::command_analysis& analysis) {
  std::vector<std::string> all;
  for (const auto& segment : analysis.segments)
    all.push_back(line(segment.argv));
  return all;
}

inline bool finds(const policy::command_analysis& analysis, std::string_view wanted) {
  const auto all = lines(analysis);
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

} // namespace gatehouse::tests
