#include "config/daemon_record.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

struct state_folder {
  std::string path = [] {
    char name[] = "/var/tmp/gatehouse-record-XXXXXX";
    return std::string{::mkdtemp(name)};
  }();
  ~state_folder() { std::filesystem::remove_all(path); }
};

} // namespace

TEST_SUITE("config.daemon_record") {
  TEST_CASE("§204 a running daemon is found, and no longer when it has ended") {
    const state_folder state;
    CHECK(running_daemons(state.path + "/none").empty());
    {
      const auto mine = published_daemon::publish(
          state.path, {{"ws://127.0.0.1:1", "unix:///s"}, "/tokens/r", "/repo"});
      REQUIRE(mine);
      const auto found = running_daemons(state.path);
      REQUIRE(found.size() == 1);
      CHECK(found[0].urls == std::vector<std::string>{"ws://127.0.0.1:1", "unix:///s"});
      CHECK(found[0].reviewer_token_file == "/tokens/r");
      CHECK(found[0].root == "/repo");
    }
    CHECK(running_daemons(state.path).empty());
  }

  TEST_CASE("§204 the record of a daemon that was killed is no daemon, and is removed") {
    const state_folder state;
    std::filesystem::create_directories(state.path + "/daemons");
    const auto dead = state.path + "/daemons/1";
    std::ofstream{dead} << "url ws://127.0.0.1:1\n";
    CHECK(running_daemons(state.path).empty());
    CHECK_FALSE(std::filesystem::exists(dead));
  }

  TEST_CASE("§204 an address of two lines is refused") {
    const state_folder state;
    CHECK_FALSE(published_daemon::publish(state.path, {{"a\nurl b"}, "/t", "/r"}));
  }
}
