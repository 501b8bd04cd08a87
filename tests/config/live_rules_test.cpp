#include "config/live_rules.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <ctime>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

constexpr std::string_view forbid_x = "prefix_rule(pattern=['x'], decision='forbidden')\n";

/// Waits for the next tick of the clock that files are stamped with: a look at them is certain
/// then.
void settle() {
  timespec now{};
  timespec later{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  do
    ::clock_gettime(CLOCK_REALTIME_COARSE, &later);
  while (later.tv_sec == now.tv_sec && later.tv_nsec == now.tv_nsec);
}

struct world {
  tests::temp_folder base;
  locations where{base / "home", base / "home/.gatehouse", base / "etc", base / "state"};
  std::string root = base.folder("home/project");
  live_rules rules{where, root, {}, {.cwd = root}};

  [[nodiscard]] std::size_t matches() {
    auto now = rules.current();
    REQUIRE_MESSAGE(now.has_value(), now.error().message);
    const std::string argv[] = {"x"};
    return (*now)->rules->match(argv, false, "/", "/").size();
  }
};

} // namespace

TEST_SUITE("config.live_rules") {
  TEST_CASE(
      "§44 a rule file that is made, changed, replaced or removed counts from the next call") {
    world w;
    CHECK(w.matches() == 0);
    const auto file = w.base.write("home/.gatehouse/rules/a.rules", forbid_x);
    CHECK(w.matches() == 1);
    w.base.write("home/.gatehouse/rules/a.rules", std::string{forbid_x} + std::string{forbid_x});
    CHECK(w.matches() == 2);
    w.base.write("home/.gatehouse/rules/fresh", forbid_x);
    std::filesystem::rename(w.base / "home/.gatehouse/rules/fresh", file);
    CHECK(w.matches() == 1);
    w.base.write("etc/rules/s.rules", forbid_x);
    CHECK(w.matches() == 2);
    std::filesystem::remove(file);
    CHECK(w.matches() == 1);
  }

  TEST_CASE("a change of the same size in the same moment is noticed") {
    world w;
    w.base.write("home/.gatehouse/rules/a.rules", "prefix_rule(pattern=['y'])\n");
    for (const std::string_view program : {"x", "y", "x", "y", "x"}) {
      w.base.write("home/.gatehouse/rules/a.rules",
                   "prefix_rule(pattern=['" + std::string{program} + "'])\n");
      CHECK(w.matches() == (program == "x" ? 1 : 0));
    }
  }

  TEST_CASE(
      "nothing is read again while nothing changed, and what was handed out stays as it was") {
    world w;
    w.base.write("home/.gatehouse/rules/a.rules", forbid_x);
    settle();
    const auto before = *w.rules.current();
    CHECK(*w.rules.current() == before);
    w.base.write("home/.gatehouse/rules/b.rules", forbid_x);
    const auto after = *w.rules.current();
    CHECK(after != before);
    CHECK(before->rules->size() == 1);
    CHECK(after->rules->size() == 2);
  }

  TEST_CASE("§43 trust, a new project, requirements and configuration count as well") {
    world w;
    CHECK(w.matches() == 0);
    w.base.write("home/project/.gatehouse/rules/p.rules", forbid_x);
    CHECK(w.matches() == 0);
    w.base.write("home/.gatehouse/trust.toml", "trusted = [\"" + w.root + "\"]\n");
    CHECK(w.matches() == 1);
    w.base.write(
        "etc/requirements.toml",
        "rules = { prefix_rules = [{ pattern = [{ token = 'x' }], decision = 'prompt' }] }");
    CHECK(w.matches() == 2);
    w.base.write("home/.gatehouse/config.toml", "approval_policy = 'never'\n");
    CHECK((*w.rules.current())->settings.settings.approval.value.mode == approval_mode::never);
  }

  TEST_CASE(
      "§44 what cannot be read any more is an error until it is mended, never the old rules") {
    world w;
    w.base.write("home/.gatehouse/rules/a.rules", forbid_x);
    CHECK(w.matches() == 1);
    w.base.write("home/.gatehouse/config.toml", "approval_policy = 7\n");
    CHECK_FALSE(w.rules.current());
    CHECK_FALSE(w.rules.current());
    std::filesystem::remove(w.base / "home/.gatehouse/config.toml");
    CHECK(w.matches() == 1);
  }

  TEST_CASE("§44 a file that breaks warns once and keeps its restrictions") {
    world w;
    w.base.write("home/.gatehouse/rules/a.rules", forbid_x);
    CHECK(w.matches() == 1);
    (void)w.rules.take_warnings();
    w.base.write("home/.gatehouse/rules/a.rules", std::string{forbid_x} + "bad(\n");
    CHECK(w.matches() == 1);
    CHECK_FALSE(w.rules.take_warnings().empty());
    CHECK(w.rules.take_warnings().empty());
  }
}
