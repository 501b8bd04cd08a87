// Input that is broken, hostile or huge, through the real program: a clear error or the strictest
// decision, never a crash, never an allow (§44, §D7).
#include "tests/support/json_lines.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <sstream>

using namespace gatehouse::tests;
using namespace std::string_literals;
namespace json = boost::json;

namespace {

constexpr std::string_view sound_rules =
    "prefix_rule(pattern=['ls'])\nprefix_rule(pattern=['x'], decision='forbidden')\n";

struct desk {
  temp_folder base;
  program_options how;

  desk() {
    base.folder("home");
    how.cwd = base.folder("ws");
    how.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + base / "home",
                       "SHELL=/bin/bash"};
  }
  [[nodiscard]] program_result run(std::vector<std::string> arguments,
                                   std::string_view input = {}) const {
    arguments.insert(arguments.begin(), built("gatehouse"));
    auto with_input = how;
    with_input.input = input;
    return run_program(arguments, with_input);
  }
};

std::vector<json::object> lines_of(const std::string& text) {
  std::vector<json::object> objects;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);)
    objects.push_back(json::parse(line).as_object());
  return objects;
}

std::string kind_of(const json::object& answer) {
  if (answer.contains("error")) return "error";
  return std::string{answer.at("requirement").at("kind").as_string()};
}

bool bypasses(const json::object& answer) {
  return !answer.contains("error") && answer.at("requirement").at("bypass_sandbox").as_bool();
}

std::vector<std::string> unreadable_texts() {
  std::string bytes;
  for (int i = 0; i < 256; ++i)
    bytes += static_cast<char>(i);
  const std::string sound{sound_rules};
  return {bytes,
          sound + "\0"s,
          sound + "# \xe9\n",
          "\xff\xfe" + sound,
          sound + "#" + std::string(9u << 20, 'x'),
          sound + "[0 for i in range(2000000000)]\n",
          sound + "y = ('a' * 1000000) * 1000000\n",
          std::string(100'000, '(')};
}

} // namespace

TEST_SUITE("system.cli_bad_input") {
  TEST_CASE("§44 §D7 a rule file that is no text or needs too much makes every command ask") {
    for (const auto& text : unreadable_texts()) {
      const desk d;
      d.base.write("home/.gatehouse/rules/a.rules", text);
      CAPTURE(text.substr(0, 40));
      const auto ran =
          d.run({"policy", "explain", "--jsonl"},
                "{\"command\":\"ls\"}\n{\"command\":\"other\"}\n{\"command\":\"x\"}\n");
      CHECK(ran.status == 0);
      CHECK(ran.err.find("a.rules") != std::string::npos);
      const auto answers = lines_of(ran.out);
      REQUIRE(answers.size() == 3);
      for (const auto& answer : answers) {
        CHECK(kind_of(answer) != "skip");
        CHECK_FALSE(bypasses(answer));
      }
    }
  }

  TEST_CASE("§44 §D7 a rule file with a syntax error keeps its restrictions and loses its allows") {
    const desk d;
    d.base.write("home/.gatehouse/rules/a.rules", std::string{sound_rules} + "bad(");
    const auto ran =
        d.run({"policy", "explain", "--jsonl"}, "{\"command\":\"ls\"}\n{\"command\":\"x\"}\n");
    CHECK(ran.err.find("a.rules:3:5: ") != std::string::npos);
    const auto answers = lines_of(ran.out);
    REQUIRE(answers.size() == 2);
    CHECK_FALSE(bypasses(answers[0]));
    CHECK(kind_of(answers[1]) == "forbidden");
  }

  TEST_CASE("§133 policy check and policy test name file and place, with exit status 1") {
    for (const auto& text : unreadable_texts()) {
      const desk d;
      const auto file = d.base.write("a.rules", text);
      CAPTURE(text.substr(0, 40));
      for (const auto& command : std::vector<std::vector<std::string>>{
               {"policy", "check", "--rules", file, "ls"}, {"policy", "test", file}}) {
        const auto ran = d.run(command);
        CHECK(ran.status == 1);
        CHECK(ran.err.starts_with("gatehouse: " + file));
      }
      CHECK(d.run({"policy", "check", "--rules", file, "ls"}).out.empty());
    }
  }

  TEST_CASE("§D20 a command line of 10 MB is refused as a line and never allowed as a command") {
    const desk d;
    const std::string huge(10u << 20, 'a');
    const auto ran = d.run({"policy", "explain", "--jsonl"},
                           "{\"command\":\"" + huge + "\"}\n{\"command\":\"ls\"}\n");
    CHECK(ran.status == 2);
    const auto answers = lines_of(ran.out);
    REQUIRE(answers.size() == 2);
    CHECK(kind_of(answers[0]) == "error");
    CHECK(kind_of(answers[1]) == "skip");

    // Below the limit of a line, above that of a script.
    std::string many;
    while (many.size() < (7u << 20))
      many += "ls;";
    const auto scripts = lines_of(d.run({"policy", "explain", "--jsonl"},
                                        "{\"command\":\"" + many + "\"}\n{\"command\":\"ls " +
                                            std::string(7u << 20, 'a') + "\"}\n")
                                      .out);
    REQUIRE(scripts.size() == 2);
    CHECK_FALSE(bypasses(scripts[0]));
    CHECK_FALSE(bypasses(scripts[1]));
  }

  TEST_CASE("§18 NUL and bytes that are no UTF-8 are an error in a request and in a command") {
    const desk d;
    for (const auto& line :
         {"{\"command\":\"ls \\u0000 x\"}"s, "{\"command\":\"ls \xff\"}"s,
          "{\"command\":\"ls\0\"}"s, "\0"s, "\xff\xfe"s, "{\"command\":\"ls \\ud800\"}"s, "{"s,
          "[]"s, "null"s, "1"s, ""s, "{\"command\":7}"s, "{\"command\":[]}"s,
          "{\"command\":\"ls\",\"nonsense\":1}"s, "{\"command\":\"ls\"} {\"command\":\"ls\"}"s,
          std::string(100'000, '['), "{\"command\":\"ls\",\"command\":\"rm -rf x\"}"s}) {
      CAPTURE(line.substr(0, 60));
      const auto ran = d.run({"policy", "explain", "--jsonl"}, line + "\n{\"command\":\"ls\"}\n");
      CHECK(ran.status == 2);
      const auto answers = lines_of(ran.out);
      REQUIRE(answers.size() == 2);
      CHECK(kind_of(answers[0]) == "error");
      CHECK(kind_of(answers[1]) == "skip");
    }
    for (const std::string command : {"ls \xff", "ls \xc0\xaf"}) {
      const auto ran =
          d.run({"policy", "explain", "--json", "--ask", "untrusted", "--shell", command});
      CHECK(ran.status == 0);
      CHECK(kind_of(json::parse(ran.out).as_object()) == "needs_approval");
    }
  }

  TEST_CASE("§44 rules that change between two requests count for the second") {
    // One process, two requests: the second is sent when the answer to the first is there.
    const desk d;
    const auto rules = d.base / "home/.gatehouse/rules";
    d.base.folder("home/.gatehouse/rules");
    const std::string script =
        "coproc G { \"$0\" policy explain --jsonl; }\n"
        "echo '{\"command\":\"x\"}' >&${G[1]}; read -r a <&${G[0]}\n"
        "echo \"prefix_rule(pattern=['x'], decision='forbidden')\" > \"$1/a.rules\"\n"
        "echo '{\"command\":\"x\"}' >&${G[1]}; read -r b <&${G[0]}\n"
        "rm \"$1/a.rules\"\n"
        "echo '{\"command\":\"x\"}' >&${G[1]}; read -r c <&${G[0]}\n"
        "printf '%s\\n' \"$a\" \"$b\" \"$c\"\n";
    const auto ran = run_program({"/bin/bash", "-c", script, built("gatehouse"), rules}, d.how);
    CAPTURE(ran.err);
    const auto answers = lines_of(ran.out);
    REQUIRE(answers.size() == 3);
    CHECK(kind_of(answers[0]) == "skip");
    CHECK(kind_of(answers[1]) == "forbidden");
    CHECK(kind_of(answers[2]) == "skip");
  }
}
