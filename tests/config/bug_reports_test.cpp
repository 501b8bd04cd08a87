// Faults of other gates' configuration that were reported in public, through the real loaders.
#include "config/hooks.hpp"
#include "config/layers.hpp"
#include "config/profile_resolver.hpp"
#include "config/rule_loader.hpp"
#include "config/settings_file.hpp"
#include "policy/access.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

struct world {
  tests::temp_folder base;
  locations where{base / "home", base / "home/.gatehouse", base / "etc", base / "state"};
  std::string root = base.folder("home/project");

  world() { base.folder("home/project/.git"); }
  void trust() const { base.write("home/.gatehouse/trust.toml", "trusted = [\"" + root + "\"]\n"); }
  [[nodiscard]] result<loaded_settings> load(const settings_layer& command_line = {}) const {
    return load_settings(where, root, command_line);
  }
  [[nodiscard]] std::size_t matches(std::string_view program) const {
    const auto settings = load();
    REQUIRE(settings);
    const auto rules = load_rules(where, *settings, {.cwd = root});
    REQUIRE(rules);
    const std::string argv[] = {std::string{program}};
    return rules->rules->match(argv, false, "/", "/").size();
  }
};

} // namespace

TEST_SUITE("config.bug_reports") {
  TEST_CASE("BR-040 a cloned project relaxes nothing, trusted or not") {
    const world w;
    w.base.write("home/.gatehouse/rules/mine.rules",
                 "prefix_rule(['curl'], decision='forbidden')\n");
    w.base.write("home/project/.gatehouse/config.toml",
                 "default_permissions = 'danger-full-access'\napproval_policy = 'never'\n");
    w.base.write("home/project/.gatehouse/rules/p.rules",
                 "prefix_rule(['sh'])\nprefix_rule(['curl'])\n");
    for (const bool trusted : {false, true}) {
      if (trusted) w.trust();
      const auto loaded = w.load();
      REQUIRE(loaded);
      CHECK(loaded->settings.default_permissions.value == "workspace-write");
      CHECK(loaded->settings.approval.value.mode == approval_mode::on_request);
      CHECK(std::any_of(loaded->warnings.begin(), loaded->warnings.end(), [&](const auto& warning) {
        return warning.find(w.root + "/.gatehouse") != std::string::npos;
      }));
      CHECK(w.matches("sh") == 0);
      CHECK(w.matches("curl") == 1);
    }
  }

  TEST_CASE("BR-041 nothing of a project is read before it is trusted") {
    const world w;
    // Whoever read one of these would fail.
    w.base.write("home/project/.gatehouse/config.toml", "not toml at all");
    w.base.write("home/project/.gatehouse/hooks.json", "not json at all");
    w.base.write("home/project/.gatehouse/rules/p.rules", "not starlark at all");
    const auto loaded = w.load();
    REQUIRE(loaded);
    CHECK(loaded->warnings.size() == 1);
    const auto rules = load_rules(w.where, *loaded, {.cwd = w.root});
    REQUIRE(rules);
    CHECK(rules->warnings.empty());
    CHECK_FALSE(rules->rules->has_unreadable_file());
    w.trust();
    CHECK_FALSE(w.load());
  }

  TEST_CASE("BR-204 an absolute pattern stays absolute, and what is not understood is an error") {
    const world w;
    const auto read = [&](const std::string& key) {
      w.base.write("home/.gatehouse/config.toml",
                   "[permissions.p]\nextends = 'workspace-write'\n[permissions.p.filesystem]\n'" +
                       key + "' = 'deny'\n");
      return w.load();
    };
    const auto denied = [&](const std::string& key, const std::string& path) {
      const auto loaded = read(key);
      REQUIRE(loaded);
      const auto profile = resolve_profile(loaded->settings, "p", {w.root}, w.where.user_home);
      REQUIRE(profile);
      policy::access_context context;
      context.cwd = w.root;
      context.project_roots = {w.root};
      return policy::evaluate_access(profile->profile, context, path).granted == access::deny;
    };
    CHECK(denied("/home/*/.ssh/**", "/home/me/.ssh/id"));
    CHECK_FALSE(denied("/home/*/.ssh/**", w.root + "/home/me/.ssh/id"));
    CHECK(denied("//etc/x", "/etc/x"));
    CHECK(denied("~/a b/*", w.where.user_home + "/a b/c"));
    for (const std::string key : {"$HOME/q", "./rel", "../up", "C:\\x", "rel"}) {
      CAPTURE(key);
      const auto loaded = read(key);
      REQUIRE_FALSE(loaded);
      CHECK(loaded.error().message.find("config.toml:4:1: ") != std::string::npos);
    }
  }

  TEST_CASE("BR-205 the sandbox switch: requirements over command line over user over project") {
    for (int levels = 0; levels < 16; ++levels) {
      const world w;
      w.trust();
      const bool project = levels & 1;
      const bool user = levels & 2;
      const bool command_line = levels & 4;
      const bool managed = levels & 8;
      constexpr auto off = "default_permissions = 'danger-full-access'\n";
      constexpr auto on = "default_permissions = 'read-only'\n";
      w.base.write("home/project/.gatehouse/config.toml", project ? off : on);
      w.base.write("home/.gatehouse/config.toml", user ? off : on);
      if (!managed) w.base.write("etc/requirements.toml", "allowed_profiles = ['read-only']\n");
      settings_layer layer;
      layer.default_permissions = setting<std::string>{
          command_line ? "danger-full-access" : "read-only", {layer::command_line, {}, 0}};
      for (const bool given : {false, true}) {
        const auto loaded = w.load(given ? layer : settings_layer{});
        REQUIRE(loaded);
        const auto& chosen = loaded->settings.default_permissions;
        // A project may switch it on, never off.
        const bool wanted_off = given ? command_line : user && project;
        CAPTURE(levels);
        CAPTURE(describe(chosen.from));
        if (managed || !wanted_off)
          CHECK((chosen.value == "danger-full-access") == wanted_off);
        else if (given) // asked for in so many words: refused where it is resolved
          CHECK_FALSE(resolve_profile(loaded->settings, chosen.value, {w.root}, w.where.user_home));
        else
          CHECK(chosen.value == "read-only");
        CHECK_FALSE(describe(chosen.from).empty());
      }
    }
  }

  TEST_CASE("BR-206 of nested roots the most specific one wins, in any order of listing") {
    const world w;
    const auto granted = [&](std::string_view order, const std::string& path) {
      w.base.write("home/.gatehouse/config.toml",
                   "[permissions.p]\nextends = 'read-only'\n[permissions.p.filesystem]\n" +
                       std::string{order});
      const auto loaded = w.load();
      REQUIRE(loaded);
      const auto profile = resolve_profile(loaded->settings, "p", {w.root}, w.where.user_home);
      REQUIRE(profile);
      policy::access_context context;
      context.cwd = w.root;
      context.project_roots = {w.root};
      return policy::evaluate_access(profile->profile, context, path).granted;
    };
    for (const std::string_view order :
         {"'/m' = 'read'\n'/m/wt/' = 'write'\n'/m/wt/ro' = 'read'\n",
          "'/m/wt/ro' = 'read'\n'/m/wt' = 'write'\n'/m/' = 'read'\n"}) {
      CHECK(granted(order, "/m/f") == access::read);
      CHECK(granted(order, "/m/wt/f") == access::write);
      CHECK(granted(order, "/m/wt/ro/f") == access::read);
    }
    // The same path twice: a parser error for one spelling, the stricter access for two.
    CHECK(granted("'/m' = 'write'\n'/m/' = 'read'\n", "/m/f") != access::deny);
    w.base.write("home/.gatehouse/config.toml",
                 "[permissions.p.filesystem]\n'/m' = 'read'\n'/m' = 'write'\n");
    CHECK_FALSE(w.load());
  }
}
