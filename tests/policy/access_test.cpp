#include "policy/access.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gatehouse;
using policy::access_context;
using policy::evaluate_access;

namespace {

access_context context() {
  access_context c;
  c.cwd = "/w";
  c.project_roots = {"/w"};
  c.tmpdir = "/t";
  c.protected_names = policy::default_protected_names();
  return c;
}

profile_entry path(std::string p, access a) {
  return {literal_path{std::move(p)}, a, false};
}
profile_entry glob(std::string p) {
  return {glob_path{std::move(p)}, access::deny, false};
}
profile_entry special(special_kind k, access a, std::string subpath = {}) {
  return {special_path{k, std::move(subpath), {}}, a, false};
}

permission_profile managed(std::vector<profile_entry> entries) {
  permission_profile p;
  p.file_system.entries = std::move(entries);
  return p;
}

permission_profile workspace_with(std::vector<profile_entry> more) {
  auto p = workspace_write_profile();
  p.file_system.entries.insert(p.file_system.entries.end(), more.begin(), more.end());
  return p;
}

access granted(const permission_profile& p, std::string_view at) {
  return evaluate_access(p, context(), at).granted;
}

} // namespace

TEST_SUITE("policy.access") {
  TEST_CASE("§130 read-only reads everything and writes nothing") {
    for (auto at : {"/", "/w/f", "/etc/passwd", "/tmp/x", "/t/x"})
      CHECK(granted(read_only_profile(), at) == access::read);
  }

  TEST_CASE("§130 workspace-write writes the roots, $TMPDIR and /tmp, and nothing else") {
    const auto p = workspace_write_profile();
    for (auto at : {"/w", "/w/f", "/w/a/b", "/t/x", "/tmp/x"})
      CHECK(granted(p, at) == access::write);
    for (auto at : {"/", "/wx", "/etc/passwd", "/home/u/.bashrc"})
      CHECK(granted(p, at) == access::read);
  }

  TEST_CASE("§130 disabled, external and unrestricted profiles answer write for everything") {
    permission_profile p = danger_full_access_profile();
    CHECK(granted(p, "/etc/passwd") == access::write);
    p.kind = profile_kind::external;
    CHECK(granted(p, "/w/.git/config") == access::write);
    p = managed({path("/x", access::deny)});
    p.file_system.restricted = false;
    CHECK(granted(p, "/x") == access::write);
  }

  TEST_CASE("§61 nothing is granted where no entry speaks") {
    const auto answer = evaluate_access(managed({}), context(), "/w/f");
    CHECK(answer.granted == access::deny);
    CHECK(answer.decided_by == "no entry");
    CHECK_FALSE(answer.entry.has_value());
    CHECK(granted(managed({path("/a", access::read)}), "/ab") == access::deny);
  }

  TEST_CASE("§62 on the same path deny beats write beats read, whatever the order") {
    std::vector<profile_entry> entries{path("/x", access::read), path("/x", access::write),
                                       path("/x", access::deny)};
    CHECK(granted(managed(entries), "/x/f") == access::deny);
    std::reverse(entries.begin(), entries.end());
    CHECK(granted(managed(entries), "/x/f") == access::deny);
    entries.erase(entries.begin());
    CHECK(granted(managed(entries), "/x/f") == access::write);
  }

  TEST_CASE("§62 the more specific entry wins: written, protected and written again") {
    const auto p =
        workspace_with({path("/w/docs", access::read), path("/w/docs/gen", access::write),
                        path("/w/docs/gen/key", access::deny)});
    CHECK(granted(p, "/w/docs/a") == access::read);
    CHECK(granted(p, "/w/docs/gen/a") == access::write);
    CHECK(granted(p, "/w/docs/gen/key/a") == access::deny);
  }

  TEST_CASE("§62 a read below a denied folder is reopened") {
    const auto p =
        workspace_with({path("/w/priv", access::deny), path("/w/priv/child", access::read)});
    CHECK(granted(p, "/w/priv/s") == access::deny);
    CHECK(granted(p, "/w/priv/child/s") == access::read);
  }

  TEST_CASE("§62 a root that is /tmp itself is one path, not two") {
    auto c = context();
    c.tmpdir = "/tmp";
    CHECK(evaluate_access(workspace_with({path("/tmp", access::deny)}), c, "/tmp/x").granted ==
          access::deny);
  }

  TEST_CASE("§61 a path is judged by what it says once dots are resolved") {
    CHECK(granted(managed({path("/a/../b/", access::read)}), "/b/f") == access::read);
  }

  TEST_CASE("§63 §D14 protected names keep the write of the root away, reading stays") {
    const auto p = workspace_write_profile();
    for (const auto& name : policy::default_protected_names()) {
      CAPTURE(name);
      for (const auto* root : {"/w/", "/tmp/", "/t/"}) {
        const auto at = root + name;
        const auto answer = evaluate_access(p, context(), at);
        CHECK(answer.granted == access::read);
        CHECK(answer.is_protection);
        CHECK(answer.decided_by == "protected name `" + name + "`");
        CHECK(granted(p, at + "/below") == access::read);
      }
      // Deeper down they count where somebody watches (nested_roots).
      CHECK(granted(p, "/w/sub/" + name) == access::write);
      auto watched = context();
      watched.nested_roots = {"/w"};
      const auto deep = evaluate_access(p, watched, "/w/sub/" + name + "/below");
      CHECK(deep.granted == access::read);
      CHECK(deep.decided_by == "protected name `" + name + "`");
      CHECK(evaluate_access(p, watched, "/w/node_modules/a/" + name).granted == access::write);
      const auto opened = workspace_with({path("/w/sub/" + name, access::write)});
      CHECK(evaluate_access(opened, watched, "/w/sub/" + name + "/below").granted == access::write);
      const auto nested = policy::find_protected_name(policy::default_protected_names(), "/w",
                                                      "/w/a/b/" + name + "/below");
      REQUIRE(nested);
      CHECK(nested->path == "/w/a/b/" + name);
      CHECK_FALSE(policy::find_protected_name(policy::default_protected_names(), "/w",
                                              "/w/node_modules/package/" + name));
    }
    CHECK(granted(p, "/w/.gitignore") == access::write);
    CHECK(granted(p, "/w/.github/workflows/ci.yml") == access::write);
  }

  TEST_CASE("§63 an explicit write entry at or below a protected name opens just that") {
    CHECK(granted(workspace_with({path("/w/.git", access::write)}), "/w/.git/config") ==
          access::write);
    const auto hooks = workspace_with({path("/w/.git/hooks", access::write)});
    CHECK(granted(hooks, "/w/.git/hooks/x") == access::write);
    CHECK(granted(hooks, "/w/.git/config") == access::read);
    CHECK(granted(hooks, "/tmp/.git/hooks/x") == access::read);
    const auto by_special =
        workspace_with({special(special_kind::project_roots, access::write, ".git")});
    CHECK(granted(by_special, "/w/.git/index") == access::write);
  }

  TEST_CASE("§62 an opened protection can be narrowed again") {
    const auto p =
        workspace_with({path("/w/.git", access::write), path("/w/.git/hooks", access::read)});
    CHECK(granted(p, "/w/.git/index") == access::write);
    CHECK(granted(p, "/w/.git/hooks/x") == access::read);
  }

  TEST_CASE("§63 every writable root protects, also one inside another") {
    auto c = context();
    c.project_roots = {"/tmp/w"};
    CHECK(evaluate_access(workspace_write_profile(), c, "/tmp/w/.git/config").granted ==
          access::read);
    CHECK(evaluate_access(workspace_write_profile(), c, "/tmp/.git/config").granted ==
          access::read);
  }

  TEST_CASE("§63 a protected name never widens what another entry denies") {
    const auto p = workspace_with({path("/w/.git/secret", access::deny)});
    CHECK(granted(p, "/w/.git/secret/x") == access::deny);
  }

  TEST_CASE("§63 paths that this host protects are read-only until an entry names them") {
    auto c = context();
    c.protected_paths = {"/w/vendor/sub/.git", "/w/state"};
    auto p = workspace_write_profile();
    const auto answer = evaluate_access(p, c, "/w/vendor/sub/.git/hooks/x");
    CHECK(answer.granted == access::read);
    CHECK(answer.is_protection);
    CHECK(answer.decided_by == "protected path `/w/vendor/sub/.git`");
    p = workspace_with({path("/w/vendor/sub/.git", access::write)});
    CHECK(evaluate_access(p, c, "/w/vendor/sub/.git/index").granted == access::write);
    CHECK(evaluate_access(p, c, "/w/state/x").granted == access::read);
  }

  TEST_CASE("§61 specials resolve to this call's places, unknown ones to none") {
    CHECK(granted(managed({special(special_kind::minimal, access::read)}), "/usr/bin/env") ==
          access::read);
    CHECK(granted(managed({special(special_kind::minimal, access::read)}), "/home/u") ==
          access::deny);
    auto c = context();
    c.project_roots = {"/w", "/v"};
    const auto roots = managed({special(special_kind::project_roots, access::read, "docs")});
    CHECK(evaluate_access(roots, c, "/v/docs/a").granted == access::read);
    CHECK(evaluate_access(roots, c, "/v/src/a").granted == access::deny);
    c.tmpdir.clear();
    c.slash_tmp_is_directory = false;
    CHECK(evaluate_access(workspace_write_profile(), c, "/tmp/x").granted == access::read);
    const auto unknown =
        managed({{special_path{special_kind::unknown, {}, ":later"}, access::read}});
    CHECK(granted(unknown, "/w") == access::deny);
  }

  TEST_CASE("§61 a $TMPDIR that is the root or relative grants nothing") {
    auto c = context();
    for (const auto* tmpdir : {"/", "//", "/x/..", "tmp"}) {
      c.tmpdir = tmpdir;
      CHECK(evaluate_access(workspace_write_profile(), c, "/etc/x").granted == access::read);
    }
  }

  TEST_CASE("§64 a deny glob beats every literal entry, on the path and on folders above it") {
    const auto p = workspace_with({glob("/w/**/*.env"), path("/w/a.env", access::write)});
    const auto answer = evaluate_access(p, context(), "/w/a.env");
    CHECK(answer.granted == access::deny);
    CHECK(answer.decided_by == "`/w/**/*.env` deny");
    CHECK(answer.entry == p.file_system.entries.size() - 2);
    CHECK(granted(p, "/w/deep/x.env/inner") == access::deny);
    CHECK(granted(p, "/w/x.envrc") == access::write);
  }

  TEST_CASE("§64 an invalid deny glob denies everything") {
    const auto p = workspace_with({glob("/w/[z-a]")});
    for (auto at : {"/", "/w/f", "/etc/passwd"})
      CHECK(granted(p, at) == access::deny);
    CHECK(evaluate_access(p, context(), "/w/f").decided_by == "invalid deny glob `/w/[z-a]`");
  }

  TEST_CASE("§14 a glob that grants is never read as a grant") {
    auto p = read_only_profile();
    p.file_system.entries.push_back({glob_path{"/w/**"}, access::write, false});
    CHECK(granted(p, "/w/f") == access::deny);
  }

  TEST_CASE("§8 a deny that cannot be placed on this host denies everything") {
    CHECK(granted(workspace_with({path("C:\\secret", access::deny)}), "/w/f") == access::deny);
    CHECK(
        granted(workspace_with({{special_path{special_kind::unknown, {}, ":vault"}, access::deny}}),
                "/w/f") == access::deny);
    CHECK(granted(workspace_with({path("C:\\work", access::write)}), "/C:\\work") == access::read);
  }

  TEST_CASE("BR-071 a relative deny glob holds below the cwd and below every root") {
    auto c = context();
    c.project_roots = {"/w", "/v{1}"};
    const auto p = workspace_with({glob("**/.env")});
    CHECK(evaluate_access(p, c, "/w/a/b/c/d/e/.env").granted == access::deny);
    CHECK(evaluate_access(p, c, "/v{1}/.env").granted == access::deny);
    CHECK(evaluate_access(p, c, "/srv/.env").granted == access::read);
  }

  TEST_CASE("BR-045 what a denied link points to is denied as well") {
    auto c = context();
    c.denied_paths = {"/srv/target"};
    CHECK(evaluate_access(workspace_write_profile(), c, "/srv/target/x").granted == access::deny);
  }

  TEST_CASE("§62 a root behind a link counts under both of its spellings") {
    auto c = context();
    c.project_roots = {"/link"};
    c.canonical_paths = {{"/link", "/real"}};
    const auto p = workspace_with({glob("/link/**/*.env")});
    CHECK(evaluate_access(p, c, "/real/f").granted == access::write);
    CHECK(evaluate_access(p, c, "/link/f").granted == access::write);
    CHECK(evaluate_access(p, c, "/real/.git/x").is_protection);
    CHECK(evaluate_access(p, c, "/real/a/x.env").granted == access::deny);
  }

  TEST_CASE("dots do not carry a grant out of its folder") {
    CHECK(granted(workspace_write_profile(), "/w/../etc/passwd") == access::read);
    CHECK(granted(workspace_write_profile(), "/w/a/./..//.git/config") == access::read);
  }

  TEST_CASE("a path that is not absolute is never granted") {
    CHECK(granted(workspace_write_profile(), "f") == access::deny);
    CHECK(granted(workspace_write_profile(), "") == access::deny);
  }
}
