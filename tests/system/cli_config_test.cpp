#include "tests/support/run_program.hpp"
#include "tests/support/temp_folder.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

using namespace gatehouse::tests;
namespace json = boost::json;

namespace {

program_result show(const temp_folder& base, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {built("gatehouse"), "config", "show"});
  program_options how;
  how.cwd = base.path();
  how.environment = {"HOME=" + base.path()};
  return run_program(arguments, how);
}

} // namespace

TEST_SUITE("system.cli_config") {
  TEST_CASE("§43 config show prints every value with the layer, file and line it comes from") {
    const temp_folder base;
    const auto file = base.write(".gatehouse/config.toml", "\napproval_policy = 'untrusted'\n");
    auto ran = show(base, {});
    CHECK(ran.status == 0);
    CHECK(ran.out.find("approval_policy = untrusted") != std::string::npos);
    CHECK(ran.out.find("# user (" + file + ":2)") != std::string::npos);
    CHECK(ran.out.find("# built-in") != std::string::npos);

    ran = show(base, {"--json", "--ask", "never"});
    CHECK(ran.status == 0);
    const auto whole = json::parse(ran.out).as_object();
    const auto& first = whole.at("settings").as_array().at(0).as_object();
    CHECK(first.at("key") == "approval_policy");
    CHECK(first.at("value") == "never");
    CHECK(first.at("layer") == "command line");
  }

  TEST_CASE("§43 an unknown key of [audit] is ignored in silence") {
    const temp_folder base;
    const auto file = base.write(".gatehouse/config.toml", "[audit]\nkept_days = 1\n");
    const auto why = file + ":2:1: unknown key `audit.kept_days` is ignored";
    CHECK(show(base, {}).err.find(why) != std::string::npos);
    const auto whole = json::parse(show(base, {"--json"}).out).as_object();
    REQUIRE(whole.at("warnings").as_array().size() == 1);
    CHECK(whole.at("warnings").as_array().at(0) == json::string{why});
  }

  TEST_CASE("a broken configuration ends with status 2 and its place") {
    const temp_folder base;
    const auto file = base.write(".gatehouse/config.toml", "approval_policy = = 1\n");
    const auto ran = show(base, {});
    CHECK(ran.status == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(file + ":1:") != std::string::npos);
  }

  TEST_CASE("§43 a project that is not trusted is left out with a warning that says how to trust") {
    const temp_folder base;
    base.write("project/.gatehouse/config.toml", "approval_policy = 'untrusted'\n");
    const auto ran = show(base, {"--cwd", base / "project"});
    CHECK(ran.status == 0);
    CHECK(ran.out.find("approval_policy = on-request") != std::string::npos);
    CHECK(ran.err.find(base / "project/.gatehouse is left out") != std::string::npos);
    CHECK(ran.err.find("trust.toml") != std::string::npos);
  }
}
