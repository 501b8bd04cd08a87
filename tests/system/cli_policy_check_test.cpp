#include "tests/support/json_lines.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

using namespace gatehouse::tests;
namespace json = boost::json;

namespace {

std::vector<std::string> words(const json::value& list) {
  std::vector<std::string> texts;
  for (const auto& item : list.as_array())
    texts.emplace_back(item.as_string());
  return texts;
}

program_result check(const temp_folder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {built("gatehouse"), "policy", "check"});
  program_options how;
  how.cwd = folder.path();
  how.environment.emplace_back("GATEHOUSE_HOME=" + folder.path() + "/none");
  return run_program(arguments, how);
}

} // namespace

TEST_SUITE("system.cli_policy_check") {
  TEST_CASE("§133 §D18 the program answers every recorded case with the same bytes and status") {
    int count = 0;
    for (const auto& recorded : load_cases("execpolicy_check.jsonl")) {
      const temp_folder folder;
      folder.write("p0.rules", std::string_view{recorded.at("rules").as_string()});
      std::vector<std::string> arguments{"--rules", "p0.rules"};
      if (const auto* more = recorded.if_contains("more_rules")) {
        int number = 1;
        for (const auto& text : words(*more)) {
          const auto name = "p" + std::to_string(number++) + ".rules";
          folder.write(name, text);
          arguments.insert(arguments.end(), {"--rules", name});
        }
      }
      for (const auto& flag : words(recorded.at("args")))
        arguments.push_back(flag);
      arguments.emplace_back("--");
      for (const auto& word : words(recorded.at("command")))
        arguments.push_back(word);
      if (const auto* raw = recorded.if_contains("raw_argv")) arguments = words(*raw);

      CAPTURE(json::serialize(recorded));
      const auto ran = check(folder, arguments);
      CAPTURE(ran.err);
      CHECK(ran.status == recorded.at("exit").as_int64());
      if (const auto* text = recorded.if_contains("stdout_text")) {
        CHECK(ran.out == std::string_view{text->as_string()});
        CHECK(ran.err.empty());
      } else {
        CHECK(ran.out.empty());
        CHECK_FALSE(ran.err.empty());
      }
      ++count;
    }
    CHECK(count > 250);
  }

  TEST_CASE("§133 errors name file, line and column, usage errors say how a right call looks") {
    const temp_folder folder;
    folder.write("bad.rules", "\nprefix_rule(pattern=[])\n");
    folder.write("binary.rules", "# \xff\n");
    auto ran = check(folder, {"-r", "bad.rules", "ls"});
    CHECK(ran.status == 1);
    CHECK(ran.err.find("bad.rules:2:") != std::string::npos);
    ran = check(folder, {"--rules", "binary.rules", "ls"});
    CHECK(ran.status == 1);
    CHECK(ran.err.find("binary.rules: byte 2") != std::string::npos);
    ran = check(folder, {"--rules=missing.rules", "ls"});
    CHECK(ran.status == 1);
    CHECK(ran.err.find("missing.rules") != std::string::npos);
    for (const auto& wrong : std::vector<std::vector<std::string>>{
             {}, {"ls"}, {"--rules"}, {"--rules", "bad.rules"}, {"--rules", "bad.rules", "--"}}) {
      ran = check(folder, wrong);
      CHECK(ran.status == 2);
      CHECK(ran.err.find("for example: gatehouse policy check") != std::string::npos);
    }
  }
}
