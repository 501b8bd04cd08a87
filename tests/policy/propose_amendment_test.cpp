#include "policy/requirement.hpp"

#include "tests/support/exec_policy_case.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;
using namespace gatehouse::tests;
using argv_t = std::vector<std::string>;

namespace {

argv_t offered(const std::string& script, argv_t suggestion = {}, const rule_set& rules = {}) {
  auto request = script_request(script, approval_mode::untrusted);
  request.prefix_rule = std::move(suggestion);
  return judge(request, rules).requirement.proposed_amendment;
}

rule_set printf_rules() {
  return make_rules({make_rule({"printf", "allow"}, decision::allow),
                     make_rule({"printf", "ask"}, decision::prompt)});
}

} // namespace

TEST_CASE("§40 a suggestion is offered when it is narrow and settles every command") {
  CHECK(offered("npm test", {"npm"}) == argv_t{"npm", "test"});
  CHECK(offered("cargo build -q", {"cargo", "build"}) == argv_t{"cargo", "build"});
  CHECK(offered("cargo build && ls", {"cargo", "build"}) == argv_t{"cargo", "build"});
  CHECK(offered("cargo build && foo", {"cargo", "build"}).empty());
  CHECK(offered("cargo build > out", {"cargo", "build"}).empty());
  CHECK(offered("python3 -c 1", {"python3"}).empty());
  CHECK(offered("printf x", {"cargo"}) == argv_t{"printf", "x"});
  CHECK(offered("printf x && printf allow", {"printf"}, printf_rules()) == argv_t{"printf", "x"});
  CHECK(offered("printf ask", {"printf"}, printf_rules()).empty());
}

TEST_CASE(
    "§40 §41 the derived rule is held to the same bans, and only offered where it would help") {
  CHECK(offered("printf a && ls") == argv_t{"printf", "a"});
  CHECK(offered("rm -f /nonexistent/x") == argv_t{"rm", "-f", "/nonexistent/x"});
  for (const std::string script :
       {"python3", "bash", "sudo ls", "rm -rf", "timeout 5 rm -rf x", "node -e 1", "foo > out",
        "foo $X", "git reset --hard", "rm -rf /", "./tool", "find . -delete"}) {
    CAPTURE(script);
    CHECK(offered(script).empty());
  }
}

TEST_CASE("§40 a rule that is offered covers the whole call, so that the same call asks no more") {
  for (const std::string script :
       {"printf a && printf b", "foo && cargo build", "cat a | sh", "touch a; mkdir b"}) {
    CAPTURE(script);
    CHECK(offered(script).empty());
    auto request = script_request(script, approval_mode::on_request);
    request.sandbox_permissions = sandbox_permissions::require_escalated;
    CHECK(judge(request, {}).requirement.proposed_amendment.empty());
  }
  CHECK(offered("printf a && printf a") == argv_t{"printf", "a"});
}
