#include "policy/rules/rule_set.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

using argv = std::vector<std::string>;

rule_set rules_from(std::initializer_list<std::pair<rule_layer, std::string_view>> layers) {
  std::vector<rule_file> files;
  for (const auto& [layer, text] : layers) {
    rule_file_options how;
    how.layer = layer;
    files.push_back(read_rule_file(text, "f" + std::to_string(files.size()) + ".rules", how));
  }
  return rule_set{std::move(files)};
}
rule_set rules_from(std::string_view text) {
  return rules_from({{rule_layer::user, text}});
}

program_facts one_fact(const std::string& word, program_fact fact) {
  return {{word, fact}};
}

/// "allow", "prompt", "forbidden" or "none".
std::string verdict(const std::vector<rule_match>& matches) {
  return matches.empty() ? "none" : std::string{to_string(strictest(matches))};
}
std::string at_run_time(const rule_set& rules, const argv& command, const program_facts& facts) {
  return verdict(rules.match_at_run_time(command, facts));
}

const program_fact system_git{"/usr/bin/git", "/usr/bin/git", false, true};

} // namespace

TEST_SUITE("policy.rule_set") {
  TEST_CASE("§24 the strictest of all matches wins whatever the order") {
    const std::string_view allow = "prefix_rule([\"git\", \"push\", \"-f\"])\n";
    const std::string_view deny = "prefix_rule([\"git\"], \"forbidden\")\n";
    for (const auto& text :
         {std::string{allow} + std::string{deny}, std::string{deny} + std::string{allow}}) {
      const auto rules = rules_from(text);
      CHECK(verdict(rules.match(argv{"git", "push", "-f"}, false, "/", "")) == "forbidden");
    }
  }

  TEST_CASE("§43 no later layer turns forbidden into allow") {
    const auto rules = rules_from({{rule_layer::system, "prefix_rule([\"rm\"], \"forbidden\")"},
                                   {rule_layer::user, "prefix_rule([\"rm\"])"},
                                   {rule_layer::project, "prefix_rule([\"rm\", \"x\"])"}});
    CHECK(at_run_time(rules, {"rm", "x"}, one_fact("rm", {"/bin/rm", "/bin/rm", false, true})) ==
          "forbidden");
  }

  TEST_CASE("§22 alternatives match one by one, however many there are") {
    std::string many = "prefix_rule([\"x\", [";
    for (int i = 0; i < 400; ++i)
      many += "\"a" + std::to_string(i) + "\",";
    many += "], [\"p\", \"q\", \"p\"]], \"prompt\")";
    const auto rules = rules_from(many);
    CHECK(rules.match(argv{"x", "a399", "q", "more"}, false, "/", "").size() == 1);
    CHECK(rules.match(argv{"x", "a7", "p"}, false, "/", "").size() == 1);
    CHECK(rules.match(argv{"x", "a400", "p"}, false, "/", "").empty());
    CHECK(rules.match(argv{"x", "a1"}, false, "/", "").empty());
  }

  TEST_CASE("§D4 an exact rule covers the whole command and no longer one") {
    const auto rules = rules_from("prefix_rule([\"make\", [\"all\", \"test\"]], exact=True)");
    CHECK(verdict(rules.match(argv{"make", "test"}, false, "/", "")) == "allow");
    CHECK(verdict(rules.match(argv{"make", "test", "x"}, false, "/", "")) == "none");
    const auto canonical =
        rules_from("prefix_rule([\"make\"], exact=True, canonical_matching=True)");
    CHECK(verdict(canonical.match(argv{"MAKE"}, false, "/", "")) == "allow");
    CHECK(verdict(canonical.match(argv{"MAKE", "x"}, false, "/", "")) == "none");
  }

  TEST_CASE("§D3 an allow on a bare name covers only a program of the trusted PATH") {
    const auto rules = rules_from("prefix_rule([\"git\"])");
    CHECK(at_run_time(rules, {"git", "log"}, one_fact("git", system_git)) == "allow");
    CHECK(at_run_time(rules, {"git"}, {}) == "none");
    CHECK(at_run_time(rules, {"git"}, one_fact("git", {"/ws/git", "/ws/git", true, true})) ==
          "none");
    CHECK(at_run_time(rules, {"git"}, one_fact("git", {"/opt/git", "/opt/git", false, false})) ==
          "none");
  }

  TEST_CASE(
      "§D3 an allow on a bare name covers a path only where the trusted PATH or a gate does") {
    const auto rules = rules_from("prefix_rule([\"git\"])");
    CHECK(at_run_time(rules, {"/usr/bin/git"}, one_fact("/usr/bin/git", system_git)) == "allow");
    CHECK(at_run_time(rules, {"./git"}, one_fact("./git", {"/ws/git", "/ws/git", true, false})) ==
          "none");
    CHECK(at_run_time(rules, {"/home/u/git"},
                      one_fact("/home/u/git", {"/home/u/git", "/home/u/git", false, false})) ==
          "none");
    CHECK(at_run_time(rules, {"/none/git"},
                      one_fact("/none/git", {"/none/git", "", false, true})) == "none");
    const auto gated =
        rules_from("prefix_rule([\"git\"])\nhost_executable(\"git\", [\"/opt/git\"])");
    CHECK(at_run_time(gated, {"/opt/git"},
                      one_fact("/opt/git", {"/opt/git", "/opt/git", false, false})) == "allow");
    CHECK(at_run_time(gated, {"/usr/bin/git"}, one_fact("/usr/bin/git", system_git)) == "none");
    CHECK(at_run_time(gated, {"/opt/git"},
                      one_fact("/opt/git", {"/opt/git", "/opt/git", true, false})) == "none");
  }

  TEST_CASE("§D3 a link or `..` cannot pass a gate that its real file does not") {
    const auto rules =
        rules_from("prefix_rule([\"tool\"])\nhost_executable(\"tool\", [\"/ws/opt18/tool\"])");
    const std::string word = "/ws/L/../opt18/tool"; // /ws/L leads to /ws/a/b
    CHECK(at_run_time(rules, {word},
                      one_fact(word, {"/ws/opt18/tool", "/ws/a/opt18/tool", false, false})) ==
          "none");
    CHECK(at_run_time(rules, {"opt18/tool"},
                      one_fact("opt18/tool",
                               {"/ws/opt18/tool", "/ws/evil/opt18/tool", false, false})) == "none");
    CHECK(at_run_time(rules, {"opt18/tool"},
                      one_fact("opt18/tool", {"/x", "/ws/opt18/tool", false, false})) == "allow");
  }

  TEST_CASE("§D3 one of many tools in a file is not covered by the name of the file") {
    const auto rules = rules_from("prefix_rule([\"busybox\", \"ls\"])\n"
                                  "prefix_rule([\"/bin/busybox\", \"ls\"])");
    const program_fact shell{"/bin/sh", "/bin/busybox", false, true};
    CHECK(at_run_time(rules, {"/bin/sh", "ls"}, one_fact("/bin/sh", shell)) == "none");
    CHECK(at_run_time(rules, {"sh", "ls"}, one_fact("sh", shell)) == "none");
  }

  TEST_CASE("§23 an allow on a path covers that file, by its own path or its real one") {
    const auto rules = rules_from("prefix_rule([\"/usr/bin/git\"])\nprefix_rule([\"./run\"])");
    CHECK(at_run_time(rules, {"/usr/bin/git"}, one_fact("/usr/bin/git", system_git)) == "allow");
    CHECK(at_run_time(rules, {"../bin/git"}, one_fact("../bin/git", system_git)) == "allow");
    CHECK(at_run_time(rules, {"git"}, one_fact("git", system_git)) == "none");
    CHECK(at_run_time(rules, {"./run"}, one_fact("./run", {"/ws/run", "/ws/run", false, false})) ==
          "none");
    const auto canonical = rules_from("prefix_rule([\"/opt/git\"], canonical_matching=True)");
    CHECK(at_run_time(canonical, {"/opt/GIT"},
                      one_fact("/opt/GIT", {"/opt/GIT", "/opt/GIT", false, true})) == "none");
  }

  TEST_CASE("§D18 gates of several layers hold together, and a later one replaces within a layer") {
    const std::string_view rule = "prefix_rule([\"git\"])\n";
    const program_fact opt{"/opt/git", "/opt/git", false, false};
    const auto facts = one_fact("/opt/git", opt);
    const std::string usr_gate = "host_executable(\"git\", [\"/usr/bin/git\"])\n";
    const std::string opt_gate = "host_executable(\"git\", [\"/opt/git\"])\n";
    CHECK(at_run_time(rules_from({{rule_layer::user, rule},
                                  {rule_layer::user, usr_gate},
                                  {rule_layer::user, opt_gate}}),
                      {"/opt/git"}, facts) == "allow");
    CHECK(at_run_time(rules_from({{rule_layer::user, std::string{rule} + usr_gate},
                                  {rule_layer::project, opt_gate}}),
                      {"/opt/git"}, facts) == "none");
    CHECK(at_run_time(rules_from({{rule_layer::user, rule}, {rule_layer::project, opt_gate}}),
                      {"/opt/git"}, facts) == "none");
  }

  TEST_CASE("§D7 the gate of a broken file replaces none of a sound one") {
    const auto rules =
        rules_from({{rule_layer::user, "prefix_rule([\"git\"])\n"
                                       "host_executable(\"git\", [\"/usr/bin/git\"])"},
                    {rule_layer::user, "host_executable(\"git\", [\"/opt/git\"])\nbad("}});
    CHECK(at_run_time(rules, {"/opt/git"},
                      one_fact("/opt/git", {"/opt/git", "/opt/git", false, false})) == "none");
  }

  TEST_CASE("§26 a restriction finds its program under every name") {
    const auto rules = rules_from("prefix_rule([\"git\", \"push\"], \"forbidden\")\n"
                                  "prefix_rule([\"/usr/bin/curl\"], \"prompt\")\n"
                                  "prefix_rule([\"/usr/bin/git\"])\n"
                                  "host_executable(\"git\", [])\n");
    CHECK(at_run_time(rules, {"git", "push"}, {}) == "forbidden");
    CHECK(at_run_time(rules, {"./git", "push"}, {}) == "forbidden");
    CHECK(at_run_time(rules, {"/usr/bin/../bin/git", "push"}, {}) == "forbidden");
    CHECK(at_run_time(rules, {"/usr/bin/git", "push"}, one_fact("/usr/bin/git", system_git)) ==
          "forbidden");
    CHECK(at_run_time(rules, {"g", "push"},
                      one_fact("g", {"/ws/g", "/usr/bin/git", false, false})) == "forbidden");
    CHECK(at_run_time(rules, {"curl", "x"},
                      one_fact("curl", {"/usr/bin/curl", "/usr/bin/curl", false, true})) ==
          "prompt");
    CHECK(at_run_time(rules, {"/usr/bin/./curl"}, {}) == "prompt");
  }

  TEST_CASE("§23 an exact rule on a path comes before the basename rules, for allows") {
    const auto rules = rules_from("prefix_rule([\"/usr/bin/git\", \"log\"], sandbox=\"keep\")\n"
                                  "prefix_rule([\"git\"])\n");
    const auto matches =
        rules.match_at_run_time(argv{"/usr/bin/git", "log"}, one_fact("/usr/bin/git", system_git));
    REQUIRE(matches.size() == 1);
    CHECK(matches[0].rule->sandbox == rule_sandbox::keep);
    CHECK(at_run_time(rules, {"/usr/bin/git", "status"}, one_fact("/usr/bin/git", system_git)) ==
          "allow");
  }

  TEST_CASE("§23 a basename match names the file it was found at") {
    const auto rules = rules_from("prefix_rule([\"git\", \"push\"], \"prompt\")");
    const auto matches = rules.match_at_run_time(argv{"/usr/bin/git", "push", "x"},
                                                 one_fact("/usr/bin/git", system_git));
    REQUIRE(matches.size() == 1);
    CHECK(matches[0].matched_prefix == argv{"git", "push"});
    CHECK(matches[0].resolved_program == "/usr/bin/git");
  }

  TEST_CASE("§43 an empty set, an empty command and moved sets are fine") {
    const rule_set nothing;
    CHECK(nothing.match(argv{"a"}, true, "/", "").empty());
    CHECK(nothing.match(argv{}, true, "/", "").empty());
    CHECK(nothing.match_at_run_time(argv{}, {}).empty());
    CHECK_FALSE(nothing.has_restrictive_rules());
    auto rules = rules_from("prefix_rule([\"a\"], \"prompt\")");
    CHECK(rules.has_restrictive_rules());
    const auto moved = std::move(rules);
    CHECK(verdict(moved.match(argv{"a"}, false, "/", "")) == "prompt");
    CHECK(moved.size() == 1);
  }

  TEST_CASE("§D3 canonical restrictions catch other spellings, allows not other files") {
    const auto rules = rules_from("prefix_rule([\"rm\"], \"forbidden\", canonical_matching=True)\n"
                                  "prefix_rule([\"git\"], canonical_matching=True)\n"
                                  "host_executable(\"GIT\", [])\n");
    CHECK(at_run_time(rules, {"/bin/RM", "x"}, {}) == "forbidden");
    CHECK(at_run_time(rules, {"Rm"}, {}) == "forbidden");
    CHECK(at_run_time(rules, {"GIT"}, one_fact("GIT", {"/bin/GIT", "/bin/GIT", false, true})) ==
          "allow");
    CHECK(at_run_time(rules, {"/bin/GIT"},
                      one_fact("/bin/GIT", {"/bin/GIT", "/bin/GIT", false, true})) == "none");
  }

  TEST_CASE("§21 a rule of very many words ended the program") {
    // No file may say it (most_pattern_words); the index does not rely on that.
    argv words(200'000, "a");
    prefix_rule rule;
    rule.pattern.assign(words.size(), {"a"});
    rule.decision = decision::forbidden;
    rule_file file;
    file.rules.push_back(std::move(rule));
    std::vector<rule_file> files;
    files.push_back(std::move(file));
    const rule_set rules{std::move(files)};
    CHECK(rules.match(words, false, "/", "/").size() == 1);
    words.pop_back();
    CHECK(rules.match(words, false, "/", "/").empty());
  }
}
