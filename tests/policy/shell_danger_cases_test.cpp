#include "policy/shell/segments.hpp"
#include "tests/support/json_lines.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse::policy;

TEST_CASE("§18a §29 the rm of every recorded forced_rm row stands in a segment of its own") {
  for (const auto& row : gatehouse::tests::load_cases("dangerous.jsonl")) {
    std::vector<std::string> argv;
    for (const auto& text : row.at("argv").as_array())
      argv.emplace_back(text.as_string());
    CAPTURE(boost::json::serialize(row));
    const auto analysis = analyze_command(argv);
    const auto& match = row.at("match");
    const bool found = std::any_of(
        analysis.segments.begin(), analysis.segments.end(), [](const command_segment& segment) {
          const auto& program = segment.argv.front();
          return (program == "rm" || program.ends_with("/rm")) &&
                 std::any_of(segment.argv.begin(), segment.argv.end(), [](const auto& w) {
                   return w == "--force" ||
                          (w.starts_with('-') && w.find('f') != std::string::npos);
                 });
        });
    if (match.is_string() && match.as_string() == "forced_rm") {
      CHECK(found);
    }
    CHECK(analysis.too_deep == (match.is_string() && match.as_string() == "other"));
  }
}
