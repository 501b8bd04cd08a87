#include "actors/grants.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

policy::access_context context() {
  policy::access_context c;
  c.cwd = "/repo";
  c.project_roots = {"/repo"};
  c.protected_names = policy::default_protected_names();
  return c;
}

profile_entry entry(std::string path, gatehouse::access a) {
  return {literal_path{std::move(path)}, a, false};
}

additional_permissions overlay(std::vector<profile_entry> entries, bool network = false) {
  additional_permissions o;
  o.entries = std::move(entries);
  if (network) o.network_enabled = true;
  return o;
}

permission_grant grant(grant_scope scope, std::string turn, additional_permissions p) {
  return {0, "local", scope, std::move(turn), std::move(p)};
}

proposal call(sandbox_permissions mode, std::optional<additional_permissions> o = {}) {
  proposal p;
  p.argv = {"make"};
  p.cwd = "/repo";
  p.sandbox_permissions = mode;
  p.additional_permissions = std::move(o);
  return p;
}

} // namespace

TEST_SUITE("actors.grants") {
  TEST_CASE("§15 a grant of a turn ends with it, one of the session does not") {
    grant_store store;
    store.add(grant(grant_scope::turn, "t1", overlay({entry("/a", gatehouse::access::write)})));
    store.add(
        grant(grant_scope::session, "t1", overlay({entry("/b", gatehouse::access::read)}, true)));
    CHECK(store.effective("local", "t1").entries.size() == 2);
    CHECK(store.effective("local", "t2") == overlay({entry("/b", gatehouse::access::read)}, true));
    CHECK(store.effective("other", "t1").empty());
    store.end_turn("t1");
    CHECK(store.list().size() == 1);
    CHECK(store.effective("local", "t1") == overlay({entry("/b", gatehouse::access::read)}, true));
  }

  TEST_CASE("§15 grants can be listed and revoked, and what grants nothing is not kept") {
    grant_store store;
    CHECK(store.add(grant(grant_scope::session, "t", {})) == 0);
    CHECK(store.add(grant(grant_scope::session, "t",
                          overlay({entry("/a", gatehouse::access::deny)}))) == 0);
    const auto id = store.add(grant(grant_scope::session, "t", overlay({}, true)));
    REQUIRE(store.list().size() == 1);
    CHECK(store.list()[0].id == id);
    CHECK(store.revoke(id));
    CHECK_FALSE(store.revoke(id));
    CHECK(store.effective("local", "t").empty());
  }

  TEST_CASE("§15 a call that asks for nothing gets the grants, pre-approved") {
    const auto granted = overlay({entry("/a", gatehouse::access::write)});
    const auto merged = merge_grants(call(sandbox_permissions::use_default), granted, context());
    CHECK(merged.preapproved);
    CHECK(merged.what.sandbox_permissions == sandbox_permissions::with_additional_permissions);
    CHECK(merged.what.additional_permissions == granted);
  }

  TEST_CASE("§15 a request wholly inside the grants is pre-approved, a wider one is not") {
    const auto granted = overlay({entry("/a", gatehouse::access::write)});
    const auto mode = sandbox_permissions::with_additional_permissions;
    const auto inside =
        merge_grants(call(mode, overlay({entry("/a/b", access::read)})), granted, context());
    CHECK(inside.preapproved);
    CHECK(inside.what.additional_permissions->entries.size() == 2);
    for (const auto& wider :
         {overlay({entry("/b", gatehouse::access::read)}),
          overlay({entry("/a/b", access::read)}, true), overlay({entry("/a/.git", access::write)}),
          overlay({entry("/", gatehouse::access::read)})})
      CHECK_FALSE(merge_grants(call(mode, wider), granted, context()).preapproved);
  }

  TEST_CASE("§16 no grant satisfies require_escalated, and it is not widened either") {
    const auto granted = overlay({entry("/", gatehouse::access::write)}, true);
    const auto asked = call(sandbox_permissions::require_escalated);
    const auto merged = merge_grants(asked, granted, context());
    CHECK_FALSE(merged.preapproved);
    CHECK(merged.what == asked);
  }

  TEST_CASE("§14 a grant mends no malformed request") {
    const auto granted = overlay({entry("/a", gatehouse::access::write)});
    const auto without_mode = call(sandbox_permissions::use_default, granted);
    CHECK(merge_grants(without_mode, granted, context()).what == without_mode);
    const auto empty = call(sandbox_permissions::with_additional_permissions);
    const auto merged = merge_grants(empty, granted, context());
    CHECK(merged.what == empty);
    CHECK_FALSE(merged.preapproved);
  }

  TEST_CASE("§15 without grants nothing changes") {
    const auto asked = call(sandbox_permissions::use_default);
    const auto merged = merge_grants(asked, {}, context());
    CHECK(merged.what == asked);
    CHECK_FALSE(merged.preapproved);
  }

  TEST_CASE("§16a the reviewer may grant less than was asked, never more") {
    const auto asked = overlay({entry("/a", gatehouse::access::write)}, true);
    const auto part = [&](const additional_permissions& given) {
      return granted_part(asked, given, read_only_profile(), context());
    };
    CHECK(part(asked) == asked);
    CHECK(part(overlay({entry("/a", gatehouse::access::read)})) ==
          overlay({entry("/a", gatehouse::access::read)}));
    CHECK(part(overlay({}, true)) == overlay({}, true));
    CHECK(part(overlay({entry("/b", gatehouse::access::write)})).empty());
    CHECK(part(overlay({entry("/", gatehouse::access::write)}, true)) == asked);
    CHECK(part({}).empty());
    CHECK(part(overlay({entry("/a", gatehouse::access::deny)})).empty());
  }

  TEST_CASE("§16a what the profile denies is not granted") {
    auto profile = read_only_profile();
    profile.file_system.entries.push_back(entry("/secret", gatehouse::access::deny));
    const auto asked =
        overlay({entry("/secret/x", access::read), entry("/a", gatehouse::access::write)});
    CHECK(granted_part(asked, asked, profile, context()) ==
          overlay({entry("/a", gatehouse::access::write)}));
    const auto only_secret = overlay({entry("/secret/x", access::read)});
    CHECK(granted_part(only_secret, only_secret, profile, context()).empty());
  }

  TEST_CASE("§16a a grant does not move with the working folder") {
    additional_permissions roots;
    roots.entries.push_back(
        {special_path{special_kind::project_roots, {}, {}}, access::write, false});
    CHECK(granted_part(roots, roots, read_only_profile(), context()) ==
          overlay({entry("/repo", gatehouse::access::write)}));
  }

  TEST_CASE("§16a who may be asked for permissions follows the approval policy") {
    const auto may = [](approval_mode mode, bool switched_on = false) {
      approval_policy p;
      p.mode = mode;
      p.granular.request_permissions = switched_on;
      return may_request_permissions(p);
    };
    CHECK(may(approval_mode::on_request));
    CHECK(may(approval_mode::untrusted));
    CHECK(may(approval_mode::granular, true));
    CHECK_FALSE(may(approval_mode::granular, false));
    CHECK_FALSE(may(approval_mode::never, true));
  }

  TEST_CASE("§63 a grant opened what is protected, whatever name led there") {
    permission_profile profile = workspace_write_profile();
    auto c = context();
    c.protected_paths = {"/home/me/.gatehouse", "/state/gatehouse"};
    for (const std::string path :
         {"/repo/.git", "/repo/.git/hooks", "/home/me/.gatehouse", "/home/me/.gatehouse/rules",
          "/state/gatehouse/tokens", "/srv/.ssh", "/srv/other/.git/config"}) {
      CAPTURE(path);
      const auto open = without_protected(
          overlay({entry(path, access::write), entry("/srv/out", access::write)}), profile, c);
      CHECK(open.permissions == overlay({entry("/srv/out", access::write)}));
      REQUIRE(open.closed.size() == 1);
      CHECK(open.closed[0].find("write " + path + " (protected ") == 0);
    }
    for (const std::string path : {"/repo/src", "/srv", "/repo/.github"})
      CHECK(without_protected(overlay({entry(path, access::write)}), profile, c).closed.empty());
    CHECK(
        without_protected(overlay({entry("/repo/.git", access::read)}), profile, c).closed.empty());
  }

  TEST_CASE("§15 a grant is bound to no name that commands may give to something else") {
    const permission_profile profile = workspace_write_profile();
    CHECK(needed_part(overlay({entry("/repo/gd/x", access::write)}), profile, context()).empty());
    CHECK(needed_part(
              overlay({entry("/srv", gatehouse::access::write), entry("/srv/a", access::write)}),
              profile, context()) == overlay({entry("/srv", gatehouse::access::write)}));
    const auto kept =
        overlay({entry("/srv", gatehouse::access::write), entry("/srv/a", access::deny)}, true);
    CHECK(needed_part(kept, profile, context()) == kept);
    const auto git = overlay({entry("/repo/.git", access::write)});
    CHECK(needed_part(git, profile, context()) == git);
  }
}
