#include "config/audit_settings.hpp"

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
  void required(std::string_view text) const { base.write("etc/requirements.toml", text); }
  [[nodiscard]] audit_settings load() const {
    auto loaded = load_audit_settings(where);
    if (!loaded) FAIL(to_string(loaded.error()));
    return *std::move(loaded);
  }
};

} // namespace

TEST_SUITE("config.audit_settings") {
  TEST_CASE("§205 nothing said: everything is recorded, and nothing runs that cannot be") {
    const auto settings = world{}.load();
    CHECK(settings.enabled.value);
    CHECK(settings.on_failure.value == audit_failure::refuse);
    CHECK_FALSE(settings.flush.value);
    CHECK(settings.keep_days.value == 90);
    CHECK(settings.keep_megabytes.value == 256);
  }

  TEST_CASE("§205 the user's values stand over the system's, and each says where it is from") {
    const world w;
    w.system("[audit]\non_failure = 'warn'\nkeep_days = 30\n");
    w.user("[audit]\nkeep_days = 7\nflush = true\ntypo = 1\n");
    const auto settings = w.load();
    CHECK(settings.on_failure.value == audit_failure::warn);
    CHECK(settings.on_failure.from.from == layer::system);
    CHECK(settings.keep_days.value == 7);
    CHECK(settings.keep_days.from.from == layer::user);
    CHECK(settings.flush.value);
    REQUIRE(settings.warnings.size() == 1);
    CHECK(settings.warnings[0].find("audit.typo") != std::string::npos);
  }

  TEST_CASE("§205 a requirement only tightens") {
    const world w;
    w.user("[audit]\nenabled = false\non_failure = 'warn'\nkeep_days = 7\nkeep_megabytes = 0\n");
    w.required("[audit]\nenabled = true\non_failure = 'refuse'\nflush = true\nkeep_days = 365\n"
               "keep_megabytes = 100\n");
    auto settings = w.load();
    CHECK(settings.enabled.value);
    CHECK(settings.on_failure.value == audit_failure::refuse);
    CHECK(settings.flush.value);
    CHECK(settings.keep_days.value == 365);
    CHECK(settings.keep_days.from.from == layer::requirements);
    CHECK(settings.keep_megabytes.value == 0); // without limit is more
    CHECK(settings.warnings.size() == 3);
    w.user("[audit]\nflush = true\nkeep_days = 0\n");
    w.required("[audit]\nenabled = false\non_failure = 'warn'\nflush = false\nkeep_days = 10\n");
    settings = w.load();
    CHECK(settings.enabled.value);
    CHECK(settings.on_failure.value == audit_failure::refuse);
    CHECK(settings.flush.value);
    CHECK(settings.keep_days.value == 0);
  }

  TEST_CASE("§205 a wrong value, and a demand that is not understood, name file and line") {
    const world w;
    for (const auto* text : {"[audit]\non_failure = 'maybe'\n", "[audit]\nkeep_days = -1\n",
                             "[audit]\nflush = 'yes'\n", "audit = 1\n", "[audit\n"}) {
      w.user(text);
      const auto loaded = load_audit_settings(w.where);
      REQUIRE_FALSE(loaded);
      CHECK_MESSAGE(loaded.error().message.find("config.toml") != std::string::npos, text);
    }
    w.user("");
    w.required("[audit]\nkeep_dais = 3\n");
    const auto loaded = load_audit_settings(w.where);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().message.find("requirements.toml:2") != std::string::npos);
    CHECK(loaded.error().message.find("keep_dais") != std::string::npos);
  }
}
