#include "sandbox/host_paths.hpp"

#include "sandbox/plan.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::sandbox;
using tests::temp_folder;

namespace {

policy::access_context context_of(const temp_folder& scratch) {
  policy::access_context c;
  c.cwd = scratch / "w";
  c.project_roots = {c.cwd};
  c.slash_tmp_is_directory = false;
  c.protected_names = policy::default_protected_names();
  return c;
}

permission_profile workspace(std::vector<profile_entry> more = {}) {
  auto profile = workspace_write_profile();
  auto& entries = profile.file_system.entries;
  entries.insert(entries.end(), more.begin(), more.end());
  return profile;
}

profile_entry glob(std::string p) {
  return {glob_path{std::move(p)}, access::deny, false};
}

const protected_fact* find_protected(const host_facts& facts, const std::string& path) {
  const auto at = std::find_if(facts.protected_paths.begin(), facts.protected_paths.end(),
                               [&](const protected_fact& f) { return f.path == path; });
  return at == facts.protected_paths.end() ? nullptr : &*at;
}

std::vector<std::string> matched(const host_facts& facts) {
  std::vector<std::string> paths;
  for (const auto& m : facts.glob_matches)
    paths.push_back(m.path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace

TEST_SUITE("sandbox.host_paths") {
  TEST_CASE("a path is what its links lead to, and every link is remembered") {
    temp_folder s;
    s.folder("real/sub");
    s.write("real/sub/f", "x");
    s.link("real", "l1");
    s.link(s / "l1/sub", "l2");
    const auto fact = look_at(s / "l2/f");
    CHECK(fact.kind == path_kind::file);
    CHECK(fact.canonical == s / "real/sub/f");
    CHECK(fact.links == std::vector<std::pair<std::string, std::string>>{{s / "l2", s / "l1/sub"},
                                                                         {s / "l1", "real"}});
    CHECK(look_at(s / "l2/..").canonical == s / "real");
    CHECK(look_at("/").kind == path_kind::directory);
    CHECK(look_at("/").canonical == "/");
  }

  TEST_CASE("a missing path is named below the deepest folder that exists") {
    temp_folder s;
    s.folder("a");
    s.write("f", "x");
    s.link("a/gone", "l");
    s.link("loop", "loop");
    auto fact = look_at(s / "a/b/c");
    CHECK(fact.kind == path_kind::missing);
    CHECK(fact.existing_folder == s / "a");
    CHECK(fact.canonical == s / "a/b/c");
    fact = look_at(s / "l/x");
    CHECK(fact.canonical == s / "a/gone/x");
    CHECK(fact.links.size() == 1);
    CHECK(look_at(s / "f/x").kind == path_kind::missing);
    CHECK(look_at(s / "loop").kind == path_kind::missing);
  }

  TEST_CASE("§63 §D14 every protected name of a root is a fact, existing or not") {
    temp_folder s;
    s.folder("w/.git");
    s.write("w/.bashrc", "x");
    s.folder("w/real");
    s.link("real", "w/.agents");
    s.folder("w/.github");
    const auto facts = gather_host_facts(workspace(), context_of(s));
    for (const auto& name : policy::default_protected_names()) {
      CAPTURE(name);
      const auto* fact = find_protected(facts, s / "w/" + name);
      REQUIRE(fact);
      CHECK(fact->why == "protected name `" + name + "`");
    }
    CHECK(find_protected(facts, s / "w/.git")->found.kind == path_kind::directory);
    CHECK(find_protected(facts, s / "w/.bashrc")->found.kind == path_kind::file);
    CHECK(find_protected(facts, s / "w/.agents")->found.canonical == s / "w/real");
    CHECK(find_protected(facts, s / "w/.codex")->found.existing_folder == s / "w");
    CHECK(find_protected(facts, s / "w/.github/hooks")->found.existing_folder == s / "w/.github");
  }

  TEST_CASE("§63 a worktree's pointer leads to its git folder and the common one") {
    temp_folder s;
    s.folder("main/.git/worktrees/wt");
    s.write("main/.git/worktrees/wt/commondir", "../..\n");
    s.write("w/.git", "gitdir: " + s / "main/.git/worktrees/wt" + "\n");
    const auto facts = gather_host_facts(workspace(), context_of(s));
    REQUIRE(find_protected(facts, s / "main/.git"));
    CHECK(find_protected(facts, s / "main/.git")->named_elsewhere);
    auto context = context_of(s);
    context.project_roots.push_back(s.path());
    CHECK_FALSE(
        evaluate_access(workspace(), with_facts(context, facts), s / "main/.git/worktrees/wt/x")
            .granted == access::write);
  }

  TEST_CASE("BR-115 one entry for the common git folder opens a worktree's own part too") {
    temp_folder s;
    s.folder("main/.git/worktrees/wt");
    s.write("main/.git/worktrees/wt/commondir", "../..\n");
    s.write("w/.git", "gitdir: ../main/.git/worktrees/wt\n");
    const auto profile = workspace({{literal_path{s / "main/.git"}, access::write, false}});
    const auto facts = gather_host_facts(profile, context_of(s));
    CHECK(evaluate_access(profile, with_facts(context_of(s), facts),
                          s / "main/.git/worktrees/wt/index.lock")
              .granted == access::write);
  }

  TEST_CASE("§63 a pointer is resolved as the kernel does it, links before dots") {
    temp_folder s;
    s.folder("far/away");
    s.folder("far/gd");
    s.link(s / "far/away", "w/l");
    s.write("w/.git", "gitdir: l/../gd\n");
    CHECK(find_protected(gather_host_facts(workspace(), context_of(s)), s / "far/gd"));
  }

  TEST_CASE("§63 a pointer to a folder that is missing is protected all the same") {
    temp_folder s;
    s.write("w/.git", "gitdir: gd\n");
    const auto facts = gather_host_facts(workspace(), context_of(s));
    const auto* fact = find_protected(facts, s / "w/gd");
    REQUIRE(fact);
    CHECK(fact->found.kind == path_kind::missing);
    for (const char* malformed : {"gitdir:", "gitdir gd", "other: gd", ""}) {
      s.write("w/.git", malformed);
      CHECK_FALSE(find_protected(gather_host_facts(workspace(), context_of(s)), s / "w/gd"));
    }
  }

  TEST_CASE("§63 the hooks folder that a repository's configuration names is protected") {
    temp_folder s;
    s.write("w/.git/config",
            "[core]\n\tbare = false\n\tHooksPath = \".githooks\"\n[x]\n hooksPath=no\n");
    const auto facts = gather_host_facts(workspace(), context_of(s));
    CHECK(find_protected(facts, s / "w/.githooks"));
    CHECK_FALSE(find_protected(facts, s / "w/no"));
  }

  TEST_CASE("§63 a configuration too large to read is a fact, and the plan refuses") {
    temp_folder s;
    s.write("w/.git/config", "[core]\n\thooksPath = hk\n" + std::string(1024 * 1024, '#') + "\n");
    const auto facts = gather_host_facts(workspace(), context_of(s));
    REQUIRE(facts.unread_configurations.size() == 1);
    CHECK(facts.unread_configurations[0].first == s / "w/.git/config");
    CHECK(find_protected(facts, s / "w/hk"));
    const auto plan = make_mount_plan(workspace(), context_of(s), facts);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().message.find(".git/config") != std::string::npos);
  }

  TEST_CASE("§63 links in protected folders are followed in turn, and what git stores is not") {
    temp_folder s;
    s.write("w/.git/HEAD", "x");
    s.folder("w/.git/refs");
    s.link("../../objects", "w/.git/objects");
    s.link("../tools", "w/.git/hooks");
    s.link("../scripts/a", "w/tools/pre-commit");
    s.write("w/scripts/a", "x");
    s.link("settings.json", "w/.claude/other.json");
    s.link("..", "w/.claude/up");
    s.link("../x", "w/.claude/around");
    s.link(".claude/agent", "w/x");
    s.write("w/.claude/agent", "x");
    auto facts = gather_host_facts(workspace(), context_of(s));
    for (const auto* found : {"w/tools", "w/scripts/a", "w/.claude/agent"}) {
      CAPTURE(found);
      CHECK(find_protected(facts, s / found));
    }
    for (const auto* not_found : {"objects", "w/objects", "w/.claude/settings.json"}) {
      CAPTURE(not_found);
      CHECK_FALSE(find_protected(facts, s / not_found));
    }
    CHECK(facts.warnings.empty());
    walk_limits limits;
    limits.linked_entries = 2;
    facts = gather_host_facts(workspace(), context_of(s), limits);
    REQUIRE(facts.warnings.size() == 1);
    CHECK(facts.warnings[0].find("were not all followed") != std::string::npos);
  }

  TEST_CASE("§63 a root that is a bare repository protects what git executes") {
    temp_folder s;
    s.folder("w/objects");
    s.folder("w/refs");
    s.write("w/HEAD", "ref: x\n");
    s.write("w/config", "");
    const auto facts = gather_host_facts(workspace(), context_of(s));
    CHECK(find_protected(facts, s / "w/config")->found.kind == path_kind::file);
    CHECK(find_protected(facts, s / "w/hooks")->found.kind == path_kind::missing);
    CHECK_FALSE(find_protected(facts, s / "w/objects"));
  }

  TEST_CASE(
      "§D14 BR-059 nested repositories, pointers and bare ones are found below project roots") {
    temp_folder s;
    s.folder("w/vendor/sub/.git/hooks");
    s.write("w/mod/.git", "gitdir: ../gds/mod\n");
    s.folder("w/bare/objects");
    s.folder("w/bare/refs");
    s.write("w/bare/HEAD", "x");
    s.folder("w/node_modules/p/.git");
    s.folder("w/1/2/3/4/5/6/7/.vscode");
    const auto facts = gather_host_facts(workspace(), context_of(s));
    CHECK(find_protected(facts, s / "w/vendor/sub/.git"));
    CHECK(find_protected(facts, s / "w/1/2/3/4/5/6/7/.vscode"));
    CHECK(find_protected(facts, s / "w/mod/.git"));
    CHECK(find_protected(facts, s / "w/gds/mod"));
    CHECK(find_protected(facts, s / "w/bare/hooks"));
    CHECK_FALSE(find_protected(facts, s / "w/node_modules/p/.git"));
    CHECK(facts.warnings.empty());
  }

  TEST_CASE("§D14 a search for nested repositories that was cut says so") {
    temp_folder s;
    for (int i = 0; i < 20; ++i)
      s.folder("w/d" + std::to_string(i));
    walk_limits limits;
    limits.repository_entries = 10;
    const auto facts = gather_host_facts(workspace(), context_of(s), limits);
    REQUIRE(facts.warnings.size() == 1);
    CHECK(facts.warnings[0].find("first 10 entries") != std::string::npos);
  }

  TEST_CASE("BR-071 a deny glob finds hidden, deep, linked and folder matches") {
    temp_folder s;
    s.write("w/.env", "x");
    s.write("w/a/b/c/d/e/.env", "x");
    s.folder("w/dir/.env");
    s.write("w/dir/.env/below.env", "x");
    s.write("out/target", "x");
    s.write("out/ext/q/.env", "x");
    s.link(s / "out/target", "w/l/.env");
    s.link(s / "out/ext", "w/el");
    s.link("..", "w/a/up");
    const auto facts = gather_host_facts(workspace({glob("**/.env")}), context_of(s));
    CHECK(matched(facts) == std::vector<std::string>{s / "w/.env", s / "w/a/b/c/d/e/.env",
                                                     s / "w/dir/.env", s / "w/el/q/.env",
                                                     s / "w/l/.env"});
    const auto context = with_facts(context_of(s), facts);
    for (const auto* denied : {"out/target", "out/ext/q/.env", "w/l/.env"}) {
      CAPTURE(denied);
      CHECK(evaluate_access(workspace({glob("**/.env")}), context, s / denied).granted ==
            access::deny);
    }
    CHECK(facts.unexpanded_globs.empty());
  }

  TEST_CASE("a folder seen on an innocent way is searched again on a way that matches") {
    temp_folder s;
    s.write("w/a/k.env", "x");
    s.link("a", "w/secret");
    const auto facts = gather_host_facts(workspace({glob("**/secret/*.env")}), context_of(s));
    CHECK(matched(facts) == std::vector<std::string>{s / "w/secret/k.env"});
    CHECK(facts.glob_matches[0].found.canonical == s / "w/a/k.env");
  }

  TEST_CASE("§64 a path that is spelled as the pattern is denied, whatever the pattern matches") {
    temp_folder s;
    s.write("w/x[1].txt", "x");
    s.write("w/x1.txt", "x");
    const auto profile = workspace({glob("x[1].txt")});
    const auto facts = gather_host_facts(profile, context_of(s));
    CHECK(matched(facts) == std::vector<std::string>{s / "w/x1.txt", s / "w/x[1].txt"});
    CHECK(evaluate_access(profile, with_facts(context_of(s), facts), s / "w/x[1].txt").granted ==
          access::deny);
  }

  TEST_CASE("§61 a scan depth counts the levels below the literal folder") {
    temp_folder s;
    s.write("w/1.env", "x");
    s.write("w/a/2.env", "x");
    s.write("w/a/b/3.env", "x");
    auto profile = workspace({glob("**/*.env")});
    profile.file_system.glob_scan_max_depth = 1;
    CHECK(matched(gather_host_facts(profile, context_of(s))).size() == 1);
    profile.file_system.glob_scan_max_depth = 2;
    CHECK(matched(gather_host_facts(profile, context_of(s))).size() == 2);
  }

  TEST_CASE("§64 a bound that is hit leaves the glob unexpanded, never half done") {
    temp_folder s;
    for (int i = 0; i < 20; ++i)
      s.write("w/" + std::to_string(i) + ".env", "x");
    walk_limits limits;
    limits.glob_entries = 10;
    CHECK(gather_host_facts(workspace({glob("**/*.env")}), context_of(s), limits)
              .unexpanded_globs.size() == 1);
    limits = {};
    limits.glob_matches = 5;
    CHECK(gather_host_facts(workspace({glob("**/*.env")}), context_of(s), limits)
              .unexpanded_globs.size() == 1);
  }

  TEST_CASE("BR-200 many deny globs below one folder are one walk, and each finds its own") {
    temp_folder s;
    for (int i = 0; i < 20; ++i)
      s.write("w/d/" + std::to_string(i) + ".env", "x");
    std::vector<profile_entry> globs;
    for (int i = 0; i < 15; ++i)
      globs.push_back(glob("**/" + std::to_string(i) + ".env"));
    globs.push_back(glob("d")); // a folder that one pattern denies is looked through for the others
    walk_limits limits;
    limits.glob_entries = 21;
    const auto facts = gather_host_facts(workspace(globs), context_of(s), limits);
    CHECK(facts.unexpanded_globs.empty());
    CHECK(facts.glob_matches.size() == 16);
    limits.glob_entries = 20;
    CHECK(gather_host_facts(workspace(globs), context_of(s), limits).unexpanded_globs.size() == 15);
  }

  TEST_CASE("§62 a workspace behind a link counts under both spellings") {
    temp_folder s;
    s.folder("real");
    s.link("real", "w");
    const auto profile = workspace({glob("**/*.env")});
    const auto facts = gather_host_facts(profile, context_of(s));
    const auto context = with_facts(context_of(s), facts);
    CHECK(evaluate_access(profile, context, s / "real/f").granted == access::write);
    CHECK(evaluate_access(profile, context, s / "real/.git").is_protection);
    CHECK(evaluate_access(profile, context, s / "real/x.env").granted == access::deny);
  }
}
