#include "policy/shell/segments.hpp"
#include "tests/support/json_lines.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

using commands = std::vector<std::vector<std::string>>;

std::vector<std::string> strings(const boost::json::value& value) {
  std::vector<std::string> all;
  for (const auto& text : value.as_array())
    all.emplace_back(text.as_string());
  return all;
}

/// The cases list a command once, and not at all when an earlier one is its prefix.
commands distinct(const commands& all) {
  commands kept;
  for (const auto& command : all) {
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](const auto& earlier) {
      return earlier.size() <= command.size() &&
             std::equal(earlier.begin(), earlier.end(), command.begin());
    });
    if (!covered) kept.push_back(command);
  }
  return kept;
}

} // namespace

TEST_CASE("§18 §D17 every recorded script is plain, or not, exactly as recorded or stricter") {
  for (const auto& row : tests::load_cases("shell_plain.jsonl")) {
    const auto argv = strings(row.at("argv"));
    CAPTURE(boost::json::serialize(row));
    const auto analysis = analyze_command(argv);
    commands plain;
    for (const auto& segment : analysis.segments)
      if (segment.origin == segment_origin::plain) plain.push_back(segment.argv);
    CHECK(analysis.plain == !plain.empty());
    if (row.contains("stricter_ok") && !analysis.plain) continue;
    REQUIRE(analysis.plain == row.at("plain").as_bool());
    if (!analysis.plain) continue;
    commands expected;
    for (const auto& command : row.at("commands").as_array())
      expected.push_back(strings(command));
    CHECK(distinct(plain) == distinct(expected));
  }
}
