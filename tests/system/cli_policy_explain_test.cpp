#include "tests/support/json_lines.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <sstream>

using namespace gatehouse::tests;
namespace json = boost::json;

namespace {

/// A home and a workspace of its own for each test.
struct desk {
  temp_folder base;
  program_options how;

  desk() {
    std::filesystem::create_directories(base / "home");
    std::filesystem::create_directories(base / "ws");
    how.cwd = base / "ws";
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
  [[nodiscard]] program_result explain_lines(std::string_view input) const {
    return run({"policy", "explain", "--jsonl"}, input);
  }
};

std::vector<json::object> lines_of(const std::string& text) {
  std::vector<json::object> objects;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);)
    objects.push_back(json::parse(line).as_object());
  return objects;
}

std::string_view text_at(const json::object& object, std::string_view pointer) {
  const json::value whole{object};
  const auto* found = object.if_contains("error") ? nullptr : &object.at("requirement");
  return found ? std::string_view{found->as_object().at(pointer).as_string()} : "error";
}

int strictness(std::string_view kind) {
  return kind == "skip" ? 0 : kind == "needs_approval" ? 1 : kind == "forbidden" ? 2 : 3;
}

/// Sends all requests through one run and compares kinds; a wider danger list may be stricter.
void check_kinds(const std::vector<json::object>& requests,
                 const std::vector<json::object>& recorded, std::string_view key,
                 std::string_view (*kind_of)(std::string_view)) {
  std::string input;
  for (const auto& request : requests)
    input += json::serialize(request) + "\n";
  const desk d;
  const auto ran = d.explain_lines(input);
  CHECK(ran.status == 0);
  CHECK(ran.err.empty());
  const auto answers = lines_of(ran.out);
  REQUIRE(answers.size() == requests.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    CAPTURE(json::serialize(recorded[i]));
    CAPTURE(json::serialize(answers[i]));
    const auto wanted = kind_of(std::string_view{recorded[i].at(key).as_string()});
    const auto got = text_at(answers[i], "kind");
    if (recorded[i].contains("stricter_ok"))
      CHECK(strictness(got) >= strictness(wanted));
    else
      CHECK(got == wanted);
  }
}

} // namespace

TEST_SUITE("system.cli_policy_explain") {
  TEST_CASE("§129 §143 every recorded decision comes out of the program") {
    const auto recorded = load_cases("decisions.jsonl");
    std::vector<json::object> requests;
    for (const auto& row : recorded)
      requests.push_back({{"command", row.at("command")},
                          {"approval_policy", row.at("approval_policy")},
                          {"profile", row.at("profile")}});
    check_kinds(requests, recorded, "expected", [](std::string_view word) -> std::string_view {
      return word == "run" ? "skip" : word == "prompt" ? "needs_approval" : "forbidden";
    });
  }

  TEST_CASE("§129 §D19 every recorded decision with rules comes out of the program") {
    const auto recorded = load_cases("decisions_rules.jsonl");
    std::vector<json::object> requests;
    for (const auto& row : recorded) {
      json::object request{{"command", row.at("cmd")},
                           {"approval_policy", row.at("approval_policy")},
                           {"profile", row.at("sandbox")},
                           {"rules", row.at("rules")},
                           {"sandbox_permissions", row.at("sandbox_permissions")}};
      if (const auto* prefix = row.if_contains("prefix_rule")) request["prefix_rule"] = *prefix;
      requests.push_back(std::move(request));
    }
    check_kinds(requests, recorded, "outcome", [](std::string_view word) -> std::string_view {
      return word == "ran" ? "skip" : word == "ask" ? "needs_approval" : "forbidden";
    });
  }

  TEST_CASE("§133a a peer that waits for each answer before it asks again never hangs") {
    const desk d;
    const auto script = "coproc P { exec '" + built("gatehouse") +
                        "' policy explain --jsonl; }\n"
                        "for i in 1 2 3; do echo '{\"command\":\"ls\"}' >&${P[1]}\n"
                        "read -r -t 60 line <&${P[0]} && echo \"got ${line:0:12}\"; done";
    const auto ran = run_program({"/bin/bash", "-c", script}, d.how);
    CHECK(ran.out == "got {\"segments\":\ngot {\"segments\":\ngot {\"segments\":\n");
  }

  TEST_CASE("§133a one bad line gets an error in its place, the others their answers, status 2") {
    const desk d;
    const std::string input =
        "{\"command\":\"ls\"}\nnot json\n\n{\"command\":\"\xff\"}\n"
        "{\"command\":\"a\\u0000b\"}\n{\"command\":\"ls\",\"profile\":\"nope\"}\n"
        "{\"argv\":[\"ls\"]}";
    const auto ran = d.explain_lines(input);
    CHECK(ran.status == 2);
    const auto answers = lines_of(ran.out);
    REQUIRE(answers.size() == 7);
    for (const std::size_t bad : {1u, 2u, 3u, 4u, 5u}) {
      CHECK(answers[bad].contains("error"));
      CHECK(answers[bad].at("error").as_object().contains("kind"));
      CHECK(answers[bad].at("error").as_object().contains("message"));
    }
    CHECK(text_at(answers[0], "kind") == "skip");
    CHECK(text_at(answers[6], "kind") == "skip");
  }

  TEST_CASE("§133a a line of ten megabytes is an error and not the end") {
    const desk d;
    const auto ran = d.explain_lines("{\"command\":\"" + std::string(10u << 20, 'a') +
                                     "\"}\n{\"command\":\"ls\"}\n");
    CHECK(ran.status == 2);
    const auto answers = lines_of(ran.out);
    REQUIRE(answers.size() == 2);
    CHECK(answers[0].at("error").as_object().at("kind") == "too_large");
    CHECK(text_at(answers[1], "kind") == "skip");
  }

  TEST_CASE("a command of megabytes or of endless nesting is judged strictly and ends nothing") {
    const desk d;
    std::string deep;
    for (int i = 0; i < 20'000; ++i)
      deep += "$(";
    const auto line = [](const std::string& command) {
      return json::serialize(json::object{{"command", command}, {"approval_policy", "untrusted"}}) +
             "\n";
    };
    const auto ran =
        d.explain_lines(line("echo " + std::string(3u << 20, 'a')) + line(deep) + line("ls"));
    const auto answers = lines_of(ran.out);
    REQUIRE(answers.size() == 3);
    CHECK(strictness(text_at(answers[1], "kind")) >= 1);
  }

  TEST_CASE("§133a nothing is run and nothing is written") {
    const desk d;
    const auto ran = d.explain_lines("{\"command\":\"touch made; echo x > made2\"}\n");
    CHECK(ran.status == 0);
    CHECK(std::filesystem::is_empty(d.how.cwd));
    CHECK(std::filesystem::is_empty(d.base / "home"));
  }

  TEST_CASE("§133a the boundary that would be used is part of the answer") {
    const desk d;
    const std::string rules = R"j("rules":"prefix_rule(pattern=['printf'])")j";
    const auto answers = lines_of(
        d.explain_lines("{\"command\":\"ls\",\"profile\":\"read-only\"}\n"
                        "{\"command\":\"printf x\"," +
                        rules +
                        "}\n"
                        "{\"command\":\"ls\",\"profile\":\"danger-full-access\"}\n"
                        "{\"command\":\"printf x\"," +
                        rules +
                        ",\"profile\":{\"type\":\"managed\","
                        "\"file_system\":{\"type\":\"restricted\",\"entries\":[{\"path\":{\"type\":"
                        "\"special\",\"value\":{\"kind\":\"root\"}},\"access\":\"read\"},{\"path\":"
                        "{\"type\":\"path\",\"path\":\"/srv/x\"},\"access\":\"deny\"}]},"
                        "\"network\":\"restricted\"}}\n")
            .out);
    REQUIRE(answers.size() == 4);
    const auto sandbox = [&](std::size_t i) { return json::serialize(answers[i].at("sandbox")); };
    CHECK(sandbox(0) == R"({"backend":"linux","first_attempt":"sandboxed","network":"isolated"})");
    CHECK(sandbox(1) == R"({"backend":"none","first_attempt":"unsandboxed","network":"full"})");
    CHECK(sandbox(2) == R"({"backend":"none","first_attempt":"unsandboxed","network":"full"})");
    // §58: denied reads keep the sandbox even where a rule lifts it.
    CHECK(sandbox(3) == R"({"backend":"linux","first_attempt":"sandboxed","network":"isolated"})");
  }

  TEST_CASE("§43 requirements of a request tighten its rules, and no order lifts a forbidden") {
    const desk d;
    const auto line = [](json::object request) { return json::serialize(request) + "\n"; };
    const auto forbid = "rules = { prefix_rules = [{ pattern = [{ token = 'printf' }], "
                        "decision = 'forbidden' }] }";
    const auto answers = lines_of(
        d.explain_lines(line({{"command", "printf x"},
                              {"rules", "prefix_rule(pattern=[\"printf\"])"},
                              {"requirements", forbid}}) +
                        line({{"command", "printf x"},
                              {"approval_policy", "never"},
                              {"requirements", "allowed_approval_policies = ['untrusted']"}}) +
                        line({{"command", "ls"}, {"requirements", "allowed = 1"}}))
            .out);
    REQUIRE(answers.size() == 3);
    CHECK(text_at(answers[0], "kind") == "forbidden");
    CHECK(text_at(answers[1], "kind") == "needs_approval");
    CHECK(answers[2].contains("error"));
  }

  TEST_CASE("§43 requirements of a request leave the configured rules in force") {
    const desk d;
    d.base.write("home/.gatehouse/rules/mine.rules",
                 "prefix_rule(pattern=['printf'], decision='forbidden')\n");
    const auto request =
        json::object{{"command", "printf x"}, {"requirements", "allow_login_shell = false"}};
    const auto answers = lines_of(d.explain_lines(json::serialize(request) + "\n").out);
    REQUIRE(answers.size() == 1);
    CHECK(text_at(answers[0], "kind") == "forbidden");
  }

  TEST_CASE("§5 §14 the handler refuses login shells and overlays that the settings forbid") {
    const desk d;
    d.base.write("home/.gatehouse/config.toml",
                 "allow_login_shell = false\n[features]\nadditional_permissions = false\n");
    const auto answers =
        lines_of(d.explain_lines(
                      "{\"command\":\"ls\",\"login\":true}\n"
                      "{\"command\":\"ls\",\"sandbox_permissions\":\"with_additional_permissions\","
                      "\"additional_permissions\":{\"network\":{\"enabled\":true}}}\n")
                     .out);
    REQUIRE(answers.size() == 2);
    for (const auto& answer : answers) {
      CHECK(text_at(answer, "kind") == "forbidden");
      CHECK(text_at(answer, "refused_by") == "handler");
      CHECK_FALSE(answer.at("segments").as_array().empty());
    }
  }

  TEST_CASE("§4 the same command is judged alike as a string and as the shell's argv") {
    const desk d;
    const auto one = d.run({"policy", "explain", "--json", "--shell", "git status && rm -rf x"});
    const auto two =
        d.run({"policy", "explain", "--json", "--", "/bin/bash", "-c", "git status && rm -rf x"});
    CHECK(one.status == 0);
    CHECK(one.out == two.out);
    CHECK(lines_of(one.out).size() == 1);
  }

  TEST_CASE("§133a the text for people names segments, requirement and boundary") {
    const desk d;
    const auto ran = d.run({"policy", "explain", "--shell", "ls && rm -rf x"});
    CHECK(ran.status == 0);
    CHECK(ran.out.find("rm -rf x") != std::string::npos);
    CHECK(ran.out.find("approval") != std::string::npos);
  }

  TEST_CASE("§133b replay prints what other rules would change") {
    const desk d;
    const auto requests = std::string{"{\"command\":\"printf x\"}\n{\"command\":\"ls\"}\n"};
    const auto answers = lines_of(d.explain_lines(requests).out);
    REQUIRE(answers.size() == 2);
    std::string records =
        "{\"request\":{\"command\":\"printf x\"},\"decision\":" + json::serialize(answers[0]) +
        "}\n{\"request\":{\"command\":\"ls\"},\"decision\":" + json::serialize(answers[1]) + "}\n";
    const auto rules =
        d.base.write("new.rules", "prefix_rule(pattern=['printf'], decision='forbidden')\n");
    auto ran = d.run({"policy", "replay", "--rules", rules}, records);
    CHECK(ran.status == 0);
    CHECK(ran.out ==
          "{\"line\":1,\"before\":\"skip\",\"after\":\"forbidden\",\"bypass_before\":false,"
          "\"bypass_after\":false}\n{\"records\":2,\"changed\":1,\"unreadable\":0}\n");
    ran = d.run({"policy", "replay", "--rules", rules}, "nonsense\n");
    CHECK(ran.status == 2);
  }

  TEST_CASE("wrong usage says what is wrong and how a right call looks, with status 2") {
    const desk d;
    for (const auto& wrong : std::vector<std::vector<std::string>>{
             {},
             {"nonsense"},
             {"policy"},
             {"policy", "nonsense"},
             {"policy", "explain"},
             {"policy", "explain", "--shell", "ls", "--", "ls"},
             {"policy", "explain", "--shell"},
             {"policy", "explain", "--ask", "never", "--ask", "never", "ls"},
             {"policy", "test"},
             {"policy", "replay"},
             {"config"},
             {"config", "show", "more"},
             {"sandbox"},
             {"sandbox", "--nonsense", "ls"}}) {
      const auto ran = d.run(wrong);
      CAPTURE(ran.err);
      CHECK(ran.status == 2);
      CHECK(ran.out.empty());
      CHECK(ran.err.find("for example: gatehouse ") != std::string::npos);
    }
    for (const auto& wrong :
         std::vector<std::vector<std::string>>{{"policy", "explain", "--ask", "maybe", "ls"},
                                               {"policy", "explain", "--profile", "nope", "ls"},
                                               {"policy", "explain", "--profile", "{}x", "ls"},
                                               {"policy", "explain", "--cwd", "/nowhere", "ls"},
                                               {"policy", "explain", "--rules", "/nowhere", "ls"},
                                               {"policy", "explain", "--prefix-rule", "git", "ls"},
                                               {"sandbox", "--profile", "nope", "ls"}}) {
      const auto ran = d.run(wrong);
      CHECK(ran.status == 2);
      CHECK(ran.err.starts_with("gatehouse: "));
    }
  }
}
