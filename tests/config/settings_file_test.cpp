#include "config/settings_file.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

result<settings_file> read(std::string_view text) {
  return read_settings(text, "c.toml", layer::user, "/home/me");
}
std::string failure_of(std::string_view text) {
  const auto file = read(text);
  return file ? "no error" : file.error().message;
}
profile_entry entry(profile_path path, access a) {
  return {std::move(path), a, false};
}
special_path special(special_kind kind, std::string sub = {}) {
  return {kind, std::move(sub), {}};
}

} // namespace

TEST_SUITE("config.settings_file") {
  TEST_CASE("§30 §43 every key is read with the line it stands on") {
    const auto file = read(R"(
approval_policy = "untrusted"
default_permissions = ":workspace"
allow_login_shell = false
default_timeout_ms = 2500
protected_names = [".github/hooks"]
[rules]
default_sandbox = "keep"
[features]
additional_permissions = false
)");
    REQUIRE(file);
    const auto& s = file->settings;
    CHECK(s.approval->value.mode == approval_mode::untrusted);
    CHECK(s.approval->from == origin{layer::user, "c.toml", 2});
    CHECK(s.default_permissions->value == ":workspace");
    CHECK(s.allow_login_shell->value == false);
    CHECK(s.default_timeout->value == std::chrono::milliseconds{2500});
    CHECK(s.default_rule_sandbox->value == policy::rule_sandbox::keep);
    CHECK(s.additional_permissions->value == false);
    REQUIRE(s.protected_names.size() == 1);
    CHECK(describe(s.protected_names[0].from) == "user (c.toml:6)");
    CHECK(file->warnings.empty());
  }

  TEST_CASE(
      "§95 BR-202 what commands inherit and how long sessions live can be set, and nonsense is "
      "no setting") {
    const auto file = read(R"(
[environment]
inherit = "core"
include = ["PATH", "LC_*"]
exclude = ["AWS_*"]
keep = ["SENTRY_TOKEN"]
[terminals]
hard_limit_ms = 3600000
idle_limit_ms = 60000
)");
    REQUIRE(file);
    const auto& s = file->settings;
    CHECK(s.inherit_variables->value == policy::inherit_environment::core);
    CHECK(s.included_variables->value == std::vector<std::string>{"PATH", "LC_*"});
    CHECK(s.excluded_variables.front().value == "AWS_*");
    CHECK(s.terminal_hard_limit->value == std::chrono::hours{1});
    CHECK(s.terminal_idle_limit->value == std::chrono::minutes{1});
    CHECK(file->warnings.empty());
    for (const auto* wrong : {"[environment]\ninherit = 'some'", "[environment]\ninclude = []",
                              "[environment]\nexclude = ['A=B']", "[environment]\nexclude = ['']",
                              "[environment]\nexclude = 'A'", "[terminals]\nidle_limit_ms = 0",
                              "[terminals]\nhard_limit_ms = 'long'"})
      CHECK_MESSAGE(failure_of(wrong) != "no error", wrong);
  }

  TEST_CASE(
      "§30 approval policies have their names, on-failure is an old alias, granular its table") {
    CHECK(read("approval_policy = 'on-failure'")->settings.approval->value.mode ==
          approval_mode::on_request);
    const auto granular = read("approval_policy = { granular = { rules = true } }");
    REQUIRE(granular);
    CHECK(granular->settings.approval->value.mode == approval_mode::granular);
    CHECK(granular->settings.approval->value.granular == granular_switches{false, true});
    CHECK(failure_of("approval_policy = 'always'").starts_with("c.toml:1:1: `always` is not"));
    CHECK(failure_of("approval_policy = 'granular'").starts_with("c.toml:1:1:"));
    CHECK(failure_of("approval_policy = { granular = {}, x = 1 }").starts_with("c.toml:1:1:"));
  }

  TEST_CASE("§48 §49 who reviews is read whole, and a reviewer must have an absolute path") {
    const auto file = read(R"(
approvals_reviewer = "auto_review"
[auto_review]
command = ["/opt/review", "--json"]
timeout_ms = 5000
strict = true
)");
    REQUIRE(file);
    const auto& s = file->settings;
    CHECK(s.reviewer->value == approvals_reviewer::auto_review);
    CHECK(s.auto_review_command->value == std::vector<std::string>{"/opt/review", "--json"});
    CHECK(s.auto_review_command->from == origin{layer::user, "c.toml", 4});
    CHECK(s.auto_review_timeout->value == std::chrono::seconds{5});
    CHECK(s.strict_auto_review->value);
    CHECK(file->warnings.empty());
    CHECK(failure_of("approvals_reviewer = 'guardian'").starts_with("c.toml:1:1:"));
    for (const char* command : {"[]", "['review']", "['./review']", "'/opt/review'", "[1]"})
      CHECK(
          failure_of("[auto_review]\ncommand = " + std::string{command}).starts_with("c.toml:2:"));
    CHECK(failure_of("[auto_review]\ntimeout_ms = 0").starts_with("c.toml:2:1:"));
    CHECK(failure_of("[auto_review]\nstrict = 1").starts_with("c.toml:2:1:"));
  }

  TEST_CASE("an unknown key is a warning with its place, a wrong type an error") {
    const auto file = read("aproval_policy = 'never'\n[rules]\nx = 1\n");
    REQUIRE(file);
    REQUIRE(file->warnings.size() == 2);
    CHECK(file->warnings[0] == "c.toml:3:1: unknown key `rules.x` is ignored");
    CHECK(file->warnings[1] == "c.toml:1:1: unknown key `aproval_policy` is ignored");
    CHECK(failure_of("\nallow_login_shell = 'no'") ==
          "c.toml:2:1: `allow_login_shell` must be true or false, not a string");
    CHECK(failure_of("default_timeout_ms = 0").starts_with("c.toml:1:1:"));
    CHECK(failure_of("default_timeout_ms = 1.5").starts_with("c.toml:1:1:"));
    CHECK(failure_of("rules = 1").starts_with("c.toml:1:1:"));
    CHECK(failure_of("protected_names = ['/a/b']").starts_with("c.toml:1:1:"));
    CHECK(failure_of("protected_names = ['..']").starts_with("c.toml:1:1:"));
    CHECK(failure_of("[rules]\ndefault_sandbox = 'off'").starts_with("c.toml:2:1:"));
  }

  TEST_CASE("§61 a profile's keys become entries") {
    const auto file = read(R"(
[permissions.dev]
description = "d"
extends = ":read-only"
workspace_roots = { "~/lib" = true, "old" = false }
[permissions.dev.filesystem]
glob_scan_max_depth = 5
":root" = "read"
":slash_tmp" = "write"
"~/x//y/." = "write"
"/srv/**" = "write"
"/home/*/.ssh/**" = "none"
":cwd" = "read"
[permissions.dev.filesystem.":workspace_roots"]
"." = "write"
"docs/api" = "read"
"**/*.env" = "deny"
"gen/**" = "read"
[permissions.dev.filesystem."/opt/t"]
"." = "read"
"*.key" = "deny"
[permissions.dev.network]
enabled = true
)");
    REQUIRE(file);
    REQUIRE(file->settings.profiles.size() == 1);
    const auto& p = file->settings.profiles[0];
    CHECK(p.name == "dev");
    CHECK(p.extends == ":read-only");
    CHECK(p.from.line == 2);
    CHECK(p.network_enabled == true);
    CHECK(p.glob_scan_max_depth == 5u);
    const std::vector<profile_entry> expected{
        entry(special(special_kind::root), access::read),
        entry(special(special_kind::slash_tmp), access::write),
        entry(literal_path{"/home/me/x/y"}, access::write),
        entry(literal_path{"/srv"}, access::write),
        entry(glob_path{"/home/*/.ssh/**"}, access::deny),
        entry(special_path{special_kind::unknown, {}, ":cwd"}, access::read),
        entry(special(special_kind::project_roots), access::write),
        entry(special(special_kind::project_roots, "docs/api"), access::read),
        entry(glob_path{"**/*.env"}, access::deny),
        entry(special(special_kind::project_roots, "gen"), access::read),
        entry(literal_path{"/opt/t"}, access::read),
        entry(glob_path{"/opt/t/*.key"}, access::deny),
    };
    CHECK(p.entries == expected);
    REQUIRE(file->warnings.size() == 1);
    CHECK(file->warnings[0] == "c.toml:13:1: `:cwd` is not a known name and matches nothing");
  }

  TEST_CASE("§14 §64 what a profile may not say is an error with its place") {
    const auto in_files = [](const std::string& line) {
      return failure_of("[permissions.p.filesystem]\n" + line);
    };
    CHECK(in_files("\"src\" = \"read\"").starts_with("c.toml:2:1: `src` is neither absolute"));
    CHECK(in_files("\"$HOME/q\" = \"deny\"").starts_with("c.toml:2:1:"));
    CHECK(in_files("\"~me/q\" = \"deny\"").starts_with("c.toml:2:1:"));
    CHECK(in_files("\"/a/../b\" = \"read\"").starts_with("c.toml:2:1:"));
    CHECK(in_files("\"/a*\" = \"write\"") == "c.toml:2:1: the glob `/a*` may only deny");
    CHECK(in_files("\"/a\" = \"rw\"").starts_with("c.toml:2:1:"));
    CHECK(in_files("\"/a\" = 1").starts_with("c.toml:2:1:"));
    CHECK(in_files("glob_scan_max_depth = 0").starts_with("c.toml:2:1:"));
    CHECK(in_files("\":tmpdir\" = { \"x\" = \"read\" }").starts_with("c.toml:2:1:"));
    CHECK(in_files("\":workspace_roots\" = { \"../x\" = \"read\" }").starts_with("c.toml:2:"));
    CHECK(in_files("\":workspace_roots\" = { \"/x\" = \"read\" }").starts_with("c.toml:2:"));
    CHECK(in_files("\":workspace_roots\" = { \"\" = \"read\" }").starts_with("c.toml:2:"));
    CHECK(failure_of("[permissions.\":mine\"]").find("reserved") != std::string::npos);
    CHECK(failure_of("[permissions.read-only]").find("reserved") != std::string::npos);
    CHECK(failure_of("[permissions]\np = 1").starts_with("c.toml:2:1:"));
    CHECK(failure_of("[permissions.p]\nworkspace_roots = ['/a']").starts_with("c.toml:2:1:"));
  }

  TEST_CASE("a network limit that is not understood is refused where the network is on") {
    CHECK(failure_of("[permissions.p.network]\nenabled = true\nquota = 'small'")
              .starts_with("c.toml:3:1: `network.quota` is not understood"));
    const auto off = read("[permissions.p]\nextends = ':read-only'\nnetwork = { quota = 'small' }");
    REQUIRE(off);
    CHECK(off->warnings.size() == 1);
  }

  TEST_CASE("§66 §143 BR-091 the managed network of a profile, as written") {
    const auto file = read(R"([permissions.p]
extends = ":read-only"
[permissions.p.network]
enabled = true
mode = "limited"
allow_local_binding = true
[permissions.p.network.domains]
"https://OK.test/" = "allow"
"*.ok.test:8443" = "deny"
"new.test" = "prompt"
)");
    REQUIRE(file);
    const auto& network = file->settings.profiles.at(0).network;
    REQUIRE(network);
    CHECK(network->limited == true);
    CHECK(network->local_binding == true);
    REQUIRE(network->domains.size() == 3);
    CHECK(network->domains[0].pattern ==
          policy::domain_pattern{policy::domain_match::exact, "ok.test", 443});
    CHECK(network->domains[1].verdict == decision::forbidden);
    CHECK(network->domains[1].shown.find("c.toml:9") != std::string::npos);
    CHECK(network->domains[2].verdict == decision::prompt);

    const auto wrong = [](const std::string& line) {
      return failure_of("[permissions.p.network]\nenabled = true\n" + line);
    };
    CHECK(wrong("mode = 'read'").starts_with("c.toml:3:1:"));
    CHECK(wrong("domains = { 'ok.test' = 'yes' }").find("ok.test") != std::string::npos);
    CHECK(wrong("domains = { 'ok.*.test' = 'allow' }").find("wildcard") != std::string::npos);
    CHECK(wrong("domains = { '10.0.0.0/8' = 'allow' }").find("range") != std::string::npos);
    CHECK(wrong("domains = { '*' = 'deny' }").find("every host") != std::string::npos);
    CHECK(wrong("domains = ['ok.test']").starts_with("c.toml:3:1:"));
  }

  TEST_CASE("§43 requirements hold rules that only tighten") {
    const auto file = read_requirements(R"(
allowed_approval_policies = ["untrusted", { granular = { rules = true } }]
allowed_profiles = ["read-only"]
[permissions.filesystem]
deny_read = ["~/.ssh", "/srv/*/secret"]
[rules]
prefix_rules = [
  { pattern = [{ any_of = ["rm", "shred"] }, { token = "-rf" }], decision = "forbidden", justification = "no" },
  { pattern = [{ token = "git" }], decision = "prompt", reviewer = "user" },
]
)",
                                        "r.toml", "/home/me");
    REQUIRE(file);
    const auto& r = file->required;
    REQUIRE(r.rules.size() == 3);
    CHECK(r.rules[0].pattern == std::vector<std::vector<std::string>>{{"rm"}, {"-rf"}});
    CHECK(r.rules[1].pattern.front().front() == "shred");
    CHECK(r.rules[0].decision == decision::forbidden);
    CHECK(r.rules[0].justification == "no");
    CHECK(r.rules[2].layer == policy::rule_layer::requirements);
    CHECK(r.rules[2].where.line == 9);
    CHECK(r.allowed_approval_policies.size() == 2);
    REQUIRE(r.denied_reads.size() == 2);
    CHECK(r.denied_reads[0].value == entry(literal_path{"/home/me/.ssh"}, access::deny));
    CHECK(r.denied_reads[1].value == entry(glob_path{"/srv/*/secret"}, access::deny));
    REQUIRE(file->warnings.size() == 1);
    CHECK(file->warnings[0].find("reviewer") != std::string::npos);
  }

  TEST_CASE("§43 a requirement that is not understood stops everything") {
    for (const std::string_view text : {
             "allowed_profile = ['read-only']",
             "allowed_profiles = []",
             "allowed_approval_policies = 'never'",
             "allow_login_shell = 1",
             "[rules]",
             "rules = { prefix_rules = [] }",
             "rules = { prefix_rules = [{ pattern = [], decision = 'prompt' }] }",
             "rules = { prefix_rules = [{ pattern = [{ token = ' ' }], decision = 'prompt' }] }",
             "rules = { prefix_rules = [{ pattern = [{ any_of = [] }], decision = 'prompt' }] }",
             "rules = { prefix_rules = [{ pattern = [{ any_of = ['a', ''] }], decision = 'prompt' "
             "}] }",
             "rules = { prefix_rules = [{ pattern = [{}], decision = 'prompt' }] }",
             "rules = { prefix_rules = [{ pattern = [{ token = 'a', any_of = ['b'] }], decision = "
             "'prompt' }] }",
             "rules = { prefix_rules = [{ pattern = ['a'], decision = 'prompt' }] }",
             "rules = { prefix_rules = [{ pattern = [{ token = 'a' }] }] }",
             "rules = { prefix_rules = [{ pattern = [{ token = 'a' }], decision = 'allow' }] }",
             "rules = { prefix_rules = [{ pattern = [{ token = 'a' }], decision = 'prompt', "
             "justification = ' ' }] }",
             "[permissions.filesystem]\ndeny_reads = ['/x']",
             "[permissions.filesystem]\ndeny_read = ['x']",
         }) {
      CAPTURE(text);
      const auto file = read_requirements(text, "r.toml", "/home/me");
      CHECK_FALSE(file);
      if (!file) CHECK(file.error().message.starts_with("r.toml:"));
    }
  }
}
