// What a decision costs with 10, 1,000 and 100,000 rules, and what the rules cost. Built on demand;
// run by `scripts/bench policy`. usage: bench_rules [HIGHEST_RATIO]
#include "policy/requirement.hpp"
#include "policy/rules/rule_set.hpp"
#include "policy/shell/bash_tree.hpp"
#include "policy/shell/segments.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <malloc.h>

using namespace gatehouse;
using namespace gatehouse::policy;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr std::string_view script = "cd repo && rg TODO | head -20";
constexpr std::array rule_counts = {10, 1'000, 100'000};

double since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

double heap_bytes() {
  const auto use = ::mallinfo2();
  return static_cast<double>(use.uordblks + use.hblkhd);
}

/// Rules that do not match, each with its own program, or all for one program of the script; and
/// one that matches.
std::string text_of(int rules, bool shared_program) {
  std::string text = "prefix_rule(pattern=[\"head\"], decision=\"prompt\")\n";
  for (int i = 1; i < rules; ++i) {
    const auto number = std::to_string(i);
    text += shared_program ? "prefix_rule(pattern=[\"rg\", \"word" + number + "\"]"
                           : "prefix_rule(pattern=[\"tool" + number + "\", [\"a\", \"b\"]]";
    text += ", decision=\"prompt\")\n";
  }
  return text;
}

struct measured_rules {
  int count = 0;
  const char* shape = "";
  double read_ms = 0;
  double bytes_per_rule = 0;
  rule_set rules;
  std::vector<double> decisions{}; ///< microseconds
};

measured_rules prepare(int count, bool shared) {
  measured_rules made;
  made.count = count;
  made.shape = shared ? "one program" : "own program";
  const auto text = text_of(count, shared);
  const auto before = heap_bytes();
  const auto start = clock_type::now();
  std::vector<rule_file> files;
  files.push_back(read_rule_file(text, "bench.rules", {}));
  if (!files.front().problems.empty()) {
    std::printf("%s\n", files.front().problems.front().message.c_str());
    std::exit(1);
  }
  made.rules = rule_set{std::move(files)};
  made.read_ms = since(start) * 1e3;
  ::malloc_trim(0);
  made.bytes_per_rule = (heap_bytes() - before) / count;
  return made;
}

exec_request request() {
  exec_request made;
  made.argv = {"/bin/bash", "-lc", std::string{script}};
  made.profile.kind = profile_kind::managed;
  return made;
}

program_facts facts() {
  program_facts known;
  for (const std::string name : {"cd", "rg", "head"})
    known[name] = {"/usr/bin/" + name, "/usr/bin/" + name, false, true};
  known["/bin/bash"] = {"/bin/bash", "/usr/bin/bash", false, true};
  return known;
}

/// One decision as a call gets it: read the script, judge every command. Facts of the host are at
/// hand.
double decide(const exec_request& asked, const rule_set& rules, const program_facts& known) {
  const auto start = clock_type::now();
  const auto analysis = analyze_command(asked.argv);
  const auto answer = evaluate(asked, analysis, rules, known);
  const auto taken = since(start) * 1e6;
  if (answer.requirement.kind != requirement_kind::needs_approval) {
    std::puts("the matching rule did not speak");
    std::exit(1);
  }
  return taken;
}

double at(std::vector<double>& values, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place),
                   values.end());
  return values[place];
}

} // namespace

int main(int argc, char** argv) {
  std::vector<measured_rules> all;
  for (const bool shared : {false, true})
    for (const int count : rule_counts)
      all.push_back(prepare(count, shared));
  const auto asked = request();
  const auto known = facts();

  // In turn, so that a busy machine slows all alike.
  constexpr int rounds = 20'000;
  std::vector<double> parses;
  for (int i = -500; i < rounds; ++i) { // the first rounds warm the caches
    for (auto& one : all)
      if (const auto taken = decide(asked, one.rules, known); i >= 0)
        one.decisions.push_back(taken);
    const auto start = clock_type::now();
    const auto commands = shell::tree_commands(script);
    const auto taken = since(start) * 1e6;
    if (!commands || commands->size() != 3) return 1;
    if (i >= 0) parses.push_back(taken);
  }

  std::printf("`%s`, %d decisions each, one thread\n", std::string{script}.c_str(), rounds);
  std::printf("grammar's parse alone: median %.1f us, p99 %.1f us, %.2f of the 25 us allowed\n",
              at(parses, 0.5), at(parses, 0.99), at(parses, 0.5) / 25);
  std::puts("rules    shape        read [ms]  bytes/rule  median [us]  p99 [us]  to 10 rules");
  double highest = 0;
  double base = 0;
  for (auto& one : all) {
    const auto median = at(one.decisions, 0.5);
    if (one.count == rule_counts.front()) base = median;
    highest = std::max(highest, median / base);
    std::printf("%-8d %-11s  %9.2f  %10.0f  %11.1f  %8.1f  %11.2f\n", one.count, one.shape,
                one.read_ms, one.bytes_per_rule, median, at(one.decisions, 0.99), median / base);
  }
  return argc > 1 && highest > std::atof(argv[1]) ? 1 : 0;
}
