#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;

namespace {

/// Greater is stricter.
int strictness(const exec_requirement& got) {
  switch (got.kind) {
  case requirement_kind::skip: return got.bypass_sandbox ? 0 : 1;
  case requirement_kind::needs_approval: return 2;
  case requirement_kind::forbidden: break;
  }
  return 3;
}

const std::string commands[] = {"ls",
                                "ls -la src",
                                "printf allow",
                                "printf ask x",
                                "printf no",
                                "foo bar",
                                "git status",
                                "git push",
                                "rm -f x",
                                "rm x",
                                "find . -delete",
                                "cd repo && rg TODO",
                                "printf allow && ls",
                                "printf allow; printf allow 2",
                                "foo | printf allow",
                                "python3 -c 1",
                                "cat x",
                                "kill -9 -1",
                                "curl u",
                                "sed -n 1p f"};

const std::string constructs[] = {"ls > out",    "echo $(pwd)",       "$X y",
                                  "echo $X",     "cat <<EOF\nx\nEOF", "if true; then foo; fi",
                                  "eval \"$X\"", "echo 'open",        "sh",
                                  "printf $X",   "A=1 printf allow",  "bash -c 'printf allow'"};

std::vector<approval_policy> policies() {
  std::vector<approval_policy> all{
      {approval_mode::untrusted, {}}, {approval_mode::on_request, {}}, {approval_mode::never, {}}};
  for (const bool sandbox : {false, true})
    for (const bool rules : {false, true})
      all.push_back({approval_mode::granular, {sandbox, rules, false, false, false}});
  return all;
}

std::vector<permission_profile> profiles() {
  auto external = read_only_profile();
  external.kind = profile_kind::external;
  auto denied = workspace_write_profile();
  denied.file_system.entries.push_back({literal_path{"/srv/secret"}, access::deny, false});
  return {read_only_profile(), workspace_write_profile(), danger_full_access_profile(), external,
          denied};
}

const std::vector<prefix_rule>& rule_pool() {
  static const std::vector<prefix_rule> pool{
      make_rule({"printf", "allow"}, decision::allow),
      make_rule({"printf", "ask"}, decision::prompt, "look"),
      make_rule({"printf", "no"}, decision::forbidden),
      make_rule({"foo"}, decision::allow),
      make_rule({"rm"}, decision::allow),
      make_rule({"git", "push"}, decision::prompt),
      make_rule({"ls"}, decision::forbidden),
  };
  return pool;
}

/// No rule, each rule of the pool alone, and all of them.
std::vector<std::vector<prefix_rule>> rule_lists() {
  std::vector<std::vector<prefix_rule>> lists{{}, rule_pool()};
  for (const auto& rule : rule_pool())
    lists.push_back({rule});
  return lists;
}

/// A script, read once, judged many times.
struct read_script {
  exec_request request;
  command_analysis analysis;
  program_facts facts;

  explicit read_script(const std::string& script) : request{script_request(script)} {
    analysis = analyze_command(request.argv);
    facts = ordinary_host(program_words(request.argv, analysis, {}));
  }

  exec_evaluation judge(const approval_policy& approval, const permission_profile& profile,
                        sandbox_permissions wanted, const rule_set& rules) {
    request.approval = approval;
    request.profile = profile;
    request.sandbox_permissions = wanted;
    return evaluate(request, analysis, rules, facts);
  }
};

std::vector<std::string> scripts() {
  std::vector<std::string> all{std::begin(commands), std::end(commands)};
  all.insert(all.end(), std::begin(constructs), std::end(constructs));
  return all;
}

constexpr sandbox_permissions all_wanted[] = {sandbox_permissions::use_default,
                                              sandbox_permissions::require_escalated,
                                              sandbox_permissions::with_additional_permissions};

void for_each_situation(const std::function<void(const approval_policy&, const permission_profile&,
                                                 sandbox_permissions)>& visit) {
  for (const auto& approval : policies())
    for (const auto& profile : profiles())
      for (auto wanted : all_wanted)
        visit(approval, profile, wanted);
}

} // namespace

TEST_CASE("§24 §43 a further forbidden rule never makes any outcome more permissive") {
  const auto further = make_rule({"printf"}, decision::forbidden);
  for (const auto& script : scripts()) {
    read_script read{script};
    CAPTURE(script);
    for (auto list : rule_lists()) {
      const auto before_rules = make_rules(list);
      list.insert(list.begin(), further);
      const auto after_rules = make_rules(list);
      bool held = true;
      for_each_situation([&](const auto& approval, const auto& profile, auto wanted) {
        const auto before = read.judge(approval, profile, wanted, before_rules).requirement;
        const auto after = read.judge(approval, profile, wanted, after_rules).requirement;
        held = held && strictness(after) >= strictness(before);
      });
      CHECK(held);
    }
  }
}

TEST_CASE("§24 the order of rules changes no outcome") {
  for (const auto& script : scripts()) {
    read_script read{script};
    CAPTURE(script);
    for (auto list : rule_lists()) {
      const auto forward = make_rules(list);
      const auto backward = make_rules({list.rbegin(), list.rend()});
      bool held = true;
      for_each_situation([&](const auto& approval, const auto& profile, auto wanted) {
        held = held && strictness(read.judge(approval, profile, wanted, forward).requirement) ==
                           strictness(read.judge(approval, profile, wanted, backward).requirement);
      });
      CHECK(held);
    }
  }
}

TEST_CASE("§18a no wrapping or construct makes a command more permissive") {
  const auto quoted = [](const std::string& script) {
    std::string text = "'";
    for (char c : script)
      text += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return text + "'";
  };
  const std::function<std::string(const std::string&)> wrappings[] = {
      [](const auto& s) { return "(" + s + ")"; },
      [](const auto& s) { return "{ " + s + "; }"; },
      [](const auto& s) { return "if true; then " + s + "; fi"; },
      [](const auto& s) { return "for i in a; do " + s + "; done"; },
      [](const auto& s) { return "echo $(" + s + ")"; },
      [](const auto& s) { return "f() { " + s + "; }; f"; },
      [](const auto& s) { return "true && { " + s + "; } > out"; },
      [](const auto& s) { return "! " + s; },
      [&](const auto& s) { return "bash -c " + quoted(s); },
      [&](const auto& s) { return "sh -c " + quoted("bash -lc " + quoted(s)); },
      [&](const auto& s) { return "env A=1 sh -c " + quoted(s); },
      [&](const auto& s) { return "timeout 5 bash -c " + quoted(s); },
      [&](const auto& s) { return "sudo -n sh -c " + quoted(s); },
      [&](const auto& s) { return "eval " + quoted(s); },
      [&](const auto& s) { return "trap " + quoted(s) + " EXIT"; },
      [](const auto& s) { return "env " + s; },
      [](const auto& s) { return "nice -n 5 " + s; },
      [](const auto& s) { return "time " + s; },
      [](const auto& s) { return "A=1 " + s; },
      [](const auto& s) { return s + " &"; },
      [](const auto& s) { return "sh <<'EOF'\n" + s + "\nEOF"; },
  };
  const auto strictnesses = [](read_script& read, const rule_set& rules) {
    std::vector<int> all;
    for (const auto& approval : policies())
      for (const auto& profile : {workspace_write_profile(), danger_full_access_profile()})
        for (auto wanted :
             {sandbox_permissions::use_default, sandbox_permissions::require_escalated})
          all.push_back(strictness(read.judge(approval, profile, wanted, rules).requirement));
    return all;
  };
  for (const auto& list : rule_lists()) {
    const auto rules = make_rules(list);
    for (const auto& script : commands) {
      read_script bare{script};
      const auto plain = strictnesses(bare, rules);
      for (const auto& wrap : wrappings) {
        const auto wrapped_script = wrap(script);
        read_script wrapped{wrapped_script};
        const auto hidden = strictnesses(wrapped, rules);
        CAPTURE(wrapped_script);
        CHECK(std::ranges::equal(hidden, plain, std::ranges::greater_equal{}));
      }
    }
  }
}

TEST_CASE("§36 §37 the sandbox is lifted only where every plain command has an allow rule") {
  for (const auto& script : scripts()) {
    read_script read{script};
    CAPTURE(script);
    for (const auto& list : rule_lists()) {
      const auto rules = make_rules(list);
      bool held = true;
      for_each_situation([&](const auto& approval, const auto& profile, auto wanted) {
        const auto got = read.judge(approval, profile, wanted, rules);
        if (!got.requirement.bypass_sandbox) return;
        held = held && got.requirement.kind == requirement_kind::skip && !got.complex &&
               !has_denied_reads(profile);
        for (const auto& segment : got.segments)
          if (segment.origin == segment_origin::plain)
            held =
                held && segment.judge == segment_judge::rule && segment.decision == decision::allow;
      });
      CHECK(held);
    }
  }
}

TEST_CASE("§30 never asks nobody, and every refusal and danger question says why") {
  for (const auto& script : scripts()) {
    read_script read{script};
    CAPTURE(script);
    for (const auto& list : rule_lists()) {
      const auto rules = make_rules(list);
      bool held = true;
      for_each_situation([&](const auto& approval, const auto& profile, auto wanted) {
        const auto got = read.judge(approval, profile, wanted, rules).requirement;
        if (approval.mode == approval_mode::never)
          held = held && got.kind != requirement_kind::needs_approval;
        if (got.kind == requirement_kind::forbidden)
          held = held && !got.reason.empty() && got.proposed_amendment.empty();
      });
      CHECK(held);
    }
  }
}

TEST_CASE("§40 a rule that was offered and added is what stops the question") {
  for (const auto& script : commands) {
    read_script read{script};
    CAPTURE(script);
    for_each_situation([&](const auto& approval, const auto& profile, auto wanted) {
      const auto first = read.judge(approval, profile, wanted, {}).requirement;
      if (first.proposed_amendment.empty()) return;
      const auto rules = make_rules({make_rule(first.proposed_amendment, decision::allow)});
      const auto second = read.judge(approval, profile, wanted, rules);
      CHECK(strictness(second.requirement) <= strictness(first));
      bool used = false;
      for (const auto& segment : second.segments)
        used = used || segment.judge == segment_judge::rule;
      CHECK(used);
    });
  }
}
