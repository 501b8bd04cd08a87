#include "policy/amendment.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace gatehouse::policy;
using prefix_t = std::vector<std::string>;

namespace {

std::string shown(const prefix_t& prefix) {
  std::string text;
  for (const auto& word : prefix)
    text += word + ' ';
  return text;
}

void check(bool banned, const std::vector<prefix_t>& table) {
  for (const auto& prefix : table) {
    CAPTURE(shown(prefix));
    CHECK(is_banned_prefix(prefix) == banned);
  }
}

} // namespace

TEST_CASE("§41 every recorded banned prefix is banned, by any path too") {
  std::ifstream file{std::string{std::getenv("GATEHOUSE_SOURCE_DIR")} +
                     "/tests/cases/banned_prefixes.json"};
  std::stringstream text;
  text << file.rdbuf();
  const auto recorded =
      boost::json::value_to<std::vector<prefix_t>>(boost::json::parse(text.str()));
  REQUIRE(recorded.size() > 50);
  for (auto prefix : recorded) {
    CAPTURE(shown(prefix));
    CHECK(is_banned_prefix(prefix));
    if (prefix[0].find('/') == std::string::npos) prefix[0] = "/usr/local/bin/" + prefix[0];
    CHECK(is_banned_prefix(prefix));
  }
}

TEST_CASE("§41 prefixes are banned by what they can do, whatever version, path or option") {
  check(true, {{},
               {""},
               {"python3.11"},
               {"/usr/bin/python3"},
               {"python3", "-m"},
               {"python3", "-m", "timeit"},
               {"python3", "-X", "dev", "x.py"},
               {"python3", "/dev/stdin"},
               {"perl", "-E"},
               {"node", "--eval"},
               {"node", "-e", "1"},
               {"bash", "-l"},
               {"bash", "-c", "ls"},
               {"env", "-i"},
               {"env", "ls"},
               {"npx"},
               {"npx", "eslint"},
               {"xargs"},
               {"find"},
               {"find", ".", "-name", "x"},
               {"awk"},
               {"make"},
               {"make", "test"},
               {"uv", "run"},
               {"uv", "run", "python"},
               {"docker", "run"},
               {"docker", "-H", "x", "ps"},
               {"docker"},
               {"ssh"},
               {"ssh", "host", "uptime"},
               {"sudo", "-n"},
               {"sudo", "apt", "update"},
               {"curl"},
               {"wget", "u"},
               {"vim", "x"},
               {"timeout", "5", "ls"},
               {"nice", "ls"},
               {"Node.EXE"},
               {"C:\\tools\\pwsh.exe"},
               {"npm"},
               {"npm", "exec", "x"},
               {"npm", "install"},
               {"pip", "install"},
               {"go", "run"},
               {"rg", "x"},
               {"sed", "-n", "1p"},
               {"tar", "xf", "x"},
               {"eval", "x"},
               {"source", "x"}});
}

TEST_CASE("§41 what destroys is banned unless it names what it destroys, and broad names too") {
  check(true, {{"rm"},
               {"rm", "-rf"},
               {"rm", "-rf", "/"},
               {"rm", "-rf", "~"},
               {"rm", "-rf", "."},
               {"mv"},
               {"chmod", "755"},
               {"kill", "-9"},
               {"dd", "of=x"},
               {"mkfs.ext4", "x"},
               {"shutdown"},
               {"git", "reset", "--hard"},
               {"git", "push", "--force", "origin"},
               {"find", ".", "-delete"}});
  check(false, {{"rm", "-f", "/nonexistent/x"},
                {"rm", "x"},
                {"mv", "a", "b"},
                {"chmod", "755", "x"},
                {"kill", "123"}});
}

TEST_CASE("§41 git needs a subcommand, and one that cannot be pointed at a program") {
  check(true, {{"git"},
               {"git", "-c", "a=b"},
               {"git", "-C", "/x", "status"},
               {"git", "rebase"},
               {"git", "bisect", "run"},
               {"git", "config"},
               {"git", "push"},
               {"git", "fetch", "./x"},
               {"git", "push", "ext::sh"}});
  check(false, {{"git", "status"}, {"git", "commit"}, {"git", "push", "origin", "main"}});
}

TEST_CASE("§41 narrow prefixes are not banned") {
  check(false, {{"ls"},
                {"npm", "test"},
                {"npm", "run", "build"},
                {"yarn", "build"},
                {"cargo", "build"},
                {"cargo", "test"},
                {"go", "test"},
                {"pytest"},
                {"uv", "run", "pytest"},
                {"python3", "script.py"},
                {"python3", "-m", "pytest"},
                {"bash", "run.sh"},
                {"node", "build.js"},
                {"docker", "ps"},
                {"gh", "pr", "view"},
                {"wc"},
                {"printf", "plain"},
                {"cmake", "--build", "build"},
                {"gcc"},
                {"md5sum"},
                {"./run.sh"}});
}

TEST_CASE("§42 a saved rule is exact where further words would widen it") {
  CHECK(needs_exact_rule(prefix_t{"rm", "-f", "x"}));
  CHECK(needs_exact_rule(prefix_t{"/bin/mv", "a", "b"}));
  CHECK_FALSE(needs_exact_rule(prefix_t{"git", "status"}));
  CHECK_FALSE(needs_exact_rule(prefix_t{"mkdir", "x"}));
  CHECK_FALSE(needs_exact_rule(prefix_t{}));
}

TEST_CASE("§40 long or multi-line commands are never offered as rules") {
  CHECK(is_presentable_prefix(prefix_t{"ls", "-la"}));
  CHECK_FALSE(is_presentable_prefix(prefix_t{"echo", std::string(600, 'x')}));
  CHECK_FALSE(is_presentable_prefix(prefix_t{"echo", "a\nb"}));
  CHECK_FALSE(is_presentable_prefix(prefix_t{"echo", "a\x1b[2J"}));
}
