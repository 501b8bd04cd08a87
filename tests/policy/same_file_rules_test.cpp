// A prompt or forbidden rule holds for the file that it names, however a command spells it (§23,
// §26).
#include "policy/rules/many_tools.hpp"
#include "policy/rules/program_path.hpp"
#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;

namespace {

/// The ordinary host, with some links on it. The command runs in `/ws/w`.
program_facts linked_host(const std::vector<std::string>& words) {
  program_facts facts;
  for (const auto& word : words) {
    const bool bare = word.find('/') == std::string::npos;
    const auto path = bare ? "/usr/bin/" + word : lexically_absolute(word, "/ws/w", "/home/me");
    program_fact fact{path, path, path.starts_with("/ws"), path.starts_with("/usr/bin/")};
    const auto is_one_of = [&](std::initializer_list<std::string_view> paths) {
      return std::ranges::find(paths, path) != paths.end();
    };
    const auto same = [&](std::string_view real, std::vector<std::string> all) {
      fact.real_path = real;
      std::erase(all, path);
      std::erase(all, fact.real_path);
      fact.other_paths = std::move(all);
    };
    if (is_one_of({"/usr/bin/python3", "/usr/bin/python3.11", "/usr/bin/python"}))
      same("/usr/bin/python3.11", {"/usr/bin/python3", "/usr/bin/python", "/usr/bin/python3.11"});
    if (is_one_of({"/usr/bin/awk", "/usr/bin/mawk"}))
      same("/usr/bin/mawk", {"/usr/bin/awk", "/usr/bin/mawk"});
    if (is_one_of({"/usr/bin/reboot", "/usr/bin/systemctl"}))
      same("/usr/bin/systemctl", {"/usr/bin/reboot", "/usr/bin/systemctl"});
    if (path == "/bin/curl") fact.real_path = "/usr/bin/curl";
    facts[word] = std::move(fact);
  }
  return facts;
}

exec_evaluation evaluation_of(const std::string& script, const rule_set& rules) {
  const auto request = script_request(script);
  const auto analysis = analyze_command(request.argv);
  return evaluate(request, analysis, rules,
                  linked_host(program_words(request.argv, analysis, rules)));
}

rule_set rules_from(std::string_view text) {
  rule_file_options how;
  how.cwd = "/ws/w";
  std::vector<rule_file> files;
  files.push_back(read_rule_file(text, "user.rules", how));
  CHECK(files.front().problems.empty());
  return rule_set{std::move(files)};
}

requirement_kind kind_of(const std::string& script, std::string_view rules) {
  return evaluation_of(script, rules_from(rules)).requirement.kind;
}

} // namespace

TEST_CASE("§23 §26 a forbidden program runs under another name of its file") {
  for (const std::string script :
       {"python3.11 x", "/usr/bin/python3.11 x", "python x", "env python3.11 x", "cd a && python x",
        "echo $(python3.11 x)", "/usr/bin/../bin/python3.11 x"}) {
    CAPTURE(script);
    CHECK(kind_of(script, R"(prefix_rule(["python3"], "forbidden"))") ==
          requirement_kind::forbidden);
    CHECK(kind_of(script, R"(prefix_rule(["/usr/bin/python3"], "prompt"))") ==
          requirement_kind::needs_approval);
  }
  CHECK(kind_of("mawk 1", R"(prefix_rule(["awk"], "forbidden"))") == requirement_kind::forbidden);
  CHECK(kind_of("python3.11 -m http.server 80",
                R"(prefix_rule(["python3", "-m", "http.server"], "forbidden"))") ==
        requirement_kind::forbidden);
  CHECK(kind_of("python3.11 -m \"$x\"",
                R"(prefix_rule(["python3", "-m", "http.server"], "forbidden"))") ==
        requirement_kind::needs_approval);
  CHECK(
      kind_of("python3.11 -m venv", R"(prefix_rule(["python3", "-m", "http.server"], "prompt"))") ==
      requirement_kind::skip);
}

TEST_CASE("§23 §D3 an allow is widened by another name of its file") {
  for (const std::string script : {"python3.11 x", "/usr/bin/python3.11 x", "mawk 1"}) {
    CAPTURE(script);
    const auto found = evaluation_of(script, rules_from("prefix_rule([[\"python3\", \"awk\"]])\n"
                                                        "prefix_rule([\"zz\"], \"forbidden\")\n"
                                                        "prefix_rule([\"/ws/w/zz\"], \"prompt\")"));
    CHECK_FALSE(found.requirement.bypass_sandbox);
    CHECK(found.segments.front().judge != segment_judge::rule);
  }
}

TEST_CASE("§26 a rule on one tool of a file with many is taken for a rule on all of them") {
  CHECK(kind_of("systemctl status", R"(prefix_rule(["reboot"], "forbidden"))") ==
        requirement_kind::skip);
  CHECK(kind_of("systemctl status", R"(prefix_rule(["/usr/bin/reboot"], "forbidden"))") ==
        requirement_kind::skip);
  CHECK(kind_of("reboot", R"(prefix_rule(["reboot"], "forbidden"))") ==
        requirement_kind::forbidden);
  for (const std::string_view name :
       {"busybox", "systemctl", "kmod", "lld-14", "xtables-nft-multi"})
    CHECK(is_many_tools(name));
  for (const std::string_view name : {"python3.11", "mawk", "git-lfs", "dash", "perl5.36.0", ""})
    CHECK_FALSE(is_many_tools(name));
}

TEST_CASE("§23 §26 a forbidden path runs in another spelling") {
  for (const std::string script :
       {"cd /usr/bin; ./curl x", "cd /usr && cd bin && ./curl x", "cd /usr/lib; ../bin/curl x",
        "(cd /usr/bin && ./curl x)", "curl x", "/bin/curl x", "/usr/bin/./curl x",
        "env -C /usr/bin ./curl x", "pushd /usr/bin; ./curl x", "cd -- /usr/bin; ./curl x",
        "d=/usr/bin; cd $d; ./curl x", "bash -c 'cd /usr/bin; ./curl x'", "bash /usr/bin/curl",
        "cd ..; ../usr/bin/curl x"}) {
    CAPTURE(script);
    CHECK(kind_of(script, R"(prefix_rule(["/usr/bin/curl"], "forbidden"))") ==
          requirement_kind::forbidden);
  }
  for (const std::string script : {"./x.sh",
                                   "../w/x.sh",
                                   "/ws/w/x.sh",
                                   "bash ./x.sh",
                                   "bash x.sh",
                                   "sh -x x.sh a",
                                   ". ./x.sh",
                                   "source x.sh",
                                   "cd sub; ../x.sh",
                                   "cd sub; sh ../x.sh",
                                   "bash < x.sh",
                                   "sudo bash x.sh",
                                   "cd ..; w/x.sh",
                                   "cd ..; cd w; ./x.sh",
                                   "cd /ws; bash w/x.sh",
                                   "zsh x.sh",
                                   "ln x.sh y; ./y",
                                   "cp x.sh /tmp/y && /tmp/y",
                                   "cat x.sh > y; sh y",
                                   "mv x.sh y; bash y",
                                   "bash --rcfile x.sh"}) {
    CAPTURE(script);
    CHECK(kind_of(script, R"(prefix_rule(["./x.sh"], "forbidden"))") ==
          requirement_kind::forbidden);
    CHECK(kind_of(script, R"(prefix_rule(["/ws/w/x.sh"], "prompt"))") ==
          requirement_kind::needs_approval);
  }
  CHECK(kind_of("python3 tool.py go", R"(prefix_rule(["./tool.py", "go"], "prompt"))") ==
        requirement_kind::needs_approval);
  CHECK(kind_of("python3 tool.py \"$x\"", R"(prefix_rule(["./tool.py", "go"], "prompt"))") ==
        requirement_kind::needs_approval);
}

TEST_CASE("§26 a rule on a path speaks of other files of that name") {
  for (const std::string script :
       {"sub/x.sh", "bash sub/x.sh", "cd sub; ./y.sh", "cat x.sh", "cp x.sh y", "python3 main.py",
        "cd \"$d\"; ./y.sh", "./curl x", "cd /opt; ./curl x"}) {
    CAPTURE(script);
    CHECK(kind_of(script,
                  "prefix_rule([\"/ws/w/x.sh\"], \"prompt\")\n"
                  "prefix_rule([\"/usr/bin/curl\"], \"forbidden\")") == requirement_kind::skip);
  }
}

TEST_CASE("§18a §26 a program in a folder that nobody knows passes a rule on its path") {
  for (const std::string script : {"cd \"$d\"; ./x.sh", "CDPATH=/a; cd b; ./x.sh",
                                   "cd $(git rev-parse --show-toplevel) && sub/x.sh",
                                   ". \"$d/x.sh\"", "for i in $l; do cd $i; bash x.sh; done"}) {
    CAPTURE(script);
    CHECK(kind_of(script, R"(prefix_rule(["/opt/x.sh"], "forbidden"))") ==
          requirement_kind::needs_approval);
  }
}
