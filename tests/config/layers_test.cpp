#include "config/layers.hpp"

#include "config/profile_resolver.hpp"
#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

/// A system, a home and a project in one temporary folder.
struct world {
  tests::temp_folder base;
  locations where{base / "home", base / "home/.gatehouse", base / "etc", base / "state"};
  std::string root = base / "home/project";

  world() { std::filesystem::create_directories(root + "/.git"); }
  void system(std::string_view text) const { base.write("etc/config.toml", text); }
  void required(std::string_view text) const { base.write("etc/requirements.toml", text); }
  void user(std::string_view text) const { base.write("home/.gatehouse/config.toml", text); }
  void project(std::string_view text) const {
    base.write("home/project/.gatehouse/config.toml", text);
  }
  void trust() const { base.write("home/.gatehouse/trust.toml", "trusted = [\"" + root + "\"]\n"); }
  [[nodiscard]] loaded_settings load(const settings_layer& command_line = {}) const {
    auto loaded = load_settings(where, root, command_line);
    REQUIRE_MESSAGE(loaded.has_value(), loaded.error().message);
    return std::move(*loaded);
  }
  [[nodiscard]] result<resolved_profile> profile(const loaded_settings& loaded,
                                                 std::string_view name) const {
    return resolve_profile(loaded.settings, name, {root}, where.user_home);
  }
};

bool mentions(const std::vector<std::string>& warnings, std::string_view text) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const auto& w) { return w.find(text) != std::string::npos; });
}

settings_layer on_command_line(approval_mode mode) {
  settings_layer layer;
  layer.approval = setting<approval_policy>{{mode, {}}, {layer::command_line, {}, 0}};
  return layer;
}

} // namespace

TEST_SUITE("config.layers") {
  TEST_CASE("§43 §66 a project may only narrow the managed network that stands below it") {
    const std::string base = R"(default_permissions = "net"
[permissions.net]
extends = "workspace-write"
[permissions.net.network]
enabled = true
domains = { "ok.test" = "allow", "bad.test" = "deny" }
)";
    struct row {
      const char* network;
      bool good;
    };
    const row table[] = {
        {"domains = { 'ok.test' = 'deny' }", true},
        {"domains = { 'more.test' = 'deny' }", true},
        {"mode = 'limited'", true},
        {"domains = { 'more.test' = 'allow' }", false},
        {"domains = { 'bad.test' = 'allow' }", false},
        {"allow_local_binding = true", false},
    };
    for (const auto& r : table) {
      CAPTURE(r.network);
      const world w;
      w.user(base);
      w.project(std::string{"[permissions.mine]\nextends = 'net'\n[permissions.mine.network]\n"} +
                r.network);
      w.trust();
      const auto resolved = w.profile(w.load(), "mine");
      CHECK(resolved.has_value() == r.good);
      if (resolved) CHECK(resolved->network.has_value());
    }
    // Nor may it replace a managed network by an open one.
    const world w;
    w.user(base);
    w.project("[permissions.mine]\nextends = 'workspace-write'\n"
              "[permissions.mine.network]\nenabled = true");
    w.trust();
    CHECK_FALSE(w.profile(w.load(), "mine").has_value());
    const auto own = w.profile(w.load(), "net");
    REQUIRE(own.has_value());
    CHECK(own->network->rules.size() == 2);
  }

  TEST_CASE("without any file the built-in values hold") {
    const world w;
    const auto loaded = w.load();
    CHECK(loaded.settings.approval.value.mode == approval_mode::on_request);
    CHECK(loaded.settings.default_permissions.value == "workspace-write");
    CHECK(loaded.settings.default_timeout.value == std::chrono::seconds{10});
    CHECK(describe(loaded.settings.approval.from) == "built-in");
    CHECK(loaded.warnings.empty());
  }

  TEST_CASE("§43 system < user < command line, and each value says where it came from") {
    const world w;
    w.system("approval_policy = 'never'\ndefault_timeout_ms = 1\n");
    w.user("approval_policy = 'untrusted'\n");
    auto loaded = w.load();
    CHECK(loaded.settings.approval.value.mode == approval_mode::untrusted);
    CHECK(loaded.settings.approval.from.from == layer::user);
    CHECK(loaded.settings.default_timeout.from.from == layer::system);
    loaded = w.load(on_command_line(approval_mode::never));
    CHECK(loaded.settings.approval.value.mode == approval_mode::never);
    CHECK(describe(loaded.settings.approval.from) == "command line");
  }

  TEST_CASE("§43 an untrusted project layer is left out with a warning that names the folder") {
    const world w;
    w.project("approval_policy = \n broken [[[");
    const auto loaded = w.load();
    CHECK(mentions(loaded.warnings, w.root + "/.gatehouse is left out"));
    CHECK_FALSE(loaded.project.trusted);
  }

  TEST_CASE("§43 a trusted project may tighten, and what would loosen is ignored with a warning") {
    const world w;
    w.trust();
    w.user("default_timeout_ms = 5000\ndefault_permissions = 'read-only'\n[rules]\ndefault_sandbox "
           "= 'keep'\n");
    w.project(R"(
approval_policy = "untrusted"
default_timeout_ms = 9000
default_permissions = "danger-full-access"
allow_login_shell = false
protected_names = [".mine"]
[rules]
default_sandbox = "bypass"
)");
    const auto loaded = w.load();
    CHECK(loaded.settings.approval.value.mode == approval_mode::untrusted);
    CHECK(loaded.settings.approval.from.from == layer::project);
    CHECK_FALSE(loaded.settings.allow_login_shell.value);
    CHECK(loaded.settings.default_timeout.value == std::chrono::seconds{5});
    CHECK(loaded.settings.default_permissions.value == "read-only");
    CHECK(loaded.settings.default_rule_sandbox.value == policy::rule_sandbox::keep);
    CHECK(loaded.settings.protected_names.size() == 1);
    for (const auto* key : {"default_timeout_ms", "default_permissions", "rules.default_sandbox"})
      CHECK(mentions(loaded.warnings, key));
    CHECK(loaded.warnings.size() == 3);
  }

  TEST_CASE("§43 BR-202 a project may have its commands inherit less, never more, and may shorten "
            "the lives of sessions") {
    world w;
    w.trust();
    w.user("[environment]\ninherit = 'core'\nexclude = ['A*']\n[terminals]\nidle_limit_ms = 5000");
    w.project("[environment]\ninherit = 'all'\nexclude = ['B*']\ninclude = ['PATH']\n"
              "[terminals]\nidle_limit_ms = 6000\nhard_limit_ms = 7000");
    const auto loaded = w.load();
    const auto rules = variable_rules(loaded.settings);
    CHECK(rules.inherit == policy::inherit_environment::core);
    CHECK(rules.exclude == std::vector<std::string>{"A*", "B*"});
    CHECK(rules.include_only == std::vector<std::string>{"PATH"});
    CHECK(mentions(loaded.warnings, "environment.inherit"));
    CHECK(loaded.settings.terminal_idle_limit.value == std::chrono::seconds{5});
    CHECK(loaded.settings.terminal_hard_limit.value == std::chrono::seconds{7});
    CHECK(mentions(loaded.warnings, "terminals.idle_limit_ms"));
    w.user("[environment]\ninclude = ['HOME']");
    const auto other = w.load();
    CHECK(variable_rules(other.settings).include_only == std::vector<std::string>{"HOME"});
    CHECK(mentions(other.warnings, "environment.include"));
  }

  TEST_CASE("§43 a project chooses no reviewer of its own, but may make reviews stricter") {
    const world w;
    w.trust();
    w.user("[auto_review]\ncommand = ['/opt/mine']\n");
    w.project("approvals_reviewer = 'auto_review'\n[auto_review]\ncommand = ['/tmp/yes']\n"
              "timeout_ms = 100000\nstrict = true\n");
    auto loaded = w.load();
    CHECK(loaded.settings.reviewer.value == approvals_reviewer::user);
    CHECK(loaded.settings.auto_review_command.value == std::vector<std::string>{"/opt/mine"});
    CHECK(loaded.settings.auto_review_timeout.value == std::chrono::seconds{90});
    CHECK(loaded.settings.strict_auto_review.value);
    for (const auto* key : {"approvals_reviewer", "auto_review.command", "auto_review.timeout_ms"})
      CHECK(mentions(loaded.warnings, key));
    w.user("approvals_reviewer = 'auto_review'\n[auto_review]\nstrict = true\n");
    w.project("approvals_reviewer = 'user'\n[auto_review]\nstrict = false\n");
    loaded = w.load();
    CHECK(loaded.settings.reviewer.value == approvals_reviewer::user);
    CHECK(loaded.settings.strict_auto_review.value);
  }

  TEST_CASE(
      "§43 §68 the user may ask for another backend; a project may not, a requirement forbids it") {
    const world w;
    CHECK(w.load().settings.backend.value == sandbox_backend::none);
    w.trust();
    w.project("[sandbox]\nbackend = \"landlock\"\n");
    const auto asked_by_project = w.load();
    CHECK(asked_by_project.settings.backend.value == sandbox_backend::none);
    CHECK(mentions(asked_by_project.warnings, "sandbox.backend"));

    w.user("[sandbox]\nbackend = \"landlock\"\n");
    CHECK(w.load().settings.backend.value == sandbox_backend::landlock);
    w.project("[sandbox]\nbackend = \"platform\"\n");
    CHECK(w.load().settings.backend.value == sandbox_backend::none);

    w.project("");
    w.required("[sandbox]\nbackend = \"platform\"\n");
    settings_layer given;
    given.backend =
        setting<sandbox_backend>{sandbox_backend::landlock, {layer::command_line, {}, 0}};
    const auto forbidden = w.load(given);
    CHECK(forbidden.settings.backend.value == sandbox_backend::none);
    CHECK(mentions(forbidden.warnings, "`landlock` of command line is not allowed"));
  }

  TEST_CASE("§68 a backend that nobody has, or that a requirement asks for, is an error") {
    for (const auto* text : {"[sandbox]\nbackend = \"bubblewrap\"\n", "[sandbox]\nbackend = 1\n",
                             "[sandbox]\nbackend = \"none\"\n"}) {
      const world w;
      w.user(text);
      CHECK_FALSE(load_settings(w.where, w.root, {}));
    }
    const world w;
    w.required("[sandbox]\nbackend = \"landlock\"\n");
    CHECK_FALSE(load_settings(w.where, w.root, {}));
  }

  TEST_CASE("§43 a project cannot turn never into questions or untrusted into never") {
    const world w;
    w.trust();
    w.user("approval_policy = 'never'");
    w.project("approval_policy = 'on-request'");
    CHECK(w.load().settings.approval.value.mode == approval_mode::never);
    w.user("approval_policy = 'untrusted'");
    w.project("approval_policy = 'never'");
    CHECK(w.load().settings.approval.value.mode == approval_mode::untrusted);
  }

  TEST_CASE(
      "§43 a project's own profile must stay within the default below it, also when asked for") {
    const world w;
    w.trust();
    w.project(R"(
default_permissions = "quiet"
[permissions.quiet]
extends = "read-only"
[permissions.quiet.filesystem]
"/srv/secret" = "deny"
[permissions.wide.filesystem]
":root" = "write"
)");
    const auto loaded = w.load();
    CHECK(loaded.settings.default_permissions.value == "quiet");
    const auto wide = w.profile(loaded, "wide");
    REQUIRE_FALSE(wide);
    CHECK(wide.error().message.find("a project may only tighten") != std::string::npos);
  }

  TEST_CASE("§43 a project cannot redefine the user's profile") {
    const world w;
    w.trust();
    w.user("[permissions.ci.filesystem]\n\":root\" = \"read\"\n");
    w.project("[permissions.ci.filesystem]\n\":root\" = \"write\"\n");
    const auto loaded = w.load();
    CHECK(mentions(loaded.warnings, "the profile `ci` is left"));
    const auto ci = w.profile(loaded, "ci");
    REQUIRE(ci);
    CHECK(ci->profile.file_system.entries.front().access == access::read);
  }

  TEST_CASE("§43 requirements win over the command line") {
    const world w;
    w.required(R"(
allowed_approval_policies = ["untrusted"]
allowed_profiles = ["read-only"]
allow_login_shell = false
[rules]
default_sandbox = "keep"
)");
    const auto loaded = w.load(on_command_line(approval_mode::never));
    CHECK(loaded.settings.approval.value.mode == approval_mode::untrusted);
    CHECK(loaded.settings.approval.from.from == layer::requirements);
    CHECK(loaded.settings.default_permissions.value == "read-only");
    CHECK_FALSE(loaded.settings.allow_login_shell.value);
    CHECK(loaded.settings.default_rule_sandbox.value == policy::rule_sandbox::keep);
    CHECK(loaded.warnings.size() == 2);
    CHECK_FALSE(w.profile(loaded, "workspace-write"));
    CHECK(w.profile(loaded, ":read-only"));
    CHECK_FALSE(constrain_profile(loaded.settings, danger_full_access_profile()));
    CHECK(constrain_profile(loaded.settings, read_only_profile()));
  }

  TEST_CASE("§43 a requirement never relaxes: allowed login shells do not switch them on") {
    const world w;
    w.user("allow_login_shell = false");
    w.required("allow_login_shell = true");
    CHECK_FALSE(w.load().settings.allow_login_shell.value);
  }

  TEST_CASE("an allowed profile name limits nothing when the user defines what it means") {
    const world w;
    w.required("allowed_profiles = ['ci', 'read-only']");
    w.user("default_permissions = 'ci'\n[permissions.ci.filesystem]\n\":root\" = \"write\"\n");
    const auto loaded = w.load();
    CHECK_FALSE(w.profile(loaded, "ci"));
    w.system("[permissions.ci.filesystem]\n\":root\" = \"write\"\n");
    w.user("");
    CHECK(w.profile(w.load(), "ci"));
  }

  TEST_CASE("§62 denied reads of requirements stand in every profile, full access too") {
    const world w;
    w.required("[permissions.filesystem]\ndeny_read = ['/srv/secret']\n");
    w.user("[permissions.p.filesystem]\n\":root\" = \"read\"\n\"/srv/secret/open\" = \"write\"\n");
    const auto loaded = w.load();
    for (const auto* name : {"read-only", "workspace-write", "danger-full-access", "p"}) {
      const auto profile = w.profile(loaded, name);
      REQUIRE(profile);
      CHECK(profile->profile.kind == profile_kind::managed);
      CHECK(has_denied_reads(profile->profile));
      for (const auto& e : profile->profile.file_system.entries)
        CHECK(e.path != profile_path{literal_path{"/srv/secret/open"}});
    }
    CHECK_FALSE(
        constrain_profile(loaded.settings, permission_profile{profile_kind::external, {}, {}}));
  }

  TEST_CASE("the user's own state folder does not make the home folder a project") {
    const world w;
    w.user("");
    const auto loaded = load_settings(w.where, w.where.user_home);
    REQUIRE(loaded);
    CHECK_FALSE(loaded->project.has_folder);
    CHECK(loaded->warnings.empty());
  }

  TEST_CASE("a project is found from a folder inside it, and trust is of exactly its root") {
    const world w;
    w.trust();
    std::filesystem::create_directories(w.root + "/a/b");
    std::filesystem::create_directories(w.root + "/clone/.git");
    w.base.write("home/project/clone/.gatehouse/config.toml", "");
    CHECK(find_project(w.where, w.root + "/a/b")->trusted);
    const auto clone = find_project(w.where, w.root + "/clone");
    REQUIRE(clone);
    CHECK(clone->root == w.root + "/clone");
    CHECK_FALSE(clone->trusted);
  }

  TEST_CASE("a broken or unreadable file of any layer is an error with its place") {
    const world w;
    w.user("approval_policy = 1");
    CHECK(load_settings(w.where, w.root).error().message.find("config.toml:1:1:") !=
          std::string::npos);
    std::filesystem::remove(w.where.gatehouse_home + "/config.toml");
    std::filesystem::create_directory(w.where.gatehouse_home + "/config.toml");
    CHECK(load_settings(w.where, w.root).error().code == errc::io);
    std::filesystem::remove(w.where.gatehouse_home + "/config.toml");
    std::filesystem::create_symlink("nowhere", w.where.gatehouse_home + "/config.toml");
    CHECK(load_settings(w.where, w.root).error().code == errc::io);
  }

  TEST_CASE("extends: the child's keys override, full access cannot be extended") {
    const world w;
    w.user(R"(
[permissions.a]
extends = "workspace-write"
workspace_roots = { "/srv/lib" = true, "sub" = true, "/off" = false }
[permissions.a.filesystem]
":slash_tmp" = "read"
":workspace_roots" = { "**/*.env" = "deny" }
[permissions.a.network]
enabled = true
[permissions.b]
extends = "a"
network = { enabled = false }
[permissions.z]
extends = ":danger-full-access"
)");
    const auto loaded = w.load();
    const auto b = w.profile(loaded, "b");
    REQUIRE(b);
    CHECK(b->profile.network == network_policy::restricted);
    CHECK(b->project_roots == std::vector<std::string>{w.root, "/srv/lib", w.root + "/sub"});
    int slash_tmp = 0;
    std::vector<std::string> globs;
    for (const auto& e : b->profile.file_system.entries) {
      if (describe(e.path) == ":slash_tmp") {
        ++slash_tmp;
        CHECK(e.access == access::read);
      }
      if (const auto* glob = std::get_if<glob_path>(&e.path)) globs.push_back(glob->pattern);
    }
    CHECK(slash_tmp == 1);
    CHECK(globs == std::vector<std::string>{"**/*.env"});
    CHECK_FALSE(w.profile(loaded, "z"));
    CHECK_FALSE(w.profile(loaded, "nothing"));
    CHECK_FALSE(w.profile(loaded, ":nothing"));
  }

  TEST_CASE("profiles that extend each other were accepted while nobody used them") {
    for (const auto& [text, chain] : std::vector<std::pair<std::string, std::string>>{
             {"[permissions.x]\n  extends = 'x'\n", "x -> x"},
             {"[permissions.x]\n  extends = 'y'\n[permissions.y]\nextends = 'x'\n", "x -> y -> x"},
             {"[permissions.a]\nextends = 'x'\n[permissions.x]\n  extends = 'x'\n", "x -> x"}}) {
      const world w;
      w.user(text);
      const auto loaded = load_settings(w.where, w.root, {});
      REQUIRE_FALSE(loaded);
      INFO(loaded.error().message);
      CHECK(loaded.error().code == errc::invalid_config);
      CHECK(loaded.error().message.find("permission profiles extend each other: " + chain) !=
            std::string::npos);
      CHECK(loaded.error().message.find(
                "config.toml:" + std::string{text[13] == 'a' ? "4:" : "2:"}) != std::string::npos);
    }
  }
}
