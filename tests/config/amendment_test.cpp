#include "config/amendment.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <set>
#include <sstream>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

std::string line_for(const std::vector<std::string>& prefix) {
  auto line = prefix_rule_line(prefix);
  REQUIRE(line);
  return *line;
}

unsigned mode_of(const std::string& path) {
  struct stat about {};
  REQUIRE(::stat(path.c_str(), &about) == 0);
  return about.st_mode & 0777u;
}

} // namespace

TEST_SUITE("config.amendment") {
  TEST_CASE("§42 the line has one form, and words keep their exact bytes") {
    CHECK(line_for({"npm", "test"}) == R"(prefix_rule(pattern=["npm", "test"], decision="allow"))");
    CHECK(line_for({"a\"b\\", "\n\t\x01", "é", ""}) ==
          R"(prefix_rule(pattern=["a\"b\\", "\n\t\u0001", "é", ""], decision="allow"))");
  }

  TEST_CASE("§42 a rule for what deletes or overwrites allows that very command only") {
    CHECK(line_for({"rm", "-f", "x"}) ==
          R"(prefix_rule(pattern=["rm", "-f", "x"], decision="allow", exact=True))");
  }

  TEST_CASE("§D4 a rule for what was asked inside the sandbox keeps the sandbox") {
    CHECK(*prefix_rule_line({"make", "test"}, true) ==
          R"(prefix_rule(pattern=["make", "test"], decision="allow", sandbox="keep"))");
    CHECK(
        *prefix_rule_line({"rm", "-f", "a"}, true) ==
        R"(prefix_rule(pattern=["rm", "-f", "a"], decision="allow", exact=True, sandbox="keep"))");
  }

  TEST_CASE("§42 a word that cannot stand in a rule file is refused") {
    CHECK_FALSE(prefix_rule_line({}));
    CHECK_FALSE(prefix_rule_line({"git", "\xff"}));
    CHECK_FALSE(prefix_rule_line({std::string{"a\0b", 3}}));
  }

  TEST_CASE("§42 folders and file are made private, a line that is there is not added again") {
    const tests::temp_folder base;
    const auto home = base / "home";
    const auto line = line_for({"make"});
    CHECK(*append_rule(home, line) == amendment_outcome::added);
    CHECK(*append_rule(home, line) == amendment_outcome::already_there);
    CHECK(base.read("home/rules/default.rules") == line + "\n");
    CHECK(mode_of(home) == 0700);
    CHECK(mode_of(home + "/rules") == 0700);
    CHECK(mode_of(home + "/rules/default.rules") == 0600);
  }

  TEST_CASE("§42 a file without a newline at its end is mended, its text and mode are kept") {
    const tests::temp_folder base;
    const auto file = base.write("rules/default.rules", "# mine");
    ::chmod(file.c_str(), 0640);
    CHECK(append_rule(base.path(), line_for({"ls"})));
    CHECK(base.read("rules/default.rules") == "# mine\n" + line_for({"ls"}) + "\n");
    CHECK(mode_of(file) == 0640);
  }

  TEST_CASE("§42 a linked default.rules stays a link and its target gets the line") {
    const tests::temp_folder base;
    const auto target = base.write("dotfiles/r", "# mine\n");
    std::filesystem::create_directory(base / "rules");
    std::filesystem::create_symlink(target, base / "rules/default.rules");
    CHECK(append_rule(base.path(), line_for({"ls"})));
    CHECK(std::filesystem::is_symlink(base / "rules/default.rules"));
    CHECK(base.read("dotfiles/r") == "# mine\n" + line_for({"ls"}) + "\n");
  }

  TEST_CASE("§42 what is left of a writer that was killed midway neither counts nor hinders") {
    const tests::temp_folder base;
    base.write("rules/default.rules", "# mine\n");
    base.write("rules/default.rules.new", "# mine\nprefix_rule(pattern=[\"sud");
    CHECK(append_rule(base.path(), line_for({"ls"})));
    CHECK(base.read("rules/default.rules") == "# mine\n" + line_for({"ls"}) + "\n");
    CHECK_FALSE(std::filesystem::exists(base / "rules/default.rules.new"));
  }

  TEST_CASE("§42 kill -9 at any moment of an append never leaves half a rule") {
    const tests::temp_folder base;
    std::set<std::string> possible;
    for (int i = 0; i < 400; ++i)
      possible.insert(line_for({"tool" + std::to_string(i), std::string(2000, 'x')}));
    const std::vector<std::string> all(possible.begin(), possible.end());
    for (int round = 0; round < 40; ++round) {
      const auto child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        for (const auto& line : all)
          (void)append_rule(base.path(), line);
        ::_exit(0);
      }
      ::usleep(static_cast<useconds_t>(500 + round * 211)); // any moment will do
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      std::istringstream text{base.read("rules/default.rules")};
      std::string whole = text.str();
      CHECK((whole.empty() || whole.back() == '\n'));
      for (std::string line; std::getline(text, line);)
        CHECK(possible.contains(line));
    }
    CHECK(append_rule(base.path(), line_for({"last"})));
  }

  TEST_CASE("§42 BR-027 a rule for git keeps the sandbox") {
    CHECK(line_for({"git", "fetch"}) ==
          R"(prefix_rule(pattern=["git", "fetch"], decision="allow", sandbox="keep"))");
  }

  TEST_CASE("§42 errors carry the path") {
    const tests::temp_folder base;
    base.write("rules", "a file");
    const auto failed = append_rule(base.path(), "x");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message.find(base / "rules") != std::string::npos);
    const auto nowhere = append_rule(base / "a/b/c", "x");
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().message.find(base / "a/b/c") != std::string::npos);
    const tests::temp_folder other;
    other.write("rules/default.rules", "\xff\n");
    CHECK(append_rule(other.path(), "x").error().message.find("UTF-8") != std::string::npos);
    CHECK(other.read("rules/default.rules") == "\xff\n");
  }

  TEST_CASE("§42 eight processes that append at the same time lose and double no line") {
    const tests::temp_folder base;
    constexpr int processes = 8;
    constexpr int lines = 50;
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
      const auto child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        bool good = true;
        for (int i = 0; i < lines; ++i) {
          // Every second line is the same for all of them.
          const auto line = prefix_rule_line(
              {"tool", i % 2 == 0 ? "shared" : "own" + std::to_string(p), std::to_string(i)});
          good = good && line && append_rule(base.path(), *line).has_value();
        }
        ::_exit(good ? 0 : 1);
      }
      children.push_back(child);
    }
    for (const auto child : children) {
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      CHECK(status == 0);
    }
    std::istringstream text{base.read("rules/default.rules")};
    std::set<std::string> distinct;
    int count = 0;
    for (std::string line; std::getline(text, line); ++count)
      distinct.insert(line);
    CHECK(count == lines / 2 + processes * lines / 2);
    CHECK(static_cast<int>(distinct.size()) == count);
  }
}
