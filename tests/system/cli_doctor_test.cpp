#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

using namespace gatehouse::tests;
namespace json = boost::json;

TEST_SUITE("system.cli_doctor") {
  TEST_CASE("§92c the exit status says whether commands can be sandboxed here, in both layouts") {
    const auto as_json = run_program({built("gatehouse"), "doctor", "--json"});
    CAPTURE(as_json.err);
    const auto report = json::parse(as_json.out).as_object();
    CHECK(report.at("enforced").as_bool() == (as_json.status == 0));
    CHECK(as_json.status <= 1);
    for (const auto& check : report.at("checks").as_array())
      if (check.at("state") != "ok") CHECK(check.as_object().contains("remedy"));
    const auto as_text = run_program({built("gatehouse"), "doctor"});
    CHECK(as_text.status == as_json.status);
    CHECK(as_text.out.find("bubblewrap") != std::string::npos);
  }

  TEST_CASE("§22 policy test names every example that does not hold, with its place") {
    const temp_folder folder;
    program_options how;
    how.cwd = folder.path();
    folder.write("good.rules", "prefix_rule(pattern=['git'], match=['git x'], not_match=['hg'])\n");
    folder.write("bad.rules", "\nprefix_rule(pattern=['git'], match=['hg x'])\n");
    auto ran = run_program({built("gatehouse"), "policy", "test", "good.rules"}, how);
    CHECK(ran.status == 0);
    CHECK(ran.out == "good.rules: 1 rules, 0 gates, 0 network rules, 0 problems\n");
    CHECK(ran.err.empty());
    ran = run_program({built("gatehouse"), "policy", "test", "good.rules", "bad.rules"}, how);
    CHECK(ran.status == 1);
    CHECK(ran.err.find("bad.rules:2:") != std::string::npos);
    CHECK(ran.err.find("hg x") != std::string::npos);
  }
}
