#include "policy/environment_policy.hpp"

#include <doctest/doctest.h>

using namespace gatehouse::policy;

namespace {

const environment own = {{"HOME", "/root"},     {"PATH", "/bin"},           {"LANG", "C"},
                         {"GITHUB_TOKEN", "t"}, {"aws_secret_access", "s"}, {"API_KEY", "k"},
                         {"EDITOR", "vi"},      {"TMPDIR", "/tmp"}};

std::string names(const environment& variables) {
  std::string out;
  for (const auto& [name, value] : variables)
    out += name + " ";
  return out;
}

} // namespace

TEST_SUITE("policy.environment_policy") {
  TEST_CASE("§120 what is inherited, excluded, set and kept") {
    environment_policy rules;
    CHECK(names(select_environment(rules, own)) == "EDITOR HOME LANG PATH TMPDIR ");
    rules.ignore_default_excludes = true;
    CHECK(select_environment(rules, own).size() == own.size());
    rules = {};
    rules.inherit = inherit_environment::core;
    rules.exclude = {"pa*", "L?NG"};
    CHECK(names(select_environment(rules, own)) == "HOME TMPDIR ");
    rules.set = {{"SETV", "v"}, {"PATH", "/own"}};
    CHECK(names(select_environment(rules, own)) == "HOME PATH SETV TMPDIR ");
    rules.include_only = {"*T*"};
    CHECK(names(select_environment(rules, own)) == "PATH SETV TMPDIR ");
    rules = {};
    rules.inherit = inherit_environment::none;
    rules.set = {{"A_TOKEN", "given by name"}};
    CHECK(names(select_environment(rules, own)) == "A_TOKEN ");
    rules = {};
    rules.keep = {"API_KEY", "NOT_THERE"};
    rules.exclude = {"e*", "T*"};
    CHECK(names(select_environment(rules, own)) == "API_KEY HOME LANG PATH ");
  }

  TEST_CASE("BR-168 BR-135 nobody sits at a session: no pager, no colour, no question") {
    environment variables{
        {"PAGER", "less"}, {"TERM", "xterm-256color"}, {"SSH_ASKPASS", "/bin/ask"}};
    add_session_variables(variables);
    CHECK(variables["PAGER"] == "cat");
    CHECK(variables["GIT_PAGER"] == "cat");
    CHECK(variables["GIT_TERMINAL_PROMPT"] == "0");
    CHECK(variables["TERM"] == "dumb");
    CHECK(!variables.contains("SSH_ASKPASS"));
  }

  TEST_CASE("entries that are no assignments are dropped, others come back sorted") {
    CHECK(to_entries(read_environment({"B=2", "=x", "nothing", "A=1=1", "B=3"})) ==
          std::vector<std::string>{"A=1=1", "B=3"});
  }
}
