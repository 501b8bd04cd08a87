#include "sandbox/named_files.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace gatehouse::sandbox;

TEST_SUITE("sandbox.named_files") {
  TEST_CASE("§63 the script of a command is found wherever it stands in the line") {
    gatehouse::tests::temp_folder s;
    s.write("w/t/check", "x");
    s.write("home/t/mine", "x");
    s.folder("w/folder");
    const auto named = [&](const std::string& command) {
      return files_named_in(command, s / "w", s / "home");
    };
    const std::vector<std::string> check{s / "w/t/check"};
    for (const std::string command :
         {"t/check --fast", "sh ./t/check", "cd x&&'t/check';true", "A=t/check b", "!t/../t/check",
          "t/missing t/check folder check"}) {
      CAPTURE(command);
      CHECK(named(command) == check);
    }
    CHECK(named("exec " + check.front() + " %f") == check);
    const std::vector<std::string> mine{s / "home/t/mine"};
    CHECK(named("~/t/mine") == mine);
    CHECK(named("\"$HOME/t/mine\"") == mine);
    CHECK(named("${HOME}/t/mine") == mine);
    CHECK(named("cat folder/ || true").empty());
  }
}
