#include "policy/rules/rule_set.hpp"
#include "tests/support/json_lines.hpp"

#include <algorithm>
#include <random>

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

/// Breaks rule files in the ways that editors, merges and disks do, the same way at every run.
class mutator {
public:
  explicit mutator(std::vector<std::string> corpus) : corpus_{std::move(corpus)} {}

  std::string next() {
    auto text = pick(corpus_);
    for (auto rounds = below(4) + 1; rounds > 0; --rounds)
      mutate(text);
    return text;
  }

private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  const std::string& pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

  void mutate(std::string& text) {
    static const std::vector<std::string> pieces{"(",
                                                 ")",
                                                 "[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 "\"",
                                                 "'",
                                                 "\"\"\"",
                                                 "\\",
                                                 "\n",
                                                 "    ",
                                                 "\t",
                                                 "\r",
                                                 "#",
                                                 ",",
                                                 ":",
                                                 ";",
                                                 "=",
                                                 "==",
                                                 "*",
                                                 "**",
                                                 "f\"{",
                                                 "}\"",
                                                 "lambda x: ",
                                                 "for x in ",
                                                 " if ",
                                                 " else ",
                                                 "def f():\n",
                                                 "return ",
                                                 "x",
                                                 "None",
                                                 "True",
                                                 "-",
                                                 "1",
                                                 "1e999",
                                                 "0x",
                                                 "99999999999999999999",
                                                 "\xff",
                                                 "\xC3",
                                                 std::string(1, '\0'),
                                                 "\xEF\xBB\xBF",
                                                 "prefix_rule(",
                                                 "pattern=",
                                                 "decision=\"forbidden\"",
                                                 "\"allow\"",
                                                 ".format(",
                                                 "%",
                                                 "[0]",
                                                 "[::-1]",
                                                 "()",
                                                 "<<",
                                                 " in ",
                                                 "not ",
                                                 "...",
                                                 "@",
                                                 "fail("};
    const auto at = below(text.size() + 1);
    const auto size = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    switch (below(6)) {
    case 0: text.insert(at, pick(pieces)); break;
    case 1: text.erase(at, size); break;
    case 2: text.insert(below(text.size() + 1), text.substr(at, size)); break;
    case 3: text.replace(at, size, pick(pieces)); break;
    case 4: text += pick(corpus_); break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(random_());
    }
  }

  std::vector<std::string> corpus_;
  std::minstd_rand random_{20'260'726};
};

} // namespace

TEST_SUITE("policy.rule_mutation") {
  TEST_CASE("§44 §D7 no mutated rule file crashes, and a broken one allows nothing") {
    std::vector<std::string> corpus;
    for (const auto& row : tests::load_cases("execpolicy_check.jsonl"))
      corpus.emplace_back(row.at("rules").as_string());
    mutator from{std::move(corpus)};
    const std::vector<std::string> command{"git", "status", "x"};
    int broken = 0;
    int sound = 0;
    for (int i = 0; i < 4000; ++i) {
      const auto text = from.next();
      CAPTURE(text);
      auto file = read_rule_file(text, "mutated.rules", {});
      const bool is_broken = !file.problems.empty();
      ++(is_broken ? broken : sound);
      for (const auto& problem : file.problems) {
        CHECK(problem.where.line > 0);
        CHECK_FALSE(problem.message.empty());
      }
      CHECK((is_broken || !file.unreadable));
      auto heads = std::vector<std::string>{"git"};
      for (const auto& rule : file.rules)
        heads.push_back(rule.pattern.front().front());
      const rule_set rules{{std::move(file)}};
      for (const auto& head : heads) {
        auto words = command;
        words.front() = head;
        for (const auto& match : rules.match(words, true, "/ws", "/root"))
          CHECK((!is_broken || match.rule->decision != decision::allow));
        for (const auto& match : rules.match_at_run_time(words, {}))
          CHECK(match.rule->decision != decision::allow);
      }
    }
    CHECK(broken > 1000);
    CHECK(sound > 100);
  }
}
