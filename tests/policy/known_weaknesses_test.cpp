// What a gate of this kind is known to get wrong, one case for each row of that list.
#include "policy/amendment.hpp"
#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;
using words_t = std::vector<std::string>;

namespace {

constexpr auto asks = requirement_kind::needs_approval;
constexpr auto forbidden = requirement_kind::forbidden;

exec_requirement require(const std::string& script, const rule_set& rules = {},
                         approval_mode mode = approval_mode::on_request) {
  return judge(script_request(script, mode), rules).requirement;
}

/// One sound or broken file of a layer.
rule_file file_of(std::string_view text, rule_layer layer = rule_layer::user) {
  rule_file_options how;
  how.layer = layer;
  return read_rule_file(text, "a.rules", how);
}

rule_set rules_of(std::vector<rule_file> files) {
  return rule_set{std::move(files)};
}

program_facts one_fact(const std::string& word, const std::string& absolute,
                       const std::string& real, bool writable = false) {
  return {{word, {absolute, real, writable, false}}};
}

bool allows(const rule_set& rules, const std::string& word, const program_facts& facts) {
  const words_t argv{word};
  return !rules.match_at_run_time(argv, facts).empty();
}

} // namespace

TEST_CASE("§D3 weakness 1: an allow on a bare name covers no program of the workspace") {
  const auto rules = make_rules({make_rule({"mytool"}, decision::allow)});
  CHECK(require("mytool", rules).bypass_sandbox);
  CHECK_FALSE(require("./mytool", rules).bypass_sandbox);
}

TEST_CASE("§D3 weakness 2 and 3: a gate compares the real file at the command's own folder") {
  const auto rules = rules_of({file_of("prefix_rule(['tool'])\n"
                                       "host_executable('tool', ['/ws/bin/tool'])\n")});
  CHECK(allows(rules, "bin/tool", one_fact("bin/tool", "/ws/bin/tool", "/ws/bin/tool")));
  CHECK_FALSE(
      allows(rules, "bin/tool", one_fact("bin/tool", "/ws/evil/bin/tool", "/ws/evil/bin/tool")));
  // /ws/L -> /ws/a/b, so that /ws/L/../bin/tool is really /ws/a/bin/tool.
  CHECK_FALSE(allows(rules, "/ws/L/../bin/tool",
                     one_fact("/ws/L/../bin/tool", "/ws/bin/tool", "/ws/a/bin/tool")));
}

TEST_CASE("§D2 weakness 4 and 5: restrictions hold in opaque scripts and behind wrappers") {
  const auto rules = make_rules(
      {make_rule({"mf"}, decision::forbidden), make_rule({"printf", "no"}, decision::forbidden)});
  for (const std::string script :
       {"mf > /dev/null", "X=1 mf", "(mf)", "mf &", "\"mf\"", "\\mf", "if true; then mf; fi",
        "echo $(mf)", "env printf no", "command printf no", "exec printf no", "time printf no",
        "bash -c 'printf no'", "sh -c 'printf no'", "sudo printf no"}) {
    CAPTURE(script);
    CHECK(require(script, rules).kind == forbidden);
  }
}

TEST_CASE("§D17 weakness 6: a backslash before a newline joins the word") {
  const auto rules = make_rules({make_rule({"printf", "push"}, decision::forbidden)});
  CHECK(require("printf pu\\\nsh", rules).kind == forbidden);
  CHECK(require("rm -r\\\nf x").kind == asks);
  CHECK(require("r\\\nm -f x").kind == asks);
}

TEST_CASE("§D17 weakness 7: a carriage return separates nothing") {
  CHECK_FALSE(analyze_command(script_request("a\r\nb").argv).plain);
  CHECK(require("ls\r\nls", {}, approval_mode::untrusted).kind == asks);
}

TEST_CASE("§D7 weakness 8: a broken file drops no other file's restriction") {
  const auto rules = rules_of({file_of("prefix_rule(['user'], 'forbidden')\n"),
                               file_of("prefix_rule(['x'])\nbad(", rule_layer::project)});
  CHECK(require("user", rules).kind == forbidden);
  CHECK_FALSE(require("x", rules).bypass_sandbox);
}

TEST_CASE("§D18 weakness 9: gates of two layers have to agree") {
  const auto rules =
      rules_of({file_of("prefix_rule(['git'])\nhost_executable('git', ['/usr/bin/git'])\n"),
                file_of("host_executable('git', ['/opt/git'])\n", rule_layer::project)});
  CHECK_FALSE(allows(rules, "/opt/git", one_fact("/opt/git", "/opt/git", "/opt/git")));
  CHECK_FALSE(
      allows(rules, "/usr/bin/git", one_fact("/usr/bin/git", "/usr/bin/git", "/usr/bin/git")));
}

TEST_CASE("§21 weakness 11: a rule file has a limit of steps and of memory") {
  CHECK_FALSE(file_of("for i in range(2000000000):\n pass\n").problems.empty());
  CHECK_FALSE(file_of("x = ['a'] * 100000000\n").problems.empty());
}

TEST_CASE("§41 weakness 12: what runs anything is never offered, suggested or derived") {
  for (const words_t& prefix : std::vector<words_t>{{"python3.11"},
                                                    {"/usr/bin/python3"},
                                                    {"python3", "-m"},
                                                    {"perl", "-E"},
                                                    {"node", "--eval"},
                                                    {"bash", "-l"},
                                                    {"env", "-i"},
                                                    {"npx"},
                                                    {"xargs"},
                                                    {"find"},
                                                    {"awk"},
                                                    {"make"},
                                                    {"uv", "run"},
                                                    {"docker", "run"},
                                                    {"ssh"},
                                                    {"rm", "-rf"},
                                                    {"sudo", "-n"},
                                                    {"curl"}}) {
    CAPTURE(prefix.front());
    CHECK(is_banned_prefix(prefix));
    auto request = script_request("some-tool x", approval_mode::untrusted);
    request.prefix_rule = prefix;
    CHECK(judge(request, {}).requirement.proposed_amendment != prefix);
  }
  for (const std::string script : {"python3", "bash", "sudo", "rm"})
    CHECK(require(script, {}, approval_mode::untrusted).proposed_amendment.empty());
}

TEST_CASE("§29 weakness 13: the danger of a delete does not depend on how it is spelled") {
  for (const std::string script :
       {"sudo -n rm -f x", "env -u A rm -f x", "command rm -f x", "xargs rm -f", "eval 'rm -f x'",
        "bash -ec 'rm -f x'", "dash -c 'rm -f x'", "rm -{r,f} x", "find . -delete",
        "git clean -fdx"}) {
    CAPTURE(script);
    CHECK(require(script).kind == asks);
    CHECK(require(script, {}, approval_mode::never).kind == forbidden);
  }
}

TEST_CASE("§D20 weakness 14: what is nested too deeply is said to be so") {
  std::string script = "ls";
  for (int i = 0; i < 9; ++i)
    script.insert(0, "sudo ");
  const auto got = require(script);
  CHECK(got.kind == asks);
  CHECK(got.reason.find("too deeply nested") != std::string::npos);
}

TEST_CASE("§40 weakness 15: an opaque script is never offered as a rule") {
  for (const std::string script : {"foo x > out", "foo x; bar &", "X=1 foo", "foo $x"})
    CHECK(require(script, {}, approval_mode::untrusted).proposed_amendment.empty());
}

TEST_CASE("§21 weakness 16: a failed example says where its rule stands") {
  const auto file = file_of("\n\nprefix_rule(pattern=['git'], match=['hg'])\n");
  REQUIRE(file.problems.size() == 1);
  CHECK(file.problems[0].where.line == 3);
  CHECK(file.problems[0].where.column > 0);
}

TEST_CASE("§D15 weakness 18: hosts of network rules are parsed strictly, protocol and port kept") {
  for (const std::string host : {":443", "a.com:", "a.com:abc", "a com", "*", ""}) {
    CAPTURE(host);
    CHECK_FALSE(file_of("network_rule('" + host + "', 'https', 'allow')\n").problems.empty());
  }
  const auto file = file_of("network_rule('a.com:8443', 'http', 'allow')\n");
  REQUIRE(file.network.size() == 1);
  CHECK(file.network[0].port == 8443);
  CHECK(file.network[0].protocol == network_protocol::http);
}

TEST_CASE("§D6 weakness 21: a switch that is off refuses the forced delete too") {
  auto request = script_request("rm -f x", approval_mode::granular);
  request.approval.granular.rules = true;
  request.approval.granular.sandbox_approval = false;
  CHECK(judge(request, {}).requirement.kind == forbidden);
}
