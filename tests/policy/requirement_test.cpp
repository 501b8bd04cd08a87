#include "policy/requirement.hpp"

#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;
using argv_t = std::vector<std::string>;

namespace {

exec_requirement require(const exec_request& request, const rule_set& rules = {}) {
  return judge(request, rules).requirement;
}

exec_requirement require(const std::string& script, const rule_set& rules = {},
                         approval_mode mode = approval_mode::on_request) {
  return require(script_request(script, mode), rules);
}

rule_set printf_rules() {
  return make_rules({make_rule({"printf", "allow"}, decision::allow),
                     make_rule({"printf", "ask"}, decision::prompt, "please look"),
                     make_rule({"printf", "no"}, decision::forbidden),
                     make_rule({"printf", "noj"}, decision::forbidden, "never do this")});
}

} // namespace

TEST_CASE("§35 §36 §144 a heuristic allow skips without lifting the sandbox") {
  for (const std::string script : {"ls", "git status", "cargo check", "ls > out"}) {
    CAPTURE(script);
    const auto got = require(script);
    CHECK(got.kind == requirement_kind::skip);
    CHECK_FALSE(got.bypass_sandbox);
  }
}

TEST_CASE("§36 §144 an explicit allow skips and lifts the sandbox, in every approval policy") {
  for (auto mode : {approval_mode::untrusted, approval_mode::on_request, approval_mode::granular,
                    approval_mode::never}) {
    const auto got = require("printf allow", printf_rules(), mode);
    CHECK(got.kind == requirement_kind::skip);
    CHECK(got.bypass_sandbox);
  }
}

TEST_CASE("§37 one command without an explicit allow keeps the sandbox for all") {
  CHECK(require("printf allow && printf allow x", printf_rules()).bypass_sandbox);
  for (const std::string script :
       {"printf allow && ls", "ls; printf allow", "printf allow > out", "X=1 printf allow",
        "(printf allow)", "printf allow &", "printf allow $X", "timeout 5 printf allow",
        "sh -c 'printf allow'"}) {
    CAPTURE(script);
    const auto got = require(script, printf_rules());
    CHECK(got.kind == requirement_kind::skip);
    CHECK_FALSE(got.bypass_sandbox);
  }
}

TEST_CASE("§D4 an allow that keeps the sandbox asks nothing and lifts nothing") {
  auto keep = make_rule({"printf"}, decision::allow);
  keep.sandbox = rule_sandbox::keep;
  const auto rules = make_rules({keep, make_rule({"printf", "x"}, decision::allow)});
  const auto got = require("printf x", rules, approval_mode::untrusted);
  CHECK(got.kind == requirement_kind::skip);
  CHECK_FALSE(got.bypass_sandbox);
}

TEST_CASE("§58 §145 nothing lifts the sandbox of a profile with denied reads") {
  auto request = script_request("printf allow");
  request.profile.file_system.entries.push_back({literal_path{"/srv/secret"}, access::deny, false});
  const auto got = require(request, printf_rules());
  CHECK(got.kind == requirement_kind::skip);
  CHECK_FALSE(got.bypass_sandbox);
}

TEST_CASE("§24 §25 the strictest rule over all commands wins, whatever the order") {
  CHECK(require("printf allow && printf ask", printf_rules()).kind ==
        requirement_kind::needs_approval);
  for (const std::string script :
       {"printf no && printf allow", "printf ask; printf no", "ls | printf no"}) {
    CAPTURE(script);
    CHECK(require(script, printf_rules()).kind == requirement_kind::forbidden);
  }
}

TEST_CASE("§18a a restrictive rule fires wherever the command hides") {
  for (const std::string script : {"printf no > out",
                                   "X=1 printf no",
                                   "(printf no)",
                                   "printf no &",
                                   "\"printf\" no",
                                   "\\printf no",
                                   "if true; then printf no; fi",
                                   "echo $(printf no)",
                                   "env printf no",
                                   "command printf no",
                                   "sudo -n printf no",
                                   "bash -c 'printf no'",
                                   "timeout 5 printf no",
                                   "xargs printf no < f",
                                   "find . -exec printf no \\;",
                                   "for i in a; do printf no; done",
                                   "sh <<< 'printf no'",
                                   "eval 'printf no'",
                                   "f() { printf no; }; f",
                                   "trap 'printf no' EXIT",
                                   "/usr/bin/printf no"}) {
    CAPTURE(script);
    CHECK(require(script, printf_rules(), approval_mode::on_request).kind ==
          requirement_kind::forbidden);
  }
}

TEST_CASE("§18a what cannot be read asks where a restrictive rule exists, saying why") {
  for (const std::string script :
       {"$X no", "eval \"$X\"", "curl u | sh", "printf $X", "pri*f no"}) {
    CAPTURE(script);
    const auto got = require(script, printf_rules());
    CHECK(got.kind == requirement_kind::needs_approval);
    CHECK(got.reason.find("requires approval: ") != std::string::npos);
    CHECK(require(script, printf_rules(), approval_mode::never).kind ==
          requirement_kind::forbidden);
  }
  CHECK(require("printf x $X", printf_rules()).kind == requirement_kind::skip);
  CHECK(require("$X no").kind == requirement_kind::skip);
}

TEST_CASE("§18a global options of git do not hide a subcommand from a restrictive rule") {
  const auto rules = make_rules({make_rule({"git", "push"}, decision::forbidden)});
  for (const std::string script :
       {"git push", "git -C x push", "git --no-pager push", "git -c a=b push"})
    CHECK(require(script, rules).kind == requirement_kind::forbidden);
  CHECK(require("git -C push status", rules).kind == requirement_kind::skip);
  const auto allows = make_rules({make_rule({"git", "push"}, decision::allow)});
  CHECK_FALSE(require("git -C x push", allows).bypass_sandbox);
}

TEST_CASE(
    "§18a a rule about the shell itself fires where the script is no list of plain commands") {
  const auto rules = make_rules({make_rule({"/bin/bash", "-lc"}, decision::forbidden)});
  CHECK(require("ls > out", rules).kind == requirement_kind::forbidden);
  CHECK(require("ls", rules).kind == requirement_kind::skip);
}

TEST_CASE("§26 an explicit match switches the heuristics off for that command only") {
  const auto rules = make_rules({make_rule({"rm", "-rf", "build"}, decision::allow)});
  CHECK(require("rm -rf build", rules).bypass_sandbox);
  CHECK(require("rm -rf other", rules).kind == requirement_kind::needs_approval);
  CHECK(require("rm -rf build && rm -rf other", rules).kind == requirement_kind::needs_approval);
  CHECK(require("(rm -rf build)", rules).kind == requirement_kind::needs_approval);
  CHECK(require("timeout 5 rm -rf build", rules).kind == requirement_kind::needs_approval);
}

TEST_CASE("§38 a question cites the most specific prompt rule; heuristics name the danger only") {
  const auto rules = make_rules({make_rule({"deploy", "prod"}, decision::prompt, "two persons"),
                                 make_rule({"deploy"}, decision::prompt, "anyone")});
  CHECK(require("deploy prod", rules).reason ==
        "`/bin/bash -lc 'deploy prod'` requires approval: two persons");
  CHECK(require("deploy x", rules).reason ==
        "`/bin/bash -lc 'deploy x'` requires approval: anyone");
  const auto silent = make_rules({make_rule({"deploy"}, decision::prompt)});
  CHECK(require("deploy x", silent).reason ==
        "`/bin/bash -lc 'deploy x'` requires approval by policy");
  CHECK(require("foo", {}, approval_mode::untrusted).reason.empty());
  CHECK(require("rm -f x").reason ==
        "`/bin/bash -lc 'rm -f x'` requires approval: rm -f deletes without a question");
}

TEST_CASE("§39 a rejection cites the most specific forbidden rule and its advice") {
  CHECK(require("printf noj", printf_rules()).reason ==
        "`/bin/bash -lc 'printf noj'` rejected: never do this");
  CHECK(require("printf no", printf_rules()).reason ==
        "`/bin/bash -lc 'printf no'` rejected: policy forbids commands starting with `printf no`");
  const auto got = require("rm -f x", {}, approval_mode::never);
  CHECK(got.refused_by == refused_by::policy);
  CHECK(got.reason.find("rm -f deletes without a question") != std::string::npos);
}

TEST_CASE("§33 §34 a question that may not be asked is a refusal that names the switch") {
  auto request = script_request("printf ask", approval_mode::granular);
  request.approval.granular = {true, false, true, true, true};
  CHECK(require(request, printf_rules()).reason.find("`rules`") != std::string::npos);
  request = script_request("rm -f x", approval_mode::granular);
  request.approval.granular = {false, true, true, true, true};
  CHECK(require(request).reason.find("`sandbox_approval`") != std::string::npos);
  CHECK(require("printf ask", printf_rules(), approval_mode::never).reason.find("`never`") !=
        std::string::npos);
}

TEST_CASE("§34 a rule's question and a danger in one command need both switches") {
  auto request = script_request("printf ask; rm -f x", approval_mode::granular);
  for (const bool rules : {false, true})
    for (const bool sandbox : {false, true}) {
      request.approval.granular.rules = rules;
      request.approval.granular.sandbox_approval = sandbox;
      CHECK((require(request, printf_rules()).kind == requirement_kind::needs_approval) ==
            (rules && sandbox));
    }
}

TEST_CASE(
    "§D19 the handler refuses before any rule is asked, and segments are judged all the same") {
  for (auto mode : {approval_mode::untrusted, approval_mode::granular, approval_mode::never})
    for (const std::string script : {"printf allow", "printf no", "printf ask", "ls", "rm -f x"}) {
      auto request = script_request(script, mode);
      request.approval.granular = {true, true, true, true, true};
      request.sandbox_permissions = sandbox_permissions::require_escalated;
      for (const auto& profile : {read_only_profile(), danger_full_access_profile()}) {
        request.profile = profile;
        const auto got = judge(request, printf_rules());
        CHECK(got.requirement.kind == requirement_kind::forbidden);
        CHECK(got.requirement.refused_by == refused_by::handler);
        CHECK(got.requirement.reason.find("escalation disabled by policy") != std::string::npos);
        CHECK(got.segments.size() == 1);
      }
    }
}

TEST_CASE("§D19 where an escalation request passes, a matching rule settles it") {
  auto request = script_request("printf allow");
  request.sandbox_permissions = sandbox_permissions::require_escalated;
  CHECK(require(request, printf_rules()).bypass_sandbox);
  request.argv[2] = "printf ask";
  CHECK(require(request, printf_rules()).kind == requirement_kind::needs_approval);
  request.argv[2] = "printf no";
  CHECK(require(request, printf_rules()).kind == requirement_kind::forbidden);
  for (const std::string script : {"printf x", "ls", "ls > out", "printf allow; ls"}) {
    request.argv[2] = script;
    CAPTURE(script);
    CHECK(require(request, printf_rules()).kind == requirement_kind::needs_approval);
  }
}

TEST_CASE("§14 §15 §16 an overlay asks, unless it lies inside a grant; escalation never does") {
  for (auto mode : {approval_mode::untrusted, approval_mode::on_request, approval_mode::granular,
                    approval_mode::never}) {
    auto request = script_request("printf x", mode);
    request.sandbox_permissions = sandbox_permissions::with_additional_permissions;
    const auto asked = require(request);
    if (mode == approval_mode::on_request) {
      CHECK(asked.kind == requirement_kind::needs_approval);
      CHECK(asked.proposed_amendment.empty());
    } else {
      CHECK(asked.refused_by == refused_by::handler);
    }
    request.permissions_preapproved = true;
    auto plain = request;
    plain.sandbox_permissions = sandbox_permissions::use_default;
    CHECK(require(request) == require(plain));
    request.sandbox_permissions = sandbox_permissions::require_escalated;
    CHECK(require(request).kind != requirement_kind::skip);
  }
}

TEST_CASE("§D21 where we do not enforce there is nothing to escalate") {
  auto request = script_request("printf x");
  for (auto kind : {profile_kind::disabled, profile_kind::external})
    for (auto wanted : {sandbox_permissions::require_escalated,
                        sandbox_permissions::with_additional_permissions}) {
      request.profile.kind = kind;
      request.sandbox_permissions = wanted;
      CHECK(require(request).kind == requirement_kind::skip);
    }
}

TEST_CASE("§33 danger under never is forbidden where we enforce, trusted elsewhere where not") {
  auto request = script_request("rm -f x", approval_mode::never);
  CHECK(require(request).kind == requirement_kind::forbidden);
  request.profile = danger_full_access_profile();
  CHECK(require(request).kind == requirement_kind::skip);
  CHECK_FALSE(require(request).bypass_sandbox);
}

TEST_CASE("§D7 a rule file that could not be read makes commands ask unless a rule speaks") {
  rule_file broken;
  broken.unreadable = true;
  rule_file sound;
  sound.rules = {make_rule({"printf", "allow"}, decision::allow)};
  std::vector<rule_file> files{broken, sound};
  const rule_set rules{std::move(files)};
  for (const std::string script : {"ls", "printf x", "ls > out", "timeout 5 x"}) {
    CAPTURE(script);
    CHECK(require(script, rules).kind == requirement_kind::needs_approval);
    CHECK(require(script, rules, approval_mode::never).kind == requirement_kind::forbidden);
  }
  CHECK(require("printf allow", rules).kind == requirement_kind::skip);
}

TEST_CASE("§D20 too deep a nesting asks, and is forbidden under never") {
  std::string script;
  for (int i = 0; i < 9; ++i)
    script += "env ";
  const auto got = require(script + "ls");
  CHECK(got.kind == requirement_kind::needs_approval);
  CHECK(got.reason.find("too deeply nested") != std::string::npos);
  CHECK(require(script + "ls", {}, approval_mode::never).kind == requirement_kind::forbidden);
}

TEST_CASE("§31 untrusted runs only plain, known-safe commands unasked") {
  const auto kind = [](const std::string& script) {
    return require(script, {}, approval_mode::untrusted).kind;
  };
  for (const std::string script :
       {"ls", "cd repo && rg TODO | head -20", "bash -lc 'ls && pwd'", "zsh -c ls", "/bin/ls"}) {
    CAPTURE(script);
    CHECK(kind(script) == requirement_kind::skip);
  }
  for (const std::string script :
       {"ls > out", "ls &", "echo $(pwd)", "echo \"$HOME\"", "cat <<EOF\nhi\nEOF", "A=1 ls",
        "env ls", "timeout 5 ls", "bash -c 'ls > x'", "bash -c \"bash -c 'bash -c ls'\"", "./ls",
        "printf x", "ls; printf x", "alias ls=x; ls"}) {
    CAPTURE(script);
    CHECK(kind(script) == requirement_kind::needs_approval);
  }
}

TEST_CASE("§D22 a safe name that leads into a writable root is not safe") {
  const auto request = script_request("ls", approval_mode::untrusted);
  const auto analysis = analyze_command(request.argv);
  auto facts = ordinary_host(program_words(request.argv, analysis, {}));
  const auto kind = [&] { return evaluate(request, analysis, {}, facts).requirement.kind; };
  CHECK(kind() == requirement_kind::skip);
  facts["ls"].on_trusted_path = false;
  CHECK(kind() == requirement_kind::skip);
  facts["ls"].in_writable_root = true;
  CHECK(kind() == requirement_kind::needs_approval);
}

TEST_CASE("§D3 §D22 a shell out of a writable root makes nothing it reads trusted") {
  auto request = script_request("printf allow");
  request.argv[0] = "bash";
  const auto analysis = analyze_command(request.argv);
  auto facts = ordinary_host(program_words(request.argv, analysis, {}));
  const auto rules = printf_rules();
  CHECK(evaluate(request, analysis, rules, facts).requirement.bypass_sandbox);
  facts["bash"].in_writable_root = true;
  CHECK_FALSE(evaluate(request, analysis, rules, facts).requirement.bypass_sandbox);
  request.approval.mode = approval_mode::untrusted;
  request.argv[2] = "ls";
  const auto safe = analyze_command(request.argv);
  facts["ls"] = {"/usr/bin/ls", "/usr/bin/ls", false, true};
  CHECK(evaluate(request, safe, rules, facts).requirement.kind == requirement_kind::needs_approval);
}

TEST_CASE(
    "§20 PowerShell commands are settled by their own lists, if the shell itself is trusted") {
  exec_request request;
  request.profile = workspace_write_profile();
  request.approval.mode = approval_mode::untrusted;
  const auto kind = [&](const std::string& script) {
    request.argv = {"pwsh", "-NoProfile", "-Command", script};
    return require(request).kind;
  };
  CHECK(kind("Get-ChildItem src") == requirement_kind::skip);
  CHECK(kind("Get-ChildItem src; foo") == requirement_kind::needs_approval);
  request.approval.mode = approval_mode::never;
  CHECK(kind("Remove-Item x -Recurse -Force") == requirement_kind::forbidden);
  CHECK(kind("foo") == requirement_kind::skip);
  request.approval.mode = approval_mode::untrusted;
  request.argv = {"pwsh", "-Command", "Get-ChildItem"};
  const auto analysis = analyze_command(request.argv);
  auto facts = ordinary_host(program_words(request.argv, analysis, {}));
  facts["pwsh"].in_writable_root = true;
  CHECK(evaluate(request, analysis, {}, facts).requirement.kind ==
        requirement_kind::needs_approval);
}

TEST_CASE("§133a every segment is listed in order, duplicates too, with who judged it") {
  const auto got =
      judge(script_request("ls && printf allow && ls && rm -f x && foo"), printf_rules());
  REQUIRE(got.segments.size() == 5);
  CHECK(got.segments[0].judge == segment_judge::safe);
  CHECK(got.segments[1].judge == segment_judge::rule);
  CHECK(got.segments[1].rule->pattern == std::vector<argv_t>{{"printf"}, {"allow"}});
  CHECK(got.segments[2].argv == argv_t{"ls"});
  CHECK(got.segments[3].judge == segment_judge::danger);
  CHECK(got.segments[3].decision == decision::prompt);
  CHECK(got.segments[4].judge == segment_judge::unmatched);
  CHECK_FALSE(got.complex);
  CHECK(judge(script_request("ls > out"), {}).complex);
}

TEST_CASE("§17 program words name the shell and every program once") {
  const argv_t argv{"/bin/bash", "-lc", "ls && timeout 5 ls && cat x"};
  CHECK(program_words(argv, analyze_command(argv), {}) ==
        argv_t{"/bin/bash", "ls", "timeout", "cat"});
}
