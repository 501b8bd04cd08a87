#include "config/environments.hpp"
#include "config/settings_file.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

struct world {
  tests::temp_folder base;
  locations where{base / "home", base / "home/.gatehouse", base / "etc", base / "state"};

  void system(std::string_view text) const { base.write("etc/config.toml", text); }
  void user(std::string_view text) const { base.write("home/.gatehouse/config.toml", text); }
  [[nodiscard]] named_environments load() const {
    auto loaded = load_environments(where);
    if (!loaded) FAIL(to_string(loaded.error()));
    return *std::move(loaded);
  }
};

constexpr std::string_view build = "[environments.build]\nexec_server = 'ws://127.0.0.1:4000'\n"
                                   "cwd = '/srv/repo'\n";

} // namespace

TEST_SUITE("config.environments") {
  TEST_CASE("§7 nothing said: there is this machine only") {
    CHECK(world{}.load().by_name.empty());
  }

  TEST_CASE("§7 an environment has an address, a folder and, where it is wanted, a token") {
    const world w;
    w.user(std::string{build} + "token_file = '/home/me/t'\n\n[environments.'gpu-1.x']\n"
                                "exec_server = 'unix:///run/e.sock'\ncwd = '/srv'\n");
    const auto known = w.load();
    REQUIRE(known.by_name.size() == 2);
    const auto& one = known.by_name.at("build");
    CHECK(one.name == "build");
    CHECK(one.exec_server == "ws://127.0.0.1:4000");
    CHECK(one.cwd == "/srv/repo");
    CHECK(one.token_file == "/home/me/t");
    CHECK(one.from.from == layer::user);
    CHECK(one.from.line == 1);
    CHECK(known.by_name.at("gpu-1.x").token_file.empty());
  }

  TEST_CASE("§7 §43 the user's entry takes the place of the system's as a whole") {
    const world w;
    w.system(std::string{build} + "token_file = '/etc/t'\n[environments.other]\n"
                                  "exec_server = 'ws://127.0.0.1:1'\ncwd = '/'\n");
    w.user("[environments.build]\nexec_server = 'ws://127.0.0.1:5000'\ncwd = '/mine'\n");
    const auto known = w.load();
    CHECK(known.by_name.at("build").cwd == "/mine");
    CHECK(known.by_name.at("build").token_file.empty());
    CHECK(known.by_name.at("other").from.from == layer::system);
  }

  TEST_CASE("§7 a wrong entry is an error with its place") {
    const auto wrong = [](std::string_view text, std::string_view part, std::string_view place) {
      const world w;
      w.user(text);
      const auto loaded = load_environments(w.where);
      CAPTURE(text);
      REQUIRE_FALSE(loaded);
      CHECK(loaded.error().code == errc::invalid_config);
      const auto said = to_string(loaded.error());
      CAPTURE(said);
      CHECK(said.find(part) != std::string::npos);
      CHECK(said.find("config.toml:" + std::string{place}) != std::string::npos);
    };
    wrong("environments = 3\n", "table", "1:");
    wrong("[environments]\nbuild = 'ws://127.0.0.1:1'\n", "no table", "2:");
    wrong("[environments.local]\nexec_server = 'ws://127.0.0.1:1'\ncwd = '/'\n", "this machine",
          "1:");
    wrong("[environments.'a b']\nexec_server = 'ws://127.0.0.1:1'\ncwd = '/'\n", "no name", "1:");
    wrong("[environments.b]\ncwd = '/'\n", "no exec_server", "1:");
    wrong("[environments.b]\nexec_server = 'ws://127.0.0.1:1'\n", "no cwd", "1:");
    wrong("[environments.b]\nexec_server = ''\ncwd = '/'\n", "empty", "2:");
    wrong("[environments.b]\nexec_server = 7\ncwd = '/'\n", "exec_server", "2:");
    wrong("[environments.b]\nexec_server = 'ws://127.0.0.1:1'\ncwd = 'work'\n", "no absolute path",
          "3:");
    wrong(std::string{build} + "token_file = 'C:/token'\n", "no path of this machine", "4:");
    wrong(std::string{build} + "token_file = 'token'\n", "no absolute path", "4:");
    wrong(std::string{build} + "token_file = ['/t']\n", "token_file", "4:");
  }

  TEST_CASE("§8 the folder is written as its machine writes it") {
    const world w;
    w.user("[environments.win]\nexec_server = 'ws://127.0.0.1:1'\ncwd = 'C:\\repo'\n");
    CHECK(w.load().by_name.at("win").cwd == "C:\\repo");
  }

  TEST_CASE("§7 a key that is not known is told") {
    const world w;
    w.user(std::string{build} + "tokenfile = '/t'\n");
    const auto known = w.load();
    REQUIRE(known.warnings.size() == 1);
    CHECK(known.warnings[0].find("environments.build.tokenfile") != std::string::npos);
  }

  TEST_CASE("§7 §43 a project cannot name one, and is told so") {
    const auto read = read_settings(build, "/p/.gatehouse/config.toml", layer::project, "/home/me");
    REQUIRE(read);
    REQUIRE(read->warnings.size() == 1);
    CHECK(read->warnings[0].find("`environments` is ignored") != std::string::npos);
    CHECK(read_settings(build, "/u/config.toml", layer::user, "/home/me")->warnings.empty());
  }
}
