// Faults of other gates that were reported in public, through the real analysis and evaluation.
#include "policy/amendment.hpp"
#include "policy/canonical_command.hpp"
#include "policy/glob.hpp"
#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;
using scripts = std::vector<std::string>;

namespace {

constexpr auto skip = requirement_kind::skip;
constexpr auto asks = requirement_kind::needs_approval;
constexpr auto forbidden = requirement_kind::forbidden;

exec_requirement require(const std::string& script, const rule_set& rules = {},
                         approval_mode mode = approval_mode::on_request) {
  return judge(script_request(script, mode), rules).requirement;
}

/// Where nothing is trusted it is asked about; where the sandbox is trusted it stays inside.
void never_waved_through(const scripts& list, const rule_set& rules = {}) {
  for (const auto& script : list) {
    CAPTURE(script);
    CHECK(require(script, rules, approval_mode::untrusted).kind != skip);
    for (const auto mode : {approval_mode::on_request, approval_mode::never})
      CHECK_FALSE(require(script, rules, mode).bypass_sandbox);
  }
}

rule_set allowing(const std::vector<std::string>& prefix) {
  return make_rules({make_rule(prefix, decision::allow)});
}
rule_set forbidding(const std::vector<std::string>& prefix) {
  return make_rules({make_rule(prefix, decision::forbidden)});
}

} // namespace

TEST_CASE("BR-005 an allowed command word does not carry a redirection") {
  never_waved_through({"echo hi > notes/a.md", "echo hi >> a", "echo hi >| a", "echo hi &> a",
                       "echo hi 3<> a", "> a", "cat <<< hi > a"},
                      allowing({"echo"}));
  CHECK(require("echo hi", allowing({"echo"})).bypass_sandbox);
  for (const std::string script : {"echo hi > a", "> a"}) {
    const auto analysis = analyze_command(script_request(script).argv);
    const auto& direct = analysis.segments.front().write_targets;
    CHECK((analysis.loose_write_targets == scripts{"a"} || direct == scripts{"a"}));
  }
  CHECK(analyze_command(script_request("echo hi 2>&1").argv).segments[0].write_targets.empty());
}

TEST_CASE("BR-008 a safe command with a redirection is not safe") {
  never_waved_through({"ls -1 >> ~/.profile", "git status > .git/hooks/pre-commit", "printf x>a"});
}

TEST_CASE("BR-009 a safe command carries no destructive tail") {
  never_waved_through({"ls && rm -rf gh_d", "ls | xargs rm -f", "ls;unlink a", "ls $(rm a)"});
  CHECK(require("ls && rm -rf gh_d").kind == asks);
  CHECK(require("ls | xargs rm -f").kind == asks);
}

TEST_CASE("BR-011 a session's approval is of the command, not of the shell tool") {
  const auto key = [](const std::string& script) {
    return canonical_form(script_request(script).argv);
  };
  CHECK(key("touch s1") == key("touch  's1'"));
  for (const std::string other : {"rm s1", "touch /var/tmp/s2", "touch s1 s2", "touch s1 > a"})
    CHECK(key(other) != key("touch s1"));
}

TEST_CASE("BR-012 a lone dash or two empty no set of commands") {
  const auto rules = forbidding({"git", "push"});
  for (const std::string script :
       {"git push origin", "git push -- origin", "git push -", "env -- git push"}) {
    CAPTURE(script);
    CHECK(require(script, rules).kind == forbidden);
  }
  CHECK(require("rm -- a", rules, approval_mode::untrusted).kind == asks);
  CHECK(require("cat -", rules, approval_mode::untrusted).kind == skip);
  for (const std::string script : {"rm -- a", "cat -", "--", "-", " ", "#", ";"}) {
    CAPTURE(script);
    CHECK_FALSE(analyze_command(script_request(script).argv).segments.empty());
  }
  CHECK(require("--", rules, approval_mode::untrusted).kind == asks);
  CHECK(require(" ", rules, approval_mode::untrusted).kind == asks);
}

TEST_CASE("BR-015 an allow does not lift the sandbox where reading is denied") {
  auto request = script_request("ls ../..");
  CHECK(judge(request, allowing({"ls"})).requirement.bypass_sandbox);
  request.profile.file_system.entries.push_back(
      {literal_path{"/home/me/.ssh"}, access::deny, false});
  for (const std::string script : {"ls ~/.ssh", "ls ../..", "ls /proc/self/cwd/.."}) {
    request.argv.back() = script;
    CHECK_FALSE(judge(request, allowing({"ls"})).requirement.bypass_sandbox);
  }
}

TEST_CASE("BR-016 wrappers, local programs and inline code have no credit") {
  never_waved_through({"env git status", "./tool.sh", "python3 -c 'print(1)'", "node -e 1",
                       "cargo install x", "nice -n5 git status", "timeout 5 git status",
                       "command git status", "\\git status"});
}

TEST_CASE("BR-017 no rewriting of a command dodges its rule") {
  for (const std::string script :
       {"LC_ALL=C git commit -m x", "'git' commit -m x", "g\"\"it commit -m x",
        "sh -c 'git commit -m x'", "bash -lc \"git commit -m x\"",
        "for ((i=$(git commit -m x; echo 0); i<1; i++)); do :; done",
        "xargs -a /dev/null git commit", "find . -maxdepth 0 -exec git commit -m x \\;"}) {
    CAPTURE(script);
    CHECK(require(script, forbidding({"git", "commit"})).kind == forbidden);
  }
}

TEST_CASE("BR-020 what a builtin, alias or function changes ends the trust in what follows") {
  const auto rules = allowing({"git", "log"});
  never_waved_through({"export GIT_PAGER='touch gh_p; cat'; git log -1",
                       "declare -x PAGER=./x.sh\ngit log -1",
                       "typeset -x GIT_SSH_COMMAND=./x.sh; git log", "alias git=./x.sh; git log",
                       "hash -p ./x.sh git; git log", "git(){ ./x.sh; }; git log",
                       "enable -f ./x.so y; git log", "trap ./x.sh EXIT; git log"},
                      rules);
  CHECK(require("git log -1", rules).bypass_sandbox);
}

TEST_CASE("BR-022 what follows a semicolon is judged too, and a syntax error is no trust") {
  never_waved_through({"npm test; touch gh", "npm test;touch gh", "npm test ;; touch gh",
                       "npm test; # x\ntouch gh"},
                      allowing({"npm", "test"}));
}

TEST_CASE("BR-027 a remembered git command stays in the sandbox in every repository") {
  CHECK(keeps_sandbox(scripts{"git", "fetch", "origin"}));
  CHECK(keeps_sandbox(scripts{"/usr/bin/git", "commit"}));
  CHECK(keeps_sandbox(scripts{"cargo", "build"}));
  CHECK_FALSE(keeps_sandbox(scripts{"printf", "plain"}));
  for (const std::string script : {"env git status", "/usr/bin/env git status"}) {
    CHECK(require(script, {}, approval_mode::untrusted).proposed_amendment.empty());
    CHECK_FALSE(require(script, allowing({"git", "status"})).bypass_sandbox);
  }
  auto request = script_request("git fetch origin");
  CHECK_FALSE(judge(request, {}).requirement.proposed_amendment.empty());
  request.sandbox_permissions = sandbox_permissions::require_escalated;
  CHECK(judge(request, {}).requirement.proposed_amendment.empty());
}

TEST_CASE("BR-034 of sed only the printing of lines is known to be safe") {
  never_waved_through({"sed -n '1w gh_w' f", "sed '1e touch gh_e' f", "sed 's/a/touch gh_s/e' f",
                       "sed -i s/a/b/ f", "sed -n --in-place=.b p f", "sed -f prog f",
                       "sed -s -ni p f"});
  CHECK(require("sed -n '1,3p' f", {}, approval_mode::untrusted).kind == skip);
  for (const std::string script : {"sed '1e touch gh_e' f", "sed 's/a/touch gh_s/e' f"})
    CHECK(require(script, forbidding({"touch"})).kind == forbidden);
}

TEST_CASE("BR-036 a forced delete is asked about in every layout, with its reason") {
  for (const std::string script :
       {"rm -rf gh_d && ls | wc -l ; echo done", "rm -rf -- gh_d|cat;echo x", "rm -r -f gh_d",
        "rm --recursive --force gh_d", "command rm -fr gh_d"}) {
    CAPTURE(script);
    for (const auto mode : {approval_mode::untrusted, approval_mode::on_request}) {
      const auto got = require(script, {}, mode);
      CHECK(got.kind == asks);
      CHECK(got.reason.find("rm -f deletes without a question") != std::string::npos);
    }
    CHECK(require(script, {}, approval_mode::never).kind == forbidden);
  }
}

TEST_CASE("BR-037 another path to a program, a loader or a copy of it is the program") {
  for (const std::string script :
       {"/proc/self/root/usr/bin/curl x", "/proc/1/root/usr/bin/curl x", "/usr/bin/./curl x",
        "/lib64/ld-linux-x86-64.so.2 /usr/bin/curl x", "ln -s /usr/bin/curl c; ./c x",
        "cp /usr/bin/curl c; ./c x"}) {
    CAPTURE(script);
    CHECK(require(script, forbidding({"curl"})).kind == forbidden);
  }
  CHECK(require("cp /usr/bin/git g; ./g push", forbidding({"git", "push"})).kind == forbidden);
}

TEST_CASE("BR-038 variables that load code make any command one to ask about") {
  for (const std::string script :
       {"LD_PRELOAD=./x.so git --version", "LD_LIBRARY_PATH=. git --version",
        "LD_AUDIT=./x.so git --version", "NODE_OPTIONS=--require=./x.js node -v",
        "PYTHONPATH=. python3 -V", "env LD_PRELOAD=./x.so git --version",
        "export LD_PRELOAD=./x.so; git --version", "LD_PRELOAD=./x.so; git --version",
        "declare -x PERL5OPT=-Mx; perl -v"}) {
    CAPTURE(script);
    CHECK(require(script, allowing({"git"})).kind == asks);
    CHECK(require(script, allowing({"git"}), approval_mode::never).kind == forbidden);
  }
  CHECK(require("NODE_OPTIONS=--max-old-space-size=4096 node x.js").kind == skip);
}

TEST_CASE("BR-182 text that is only written, searched or committed is no command") {
  for (const std::string script :
       {"cat > n.md <<'E'\nthe old script called mkfs on the disk\nE",
        "git commit -m 'remove mkfs step'", "grep -rn \"mkfs.ext4 /dev\" docs"}) {
    CAPTURE(script);
    CHECK(require(script).kind == skip);
  }
  for (const std::string script :
       {"sh <<E\nrm -rf gh\nE", "bash <<< 'rm -rf gh'", "cat <<E\n$(rm -rf gh)\nE"}) {
    CAPTURE(script);
    CHECK(require(script).kind == asks);
  }
}
