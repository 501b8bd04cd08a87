#include "config/rule_loader.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include <sys/stat.h>

using namespace gatehouse;
using namespace gatehouse::config;

namespace {

struct world {
  tests::temp_folder base;
  locations where{base / "home", base / "home/.gatehouse", base / "etc", base / "state"};
  std::string root = base / "home/project";

  world() {
    std::filesystem::create_directories(root + "/.git");
    base.write("home/.gatehouse/trust.toml", "trusted = [\"" + root + "\"]\n");
  }
  void rules(std::string_view name, std::string_view text) const { base.write(name, text); }
  [[nodiscard]] result<loaded_rules> try_load(rule_load_options how = {}) const {
    const auto settings = load_settings(where, root);
    REQUIRE_MESSAGE(settings.has_value(), settings.error().message);
    how.cwd = root;
    return load_rules(where, *settings, how);
  }
  [[nodiscard]] loaded_rules load(const rule_load_options& how = {}) const {
    auto loaded = try_load(how);
    REQUIRE_MESSAGE(loaded.has_value(), loaded.error().message);
    return std::move(*loaded);
  }
};

std::vector<std::string> files_matching(const loaded_rules& loaded, const std::string& program) {
  const std::string argv[] = {program};
  std::vector<std::string> files;
  for (const auto& match : loaded.rules->match(argv, false, "/", "/"))
    files.push_back(match.rule->where.file);
  return files;
}

bool mentions(const loaded_rules& loaded, std::string_view text) {
  return std::any_of(loaded.warnings.begin(), loaded.warnings.end(),
                     [&](const auto& w) { return w.find(text) != std::string::npos; });
}

constexpr std::string_view forbid_x = "prefix_rule(pattern=['x'], decision='forbidden')\n";
constexpr std::string_view allow_x = "prefix_rule(pattern=['x'])\n";

} // namespace

TEST_SUITE("config.rule_loader") {
  TEST_CASE("§43 layers load from the lowest to the highest, files of a layer by name") {
    const world w;
    w.rules("etc/rules/s.rules", forbid_x);
    w.rules("home/.gatehouse/rules/b.rules", forbid_x);
    w.rules("home/.gatehouse/rules/a.rules", forbid_x);
    w.rules("home/.gatehouse/rules/.hidden.rules", forbid_x);
    w.rules("home/project/.gatehouse/rules/p.rules", forbid_x);
    w.rules("extra", forbid_x);
    w.rules("etc/requirements.toml",
            "rules = { prefix_rules = [{ pattern = [{ token = 'x' }], decision = 'prompt' }] }");
    const auto user = w.where.gatehouse_home + "/rules/";
    CHECK(files_matching(w.load({.files = {w.base / "extra"}}), "x") ==
          std::vector<std::string>{w.where.system + "/rules/s.rules", user + ".hidden.rules",
                                   user + "a.rules", user + "b.rules",
                                   w.root + "/.gatehouse/rules/p.rules", w.base / "extra",
                                   w.where.system + "/requirements.toml"});
    CHECK(files_matching(w.load({.user_and_project = false}), "x").size() == 2);
    CHECK(files_matching(w.load({.configured = false}), "x").size() == 1);
  }

  TEST_CASE("§43 only *.rules files directly in the folder count, links to files are followed") {
    const world w;
    const std::string user = "home/.gatehouse/rules/";
    for (const auto* name : {"x.RULES", ".rules", "rules", "x.rules.bak", "deep/x.rules"})
      w.rules(user + name, forbid_x);
    std::filesystem::create_directory(w.base / (user + "folder.rules"));
    CHECK(files_matching(w.load(), "x").empty());
    w.rules("elsewhere", forbid_x);
    std::filesystem::create_symlink(w.base / "elsewhere", w.base / (user + "link.rules"));
    const auto loaded = w.load();
    CHECK(files_matching(loaded, "x").size() == 1);
    CHECK(mentions(loaded, "link.rules is a link"));
  }

  TEST_CASE("§43 rules of an untrusted project are left out") {
    const world w;
    w.rules("home/project/.gatehouse/rules/p.rules", forbid_x);
    w.base.write("home/.gatehouse/trust.toml", "");
    CHECK(files_matching(w.load(), "x").empty());
  }

  TEST_CASE("§43 a trusted project cannot allow, only tighten") {
    const world w;
    w.rules("home/project/.gatehouse/rules/p.rules",
            "prefix_rule(pattern=['x'])\nprefix_rule(pattern=['y'], decision='prompt')\n");
    const auto loaded = w.load();
    CHECK(files_matching(loaded, "x").empty());
    CHECK(files_matching(loaded, "y").size() == 1);
    CHECK(mentions(loaded, "1 allow rules are not honoured"));
  }

  TEST_CASE("§44 §D7 a broken file warns, loses its allows and keeps its restrictions") {
    const world w;
    w.rules("home/.gatehouse/rules/good.rules", "prefix_rule(pattern=['good'])\n");
    w.rules("home/.gatehouse/rules/bad.rules",
            "prefix_rule(pattern=['x'])\nprefix_rule(pattern=['y'], decision='forbidden')\n"
            "prefix_rule(pattern=[])\n");
    const auto loaded = w.load();
    CHECK(files_matching(loaded, "good").size() == 1);
    CHECK(files_matching(loaded, "x").empty());
    CHECK(files_matching(loaded, "y").size() == 1);
    CHECK(mentions(loaded, "bad.rules:3:"));
    CHECK_FALSE(loaded.rules->has_unreadable_file());
  }

  TEST_CASE("§44 §D7 a broken file of which no restriction was read is said to keep them") {
    const world w;
    SUBCASE("some were read") {
      w.rules("home/.gatehouse/rules/bad.rules",
              "prefix_rule(pattern=['y'], decision='forbidden')\nprefix_rule(pattern=[])\n");
      const auto loaded = w.load();
      CHECK(mentions(loaded, "the restrictions that could be read stay, until"));
      CHECK_FALSE(loaded.rules->has_unreadable_file());
    }
    SUBCASE("none was read") {
      w.rules("home/.gatehouse/rules/bad.rules", "prefix_rule(['mf'], decison='forbidden')\n");
      const auto loaded = w.load();
      CHECK(mentions(loaded, "no restriction of it was read"));
      CHECK(mentions(loaded, "every command that no rule matches asks, until") ==
            loaded.rules->has_unreadable_file());
      CHECK(loaded.rules->has_unreadable_file());
    }
  }

  TEST_CASE("§D7 a file that cannot be read makes unmatched commands prompt") {
    const world w;
    const std::string user = "home/.gatehouse/rules/";
    SUBCASE("invalid UTF-8") {
      w.rules(user + "x.rules", "# \xff\n");
    }
    SUBCASE("a dangling link") {
      std::filesystem::create_directories(w.base / user);
      std::filesystem::create_symlink("nowhere", w.base / (user + "x.rules"));
    }
    SUBCASE("a pipe") {
      std::filesystem::create_directories(w.base / user);
      REQUIRE(::mkfifo((w.base / (user + "x.rules")).c_str(), 0600) == 0);
    }
    SUBCASE("too large") {
      w.rules(user + "x.rules", std::string(policy::largest_rule_file + 1, '#'));
    }
    const auto loaded = w.load();
    CHECK(loaded.rules->has_unreadable_file());
    CHECK(mentions(loaded, "x.rules cannot be read"));
  }

  TEST_CASE("§41 weakness 19: an allow for an interpreter or a wrapper is warned about") {
    const world w;
    w.rules("etc/rules/s.rules", "prefix_rule(['sh', '-c'])\n"
                                 "prefix_rule(['python3'], sandbox='keep')\n"
                                 "prefix_rule(['cargo', 'test'])\n");
    const auto loaded = w.load();
    REQUIRE(loaded.warnings.size() == 1);
    CHECK(loaded.warnings[0].find("s.rules:1:") != std::string::npos);
    CHECK(loaded.warnings[0].find("`sh -c`") != std::string::npos);
  }

  TEST_CASE("§44 a rules folder that cannot be read, or a missing --rules file, is an error") {
    const world w;
    CHECK_FALSE(w.try_load({.files = {w.base / "missing"}}));
    w.rules("home/.gatehouse/rules", "a file");
    const auto failed = w.try_load();
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code == errc::io);
    CHECK(failed.error().message.find("/rules") != std::string::npos);
  }

  TEST_CASE("§D4 rules.default_sandbox = keep holds for every layer's allow") {
    const world w;
    w.rules("home/.gatehouse/config.toml", "[rules]\ndefault_sandbox = 'keep'\n");
    w.rules("home/.gatehouse/rules/u.rules", allow_x);
    const auto loaded = w.load();
    const std::string argv[] = {"x"};
    const auto matches = loaded.rules->match(argv, false, "/", "/");
    REQUIRE(matches.size() == 1);
    CHECK(matches[0].rule->sandbox == policy::rule_sandbox::keep);
  }
}
