// Finding commands in shell text: no script crashes it, what it calls plain is plain, and whatever
// program it finds can be forbidden.
#include "policy/requirement.hpp"
#include "policy/shell/segments.hpp"
#include "tests/fuzz/fuzz_support.hpp"

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;

namespace {

rule_set forbidding(const std::string& program) {
  prefix_rule rule;
  rule.pattern = {{program}};
  rule.decision = decision::forbidden;
  std::vector<rule_file> files(1);
  files.front().rules.push_back(std::move(rule));
  return rule_set{std::move(files)};
}

void judge(std::vector<std::string> argv) {
  const auto analysis = analyze_command(argv);
  must(!analysis.segments.empty(), "there is always something to judge");
  for (const auto& segment : analysis.segments)
    must(!segment.argv.empty() && segment.unknown_words >= 0, "a segment has a program");
  if (analysis.plain && is_shell_wrapper(argv)) {
    const auto commands = plain_commands(analysis.script);
    must(commands.has_value(), "what is called plain is plain");
    std::vector<std::vector<std::string>> listed;
    for (const auto& segment : analysis.segments)
      if (segment.origin == segment_origin::plain) listed.push_back(segment.argv);
    must(listed == *commands, "the plain segments are the plain commands");
  }
  exec_request request;
  request.argv = std::move(argv);
  for (std::size_t i = 0; i < analysis.segments.size() && i < 8; ++i) {
    const auto rules = forbidding(analysis.segments[i].argv.front());
    must(evaluate(request, analysis, rules, {}).requirement.kind == requirement_kind::forbidden,
         "a program that is found can be forbidden");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{text_of(data, size)};
  judge({"/bin/bash", "-lc", text});
  judge({"sh", "-c", text});
  judge({"pwsh", "-NoProfile", "-Command", text});
  // The same bytes as words: wrappers and their options.
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  judge(std::move(words));
  return 0;
}
