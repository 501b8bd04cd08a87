// How long a decision takes with 10, 1,000 and 100,000 rules, and what reading them costs. Built on
// demand: cmake --build --preset release --target bench_rules
#include "policy/rules/rule_set.hpp"

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

using namespace gatehouse::policy;
using clock_type = std::chrono::steady_clock;

namespace {

double since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

/// Every rule has its own program, or all share one program and differ in the next word.
std::string text_of(int rules, bool shared_program) {
  std::string text;
  for (int i = 0; i < rules; ++i) {
    const auto number = std::to_string(i);
    text += shared_program ? "prefix_rule(pattern=[\"git\", \"sub" + number + "\"]"
                           : "prefix_rule(pattern=[\"tool" + number + "\", [\"a\", \"b\"]]";
    text += ", decision=\"prompt\")\n";
  }
  return text;
}

double nanoseconds_each(const rule_set& rules, const std::vector<std::string>& command,
                        const program_facts& facts) {
  constexpr int rounds = 200'000;
  std::size_t matched = 0;
  const auto start = clock_type::now();
  for (int i = 0; i < rounds; ++i)
    matched += rules.match_at_run_time(command, facts).size();
  const auto each = since(start) * 1e9 / rounds;
  if (matched % rounds != 0) std::puts("rounds differ");
  return each;
}

} // namespace

int main() {
  std::puts("rules    shape    read [ms]  index [ms]  hit [ns]  miss [ns]");
  for (const bool shared : {false, true})
    for (const int count : {10, 1'000, 100'000}) {
      const auto text = text_of(count, shared);
      auto start = clock_type::now();
      auto file = read_rule_file(text, "bench.rules", {});
      const auto read = since(start) * 1e3;
      if (!file.problems.empty()) {
        std::printf("%s\n", file.problems.front().message.c_str());
        return 1;
      }
      std::vector<rule_file> files;
      files.push_back(std::move(file));
      start = clock_type::now();
      const rule_set rules{std::move(files)};
      const auto indexed = since(start) * 1e3;
      const std::string program = shared ? "git" : "tool7";
      const program_facts facts{
          {program, {"/usr/bin/" + program, "/usr/bin/" + program, false, true}}};
      std::printf("%-8d %-8s %9.2f  %10.2f  %8.0f  %9.0f\n", count, shared ? "shared" : "distinct",
                  read, indexed,
                  nanoseconds_each(rules, {program, shared ? "sub7" : "b", "x"}, facts),
                  nanoseconds_each(rules, {program, "none", "x"}, facts));
    }
}
