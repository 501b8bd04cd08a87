#include "policy/amendment.hpp"
#include "policy/requirement.hpp"
#include "policy/shell_builtins.hpp"

#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

// How far an allow reaches: what runs outside the sandbox must be what the rule speaks of.

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;

namespace {

using argv_t = std::vector<std::string>;

rule_set allowing(const std::vector<argv_t>& prefixes) {
  std::vector<prefix_rule> rules;
  for (const auto& prefix : prefixes)
    rules.push_back(make_rule(prefix, decision::allow));
  return make_rules(std::move(rules));
}

exec_requirement require(const std::string& script, const rule_set& rules,
                         approval_mode mode = approval_mode::on_request) {
  return judge(script_request(script, mode), rules).requirement;
}

exec_requirement require_unsandboxed(const std::string& script) {
  auto request = script_request(script, approval_mode::untrusted);
  request.profile = built_in_profile("danger-full-access").value();
  return judge(request, {}).requirement;
}

} // namespace

TEST_CASE("§26 §37 an allow for a program lets no builtin of its name out of the sandbox") {
  const auto rules = allowing(
      {{"printf"}, {"test"}, {"test", "-f", "x"}, {"["}, {"openssl"}, {"read"}, {"git", "status"}});
  for (const std::string script :
       {"printf -v 'a[$(id)]' x", "printf -vPATH /ws", "test -v 'a[$(id)]'",
        "test -f x -o -v 'a[$(id)]'", "printf -v PATH /ws; openssl version",
        "printf 'xxxxx%n' PATH; openssl version", "printf '%5n' PATH", "printf '%d' 'a[$(id)]'",
        "printf %", "test 'a[$(id)]' -eq 1", "read x"}) {
    CAPTURE(script);
    CHECK_FALSE(require(script, rules).bypass_sandbox);
    CHECK(require(script, rules).kind == requirement_kind::skip);
    CHECK(require(script, rules, approval_mode::untrusted).kind ==
          requirement_kind::needs_approval);
  }
  for (const std::string script : {"printf plain", "printf '%s\\n' a b", "printf '%-5s 100%%' a",
                                   "test -f x", "openssl version"}) {
    CAPTURE(script);
    CHECK(require(script, rules).bypass_sandbox);
  }
}

TEST_CASE("§26 only a bare word that a shell reads is a builtin") {
  exec_request request = script_request("");
  request.argv = {"printf", "-v", "x"};
  CHECK(judge(request, allowing({{"printf"}})).requirement.bypass_sandbox);
  CHECK_FALSE(acts_inside_shell(argv_t{"/usr/bin/printf", "-v", "x", "y"}));
  CHECK_FALSE(acts_inside_shell(argv_t{}));
}

TEST_CASE("§37 a command inside another one leaves the sandbox only where a rule speaks of it") {
  CHECK_FALSE(require("find . -exec mytool {} +", allowing({{"find"}})).bypass_sandbox);
  CHECK_FALSE(require("env PATH=/ws git2 x", allowing({{"env"}, {"git2"}})).bypass_sandbox);
  CHECK_FALSE(require("xargs -a f mytool", allowing({{"xargs"}})).bypass_sandbox);
  CHECK(require("find . -exec mytool {} +", allowing({{"find"}}), approval_mode::untrusted).kind ==
        requirement_kind::needs_approval);
  CHECK(require("sudo systemctl restart x", allowing({{"sudo", "systemctl"}})).bypass_sandbox);
  CHECK(require("timeout 5 mytool x", allowing({{"timeout"}, {"mytool"}})).bypass_sandbox);
}

TEST_CASE("§28 §36 an allow for git does not run what an agent's repository configures outside") {
  const auto in_agents_repository = [](const std::string& script, const rule_set& rules) {
    const auto request = script_request(script);
    const auto analysis = analyze_command(request.argv);
    auto facts = ordinary_host(program_words(request.argv, analysis, rules));
    facts.at("git").in_writable_repository = true;
    return evaluate(request, analysis, rules, facts).requirement;
  };
  for (const std::string script : {"git status", "git diff"}) {
    CAPTURE(script);
    const auto got = in_agents_repository(script, allowing({{"git"}, {"cd"}}));
    CHECK(got.kind == requirement_kind::skip);
    CHECK_FALSE(got.bypass_sandbox);
    CHECK(require(script, allowing({{"git"}})).bypass_sandbox);
  }
  for (const std::string script :
       {"cd sub && git diff", "git commit -m x", "git fetch", "git -C sub diff"}) {
    CAPTURE(script);
    CHECK_FALSE(require(script, allowing({{"git"}, {"cd"}})).bypass_sandbox);
  }
  auto said = make_rule({"git", "commit"}, decision::allow);
  said.says_sandbox = true;
  CHECK(require("git commit", make_rules({said})).bypass_sandbox);
  CHECK(in_agents_repository("git commit", make_rules({said})).bypass_sandbox);
  const auto file = read_rule_file("prefix_rule([\"git\", \"log\"], sandbox=\"bypass\")", "x", {});
  CHECK(file.rules.at(0).says_sandbox);
}

TEST_CASE("§28 §31 no reading git goes unasked where no sandbox holds what the repository runs") {
  for (const std::string script : {"git status", "git diff", "cd sub && git diff"}) {
    CAPTURE(script);
    CHECK(require_unsandboxed(script).kind == requirement_kind::needs_approval);
    CHECK(require(script, {}, approval_mode::untrusted).kind == requirement_kind::skip);
  }
  CHECK(require_unsandboxed("ls").kind == requirement_kind::skip);
}

TEST_CASE("§41 §42 a saved rule for what runs other files or words keeps the sandbox") {
  for (const argv_t& prefix : std::vector<argv_t>{{"bash", "x.sh"},
                                                  {"python3", "x.py"},
                                                  {"node", "x.js"},
                                                  {"fish", "x"},
                                                  {"npm", "test"},
                                                  {"npm", "run", "build"},
                                                  {"cargo", "build"},
                                                  {"cargo", "run"},
                                                  {"gcc"},
                                                  {"gh", "pr", "view"},
                                                  {"git", "status"},
                                                  {"mytool"},
                                                  {"pytest"}}) {
    CAPTURE(prefix);
    CHECK((is_banned_prefix(prefix) || keeps_sandbox(prefix)));
  }
  for (const argv_t& prefix : std::vector<argv_t>{
           {"rm", "-f", "x"}, {"ls"}, {"printf", "plain"}, {"wc", "-l"}, {"docker", "ps"}}) {
    CAPTURE(prefix);
    CHECK_FALSE(is_banned_prefix(prefix));
    CHECK_FALSE(keeps_sandbox(prefix));
  }
}

TEST_CASE("§41 runners, shell builtins and writers of anything are banned as prefixes") {
  for (const argv_t& prefix : std::vector<argv_t>{{"ip"},
                                                  {"ip", "netns", "exec"},
                                                  {"uclampset"},
                                                  {"runcon"},
                                                  {"ccache"},
                                                  {"openssl"},
                                                  {"dd"},
                                                  {"mount"},
                                                  {"dpkg"},
                                                  {"rvim"},
                                                  {"printf"},
                                                  {"printf", "-v"},
                                                  {"test"},
                                                  {"test", "-f", "x"},
                                                  {"["},
                                                  {"read"},
                                                  {"prlimit"},
                                                  {"tsocks", "x"},
                                                  {"hash"}}) {
    CAPTURE(prefix);
    CHECK(is_banned_prefix(prefix));
  }
}

TEST_CASE("§26 an allow whose program is not there, or may be changed, was explained as no rule") {
  const auto rules = allowing({{"deploy"}});
  const auto judged = [&](const program_facts& facts) {
    const auto request = script_request("deploy now", approval_mode::untrusted);
    auto all = ordinary_host({"/bin/bash"});
    all.insert(facts.begin(), facts.end());
    return evaluate(request, analyze_command(request.argv), rules, all);
  };
  const auto why = [&](const program_facts& facts) {
    const auto got = judged(facts);
    CHECK(got.requirement.kind == requirement_kind::needs_approval);
    return got.segments.back().why;
  };
  CHECK(why({}).find("none is found") != std::string::npos);
  program_fact fact;
  fact.absolute = fact.real_path = "/ws/bin/deploy";
  fact.in_writable_root = true;
  CHECK(why({{"deploy", fact}}).find("lies where they may") != std::string::npos);
  fact.in_writable_root = false;
  CHECK(why({{"deploy", fact}}).find("does not cover") != std::string::npos);
  fact.on_trusted_path = true;
  CHECK(judged({{"deploy", fact}}).requirement.kind == requirement_kind::skip);
}
