#include "config/live_token_files.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

std::string naming(const std::string& name, const std::string& token) {
  return "[environments." + name +
         "]\nexec_server = 'ws://127.0.0.1:9'\ncwd = '/srv'\ntoken_file = '" + token + "'\n";
}

} // namespace

TEST_SUITE("config.live_token_files") {
  TEST_CASE("§D13 the token of a machine that is named later is hidden, and stays so") {
    const tests::temp_folder base;
    const locations where{base / "home", base / "home/.gatehouse", base / "etc", base / "state"};
    live_token_files tokens{where, {}};
    CHECK(tokens.now().empty());
    const auto file = base.write("home/.gatehouse/config.toml", naming("one", "/k/one"));
    CHECK(tokens.now() == std::vector<std::string>{"/k/one"});
    base.write("home/.gatehouse/config.toml", naming("two", "/k/second"));
    base.write("etc/config.toml", naming("three", "/k/three"));
    CHECK(tokens.now() == std::vector<std::string>{"/k/one", "/k/second", "/k/three"});
    base.write("home/.gatehouse/config.toml", "[environments.one\n");
    CHECK(tokens.now().size() == 3);
  }
}
