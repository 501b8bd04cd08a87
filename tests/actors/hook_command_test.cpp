#include "actors/hook_command.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

using words = std::vector<std::string>;

proposal call(words argv) {
  proposal p;
  p.argv = std::move(argv);
  p.prefix_rule = {"make"};
  p.justification = "it builds";
  return p;
}

} // namespace

TEST_SUITE("actors.hook_command") {
  TEST_CASE("§10 hooks read the script of the shell, or the quoted words") {
    CHECK(hook_command_text(call({"bash", "-lc", "a | b"})) == "a | b");
    CHECK(hook_command_text(call({"git", "commit", "-m", "two words"})) ==
          "git commit -m 'two words'");
    CHECK(hook_command_text(call({"./bash", "-c", "a b"})) == "./bash -c 'a b'");
  }

  TEST_CASE("§10 what a hook wrote is what runs, in the same shell") {
    const auto p = with_hook_command(call({"bash", "-lc", "rm -rf x"}), "rm -i x; echo");
    REQUIRE(p);
    CHECK(p->argv == words{"bash", "-lc", "rm -i x; echo"});
    CHECK(hook_command_text(*p) == "rm -i x; echo");
    CHECK(p->prefix_rule.empty());
    CHECK(p->justification == "it builds");
  }

  TEST_CASE("§10 an argv is rewritten into exactly the words that were read") {
    const auto p = with_hook_command(call({"rm", "x"}), "rm -i 'x y'");
    REQUIRE(p);
    CHECK(p->argv == words{"rm", "-i", "x y"});
    for (const char* text : {"rm x; rm y", "rm x > y", "rm $x", "", "rm 'x", "rm *"})
      CHECK_MESSAGE(!with_hook_command(call({"rm", "x"}), text).has_value(), text);
  }
}
