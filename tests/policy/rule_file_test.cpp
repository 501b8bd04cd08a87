#include "policy/rules/network_host.hpp"
#include "policy/rules/rule_set.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

rule_file read(std::string_view text, const rule_file_options& how = {}) {
  return read_rule_file(text, "a.rules", how);
}

} // namespace

TEST_SUITE("policy.rule_file") {
  TEST_CASE("§21 §22 a rule keeps what its call says, and where it stands") {
    const auto file = read("\nprefix_rule(pattern=[[\"npm\", \"yarn\"], [\"i\", \"add\"]], "
                           "decision=\"prompt\", justification=\" why \")\n");
    REQUIRE(file.problems.empty());
    REQUIRE(file.rules.size() == 2);
    CHECK(file.rules[0].pattern == std::vector<std::vector<std::string>>{{"npm"}, {"i", "add"}});
    CHECK(file.rules[1].pattern == std::vector<std::vector<std::string>>{{"yarn"}, {"i", "add"}});
    CHECK(file.rules[1].decision == decision::prompt);
    CHECK(file.rules[1].justification == " why ");
    CHECK(file.rules[1].where == source_position{"a.rules", 2, 1});
    CHECK_FALSE(file.unreadable);
  }

  TEST_CASE("§21 a rule stands where its call stands, also inside a helper function") {
    const auto file = read("def r(p):\n    prefix_rule(pattern=[p])\nr(\"a\")\n");
    REQUIRE(file.rules.size() == 1);
    CHECK(file.rules[0].where == source_position{"a.rules", 2, 5});
  }

  TEST_CASE("§D4 exact and sandbox are keywords with few values") {
    const auto file = read("prefix_rule(pattern=[\"a\"], exact=True, sandbox=\"keep\")\n"
                           "prefix_rule(pattern=[\"b\"], sandbox=\"bypass\")\n"
                           "prefix_rule(pattern=[\"c\"])\n"
                           "prefix_rule(pattern=[\"d\"], decision=\"prompt\", sandbox=\"keep\")\n");
    REQUIRE(file.problems.empty());
    CHECK(file.rules[0].exact);
    CHECK(file.rules[0].sandbox == rule_sandbox::keep);
    CHECK(file.rules[1].sandbox == rule_sandbox::bypass);
    CHECK_FALSE(file.rules[2].exact);
    for (const auto* wrong : {"prefix_rule([\"a\"], sandbox=\"none\")",
                              "prefix_rule([\"a\"], exact=1)", "prefix_rule([\"a\"], sandbox=True)",
                              "prefix_rule([\"a\"], \"prompt\", sandbox=\"bypass\")",
                              "prefix_rule([\"a\"], \"prompt\", [], [], \"j\", True, True)"})
      CHECK_FALSE(read(wrong).problems.empty());
    rule_file_options keep;
    keep.default_sandbox = rule_sandbox::keep;
    CHECK(read("prefix_rule([\"a\"])", keep).rules[0].sandbox == rule_sandbox::keep);
    CHECK(read("prefix_rule([\"a\"], sandbox=\"bypass\")", keep).rules[0].sandbox ==
          rule_sandbox::bypass);
  }

  TEST_CASE("§21 a rule with a very long pattern is refused where it stands and ends no program") {
    const auto longest = read("prefix_rule(['a'] * 1000, 'forbidden')");
    REQUIRE(longest.problems.empty());
    std::vector<rule_file> files;
    files.push_back(longest);
    const std::vector<std::string> command(1000, "a");
    CHECK(rule_set{std::move(files)}.match(command, false, "/", "/root").size() == 1);

    const auto file = read("\nprefix_rule(['a'] * 100000, 'forbidden')");
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].where == source_position{"a.rules", 2, 1});
    CHECK(file.problems[0].message.find("100000 words, more than 1000") != std::string::npos);
    CHECK(file.unreadable);
    CHECK(file.rules.empty());
    CHECK(read("host_executable('a', ['/%s/a' % i for i in range(100000)])").problems.size() == 1);
  }

  TEST_CASE("§21 a wrong call says what is wrong, in the order of the checks") {
    constexpr std::array<std::array<std::string_view, 2>, 14> calls{{
        {R"(prefix_rule([], "x", justification=""))", "the decision \"x\""},
        {R"(prefix_rule([], justification=""))", "`justification` must not be blank"},
        {"prefix_rule([\"a\"], justification=\"\\u00a0\\u3000\")", "must not be blank"},
        {R"(prefix_rule([], match=[1]))", "`pattern` is empty"},
        {R"(prefix_rule(("a",)))", "`pattern` must be a list, not a value of type tuple"},
        {R"(prefix_rule(["a", ("b",)]))", "an element of `pattern`"},
        {R"(prefix_rule(["a", [["b"]]]))", "an alternative in `pattern`"},
        {R"(prefix_rule(["a"], None))", "`decision` of `prefix_rule` must be a string"},
        {R"(prefix_rule(["a"], match=("a",)))", "`match` must be a list"},
        {R"(prefix_rule(["a"], match=["a 'b"]))", "open quote"},
        {R"(prefix_rule(["a"], reviewer="user"))", "no parameter `reviewer`"},
        {R"(prefix_rule(decision="allow"))", "needs the argument `pattern`"},
        {R"(host_executable("git", ["/usr/bin/../git/rg"]))", "does not end in the name"},
        {R"(network_rule("a.com", "ftp", "ask", "", ))", "the protocol \"ftp\""},
    }};
    for (const auto& row : calls) {
      const std::string call{row[0]};
      CAPTURE(call);
      const auto file = read(call);
      REQUIRE(file.problems.size() == 1);
      CAPTURE(file.problems[0].message);
      CHECK(file.problems[0].message.find(row[1]) != std::string::npos);
      CHECK(file.problems[0].where.line == 1);
    }
  }

  TEST_CASE("§21 examples are split like plain shell text") {
    constexpr std::array good{
        R"(prefix_rule(["echo", "a b"], match=["echo 'a 'b", 'echo "a b"', "echo a\\ b"]))",
        R"(prefix_rule(["echo", ""], match=["echo ''", 'echo ""', ["echo", ""]]))",
        R"(prefix_rule(["echo", "a\\nb"], match=['echo "a\\nb"']))",
        R"(prefix_rule(["a", "&&", "$X"], match=["a && $X"]))",
        R"(prefix_rule(["a"], match=["a # b"], not_match=["# a\nb"]))",
        R"(prefix_rule(["bash", "-lc", "a b"], match=["bash -lc 'a b'"], not_match=["a b"]))",
        R"(prefix_rule(["a"], exact=True, match=["a"], not_match=["a b"]))",
    };
    for (const auto* text : good) {
      CAPTURE(text);
      CHECK(read(text).problems.empty());
    }
  }

  TEST_CASE("§23 examples see the gates of earlier files and of the whole own file") {
    rule_file_options how;
    how.earlier_gates = read("host_executable(\"git\", [\"/opt/git\"])").gates;
    CHECK(read("prefix_rule([\"git\"], match=[\"/usr/bin/git\"])", how).problems.size() == 1);
    CHECK(read("prefix_rule([\"git\"], match=[\"/usr/bin/git\"])\n"
               "host_executable(\"git\", [\"/usr/bin/git\"])",
               how)
              .problems.empty());
    how.cwd = "/usr/bin";
    how.home = "/opt";
    CHECK(read("prefix_rule([\"git\"], match=[\"~/git\"], not_match=[\"./git\"])", how)
              .problems.empty());
  }

  TEST_CASE("§D7 a broken file keeps every restriction that could be read") {
    const auto file = read("prefix_rule([\"one\"], \"forbidden\")\n"
                           "bad(\n"
                           "prefix_rule([\"two\"], \"prompt\")\n"
                           "fail(\"x\")\n"
                           "prefix_rule([\"three\"])\n");
    CHECK(file.problems.size() == 2);
    CHECK_FALSE(file.unreadable);
    const rule_set rules{{file}};
    CHECK(rules.match(std::vector<std::string>{"one"}, false, "/", "").size() == 1);
    CHECK(rules.match(std::vector<std::string>{"two"}, false, "/", "").size() == 1);
    CHECK(rules.match(std::vector<std::string>{"three"}, false, "/", "").empty());
  }

  TEST_CASE("§D7 a call that is wrong elsewhere still restricts what its pattern names") {
    constexpr std::array calls{
        R"(prefix_rule(["rm"], "forbidden", justification=""))",
        R"(prefix_rule(["rm"], decision="forbidden", reviewer="user"))",
        R"(prefix_rule(["rm"], decision="forbidden", match=["ls"]))",
        R"(prefix_rule(["rm"], decision="forbiden"))",
        R"(prefix_rule(pattern=["rm"], decision=None))",
        R"(prefix_rule(["rm"], "deny", 5))",
    };
    for (const auto* call : calls) {
      CAPTURE(call);
      auto file = read(call);
      CHECK_FALSE(file.problems.empty());
      CHECK_FALSE(file.unreadable);
      const rule_set rules{{std::move(file)}};
      const auto matches = rules.match(std::vector<std::string>{"rm", "x"}, false, "/", "");
      REQUIRE(matches.size() == 1);
      CHECK(matches[0].rule->decision != decision::allow);
    }
  }

  TEST_CASE("§D7 §44 a file of which nothing can be read says so") {
    const std::vector<std::string> texts{
        "bad(",
        "\177ELF\x02\x01\x01",
        std::string{"prefix_rule([\"a\"], \"allow\")\n\0", 29},
        "prefix_rule([\"a\"])\n\xff\xfe",
        std::string((std::size_t{10} << 20), '#'),
        "for i in range(2000000000): pass",
        "prefix_rule([\"a\"])\nfor i in range(2000000000): pass",
    };
    for (const auto& text : texts) {
      const auto file = read(text);
      CHECK(file.unreadable);
      CHECK_FALSE(file.problems.empty());
      const rule_set rules{{file}};
      CHECK(rules.has_unreadable_file());
      CHECK(rules.match(std::vector<std::string>{"a"}, true, "/", "").empty());
    }
    CHECK_FALSE(read("").unreadable);
    CHECK_FALSE(read("# nothing\n").unreadable);
    CHECK(read("").problems.empty());
  }

  TEST_CASE("§44 one error in a function is reported at each call") {
    const auto file = read("def f(x):\n    prefix_rule([x], decison=\"allow\")\n"
                           "f(\"a\")\nf(\"b\")\nfor x in [\"c\", \"d\"]: f(x)\n");
    REQUIRE(file.problems.size() == 1);
    CHECK(file.problems[0].where.line == 2);
  }

  TEST_CASE("§D15 network rules honour protocol and port") {
    const auto file = read("network_rule(\"A.Com:8443\", \"https_connect\", \"allow\")\n"
                           "network_rule(\"b\xC3\xBC"
                           "cher.example.\", \"http\", \"deny\", \"why\")\n"
                           "network_rule(\"[2001:DB8::1]:1\", \"socks5_tcp\", \"prompt\")\n"
                           "network_rule(\"10.0.0.1\", \"socks5_udp\", \"forbidden\")\n");
    REQUIRE(file.problems.empty());
    REQUIRE(file.network.size() == 4);
    CHECK(file.network[0].host == "a.com");
    CHECK(file.network[0].port == 8443);
    CHECK(file.network[0].protocol == network_protocol::https);
    CHECK(file.network[1].host == "xn--bcher-kva.example");
    CHECK(file.network[1].port == 0);
    CHECK(file.network[1].decision == decision::forbidden);
    CHECK(file.network[1].justification == "why");
    CHECK(file.network[2].host == "2001:db8::1");
    CHECK(file.network[3].host == "10.0.0.1");
    auto broken = read("network_rule(\"a.com\", \"http\", \"allow\")\n"
                       "network_rule(\"b.com\", \"http\", \"deny\")\nbad(");
    const rule_set rules{{std::move(broken)}};
    REQUIRE(rules.network_rules().size() == 1);
    CHECK(rules.network_rules()[0].host == "b.com");
  }

  TEST_CASE("§D15 a host has one spelling, and what is no host is refused") {
    const auto host = [](std::string_view text) {
      std::string why;
      const auto parsed = parse_network_host(text, why);
      return parsed ? parsed->host + "|" + std::to_string(parsed->port) : "";
    };
    CHECK(host(" Example.COM. ") == "example.com|0");
    CHECK(host("example.com:443") == "example.com|443");
    CHECK(host("a_b.com") == "a_b.com|0");
    CHECK(host("r3---sn-a.example.com") == "r3---sn-a.example.com|0");
    CHECK(host("localhost") == "localhost|0");
    CHECK(host("::1") == "::1|0");
    CHECK(host("[0:0:0:0:0:0:0:1]:80") == "::1|80");
    CHECK(host("127.0.0.1") == "127.0.0.1|0");
    CHECK(host("stra\xC3\x9F"
               "e.de") == "xn--strae-oqa.de|0");
    for (const auto* bad : {"",
                            " ",
                            "http://a.com",
                            "a.com/x",
                            "a.com?x",
                            "a.com#x",
                            "u@a.com",
                            "*.a.com",
                            "*",
                            "a b.com",
                            "[::1",
                            "[::1]x",
                            "[::1]:x",
                            "[]",
                            "[a.com]",
                            ":443",
                            "a.com:",
                            "a.com:abc",
                            "a.com:0",
                            "a.com:65536",
                            "a.com:+1",
                            "a..com",
                            ".a.com",
                            "0x7f.1",
                            "127.1",
                            "2130706433",
                            "1.2.3.4.5",
                            "256.1.1.1",
                            "1:2",
                            "a:b:c",
                            "a\xE2\x80\x8B b.com",
                            ".",
                            "a,b.com"}) {
      CAPTURE(std::string{bad});
      CHECK(host(bad).empty());
    }
  }

  TEST_CASE("§21 §D4 the rules shown in the documentation load") {
    const char* source = std::getenv("GATEHOUSE_SOURCE_DIR");
    REQUIRE(source);
    std::ifstream page{std::string{source} + "/docs/rules.md"};
    const std::string text{std::istreambuf_iterator<char>{page}, {}};
    const std::string fence = "```starlark\n";
    const auto begin = text.find(fence);
    REQUIRE(begin != std::string::npos);
    const auto rules = text.substr(begin + fence.size());
    const auto file = read(rules.substr(0, rules.find("```")));
    CHECK(file.problems.empty());
    CHECK(file.rules.size() == 4);
    CHECK(file.network.size() == 1);
  }
}
