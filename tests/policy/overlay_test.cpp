#include "policy/overlay.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

access_context context() {
  access_context c;
  c.cwd = "/w";
  c.project_roots = {"/w"};
  c.protected_names = default_protected_names();
  return c;
}

profile_entry path(std::string p, access a) {
  return {literal_path{std::move(p)}, a, false};
}
profile_entry glob(std::string p, access a = access::deny) {
  return {glob_path{std::move(p)}, a, false};
}
additional_permissions files(std::vector<profile_entry> entries) {
  return {{}, std::move(entries), {}};
}

overlay_request request(additional_permissions overlay) {
  overlay_request r;
  r.mode = sandbox_permissions::with_additional_permissions;
  r.overlay = std::move(overlay);
  return r;
}

access granted(const permission_profile& p, std::string_view at) {
  return evaluate_access(p, context(), at).granted;
}

} // namespace

TEST_SUITE("policy.overlay") {
  TEST_CASE("§14 an overlay needs its mode, its content, the feature and a policy that asks") {
    CHECK(validate_overlay({}).has_value());
    CHECK(validate_overlay(request(files({path("/x", access::write)}))).has_value());

    auto r = request(files({path("/x", access::write)}));
    for (auto mode : {sandbox_permissions::use_default, sandbox_permissions::require_escalated}) {
      r.mode = mode;
      CHECK(validate_overlay(r).error().remedy.find("with_additional_permissions") !=
            std::string::npos);
    }
    r = request(files({path("/x", access::write)}));
    r.feature_enabled = false;
    CHECK(validate_overlay(r).error().message.find("switched off") != std::string::npos);
    r = request({});
    CHECK_FALSE(validate_overlay(r).has_value());
    r.overlay.reset();
    CHECK_FALSE(validate_overlay(r).has_value());
    r = request({});
    r.mode = sandbox_permissions::use_default;
    CHECK_FALSE(validate_overlay(r).has_value());
  }

  TEST_CASE("§14 §129 only on-request asks, elsewhere only what is pre-approved passes") {
    for (auto mode : {approval_mode::untrusted, approval_mode::granular, approval_mode::never}) {
      auto r = request({true, {}, {}});
      r.approval.mode = mode;
      CHECK_FALSE(validate_overlay(r).has_value());
      r.preapproved = true;
      CHECK(validate_overlay(r).has_value());
    }
  }

  TEST_CASE("§14 a glob may only deny") {
    CHECK(validate_overlay(request(files({glob("/x/*")}))).has_value());
    const auto failed = validate_overlay(request(files({glob("/x/*", access::write)})));
    REQUIRE_FALSE(failed.has_value());
    CHECK(failed.error().message.find("`/x/*`") != std::string::npos);
  }

  TEST_CASE("§52 equal wishes become equal values") {
    CHECK(normalise_overlay(files({path("/x/../y/", access::read), path("/y", access::read)})) ==
          files({path("/y", access::read)}));
    auto with_depth = files({path("/y", access::read)});
    with_depth.glob_scan_max_depth = 3;
    CHECK(normalise_overlay(with_depth) == files({path("/y", access::read)}));
  }

  TEST_CASE("§15 merging keeps everything once, and the network when either has it") {
    const auto a = files({path("/a", access::read), path("/b", access::write)});
    const additional_permissions b{true, {path("/b", access::write), path("/c", access::read)}, {}};
    CHECK(merge_overlays(a, b) ==
          additional_permissions{
              true,
              {path("/a", access::read), path("/b", access::write), path("/c", access::read)},
              {}});
    CHECK_FALSE(merge_overlays(a, {false, {}, {}}).network_enabled.has_value());
    CHECK(merge_overlays({}, {}).empty());
  }

  TEST_CASE("§15 the merged scan depth leaves out nothing that a side with globs wants") {
    const auto with = [](std::vector<profile_entry> e, std::optional<std::uint32_t> depth) {
      return additional_permissions{{}, std::move(e), depth};
    };
    const auto none = with({path("/a", access::read)}, {});
    const auto two = with({glob("/x/*")}, 2);
    const auto five = with({glob("/y/*")}, 5);
    const auto unbounded = with({glob("/z/*")}, {});
    CHECK(merge_overlays(two, five).glob_scan_max_depth == 5U);
    CHECK(merge_overlays(none, two).glob_scan_max_depth == 2U);
    CHECK_FALSE(merge_overlays(two, unbounded).glob_scan_max_depth.has_value());
    CHECK_FALSE(merge_overlays(none, none).glob_scan_max_depth.has_value());
  }

  TEST_CASE("§16a a reviewer may grant less: a part, only reading, only the network") {
    const additional_permissions asked{true, {path("/x", access::write)}, {}};
    CHECK(intersect_overlays(asked, files({path("/x/sub", access::write)}), context()) ==
          files({path("/x/sub", access::write)}));
    CHECK(intersect_overlays(asked, files({path("/x", access::read)}), context()) ==
          files({path("/x", access::read)}));
    CHECK(intersect_overlays(asked, {true, {}, {}}, context()) ==
          additional_permissions{true, {}, {}});
    CHECK(intersect_overlays(asked, {}, context()).empty());
  }

  TEST_CASE("§16a a grant wider than the request grants the request") {
    CHECK(intersect_overlays(files({path("/x/sub", access::read)}),
                             {true, {path("/x", access::write)}, {}},
                             context()) == files({path("/x/sub", access::read)}));
    CHECK(intersect_overlays(files({path("/x", access::write)}), files({path("/y", access::write)}),
                             context())
              .empty());
  }

  TEST_CASE("§16a denials of both sides stay, whatever is granted") {
    const auto both = intersect_overlays(
        files({path("/x", access::write), path("/x/a", access::deny)}),
        files({path("/x", access::write), path("/x/a/b", access::write), glob("/x/*.key")}),
        context());
    permission_profile p;
    p.file_system.entries = both.entries;
    CHECK(granted(p, "/x/f") == access::write);
    CHECK(granted(p, "/x/a/b/f") == access::deny);
    CHECK(granted(p, "/x/a.key") == access::deny);
  }

  TEST_CASE("§16a a grant does not move with the working folder") {
    const auto asked =
        files({{special_path{special_kind::project_roots, "out", {}}, access::write, false}});
    CHECK(intersect_overlays(asked, asked, context()) == files({path("/w/out", access::write)}));
  }

  TEST_CASE("§15 a request is covered when it asks for nothing beyond the grant") {
    const additional_permissions grant{
        true, {path("/x", access::write), path("/y", access::read)}, {}};
    const auto covered = [&](const additional_permissions& wish) {
      return is_covered(wish, grant, context());
    };
    CHECK(covered(grant));
    CHECK(covered(files({path("/x/a/b", access::write)})));
    CHECK(covered(files({path("/x", access::read), path("/y/f", access::read)})));
    CHECK(covered({true, {}, {}}));
    CHECK_FALSE(covered(files({path("/y/f", access::write)})));
    CHECK_FALSE(covered(files({path("/", access::read)})));
    CHECK_FALSE(covered(files({path("/xx", access::read)})));
    CHECK_FALSE(is_covered({true, {}, {}}, files({path("/x", access::write)}), context()));
  }

  TEST_CASE("§15 §63 a grant of a folder is no grant of the protected names in it") {
    const auto grant = files({path("/x", access::write)});
    CHECK_FALSE(is_covered(files({path("/x/.git", access::write)}), grant, context()));
    CHECK_FALSE(is_covered(files({path("/x/.git/hooks", access::write)}), grant, context()));
    CHECK(is_covered(files({path("/x/.git", access::read)}), grant, context()));
  }

  TEST_CASE("§15 a request that forgets what the grant keeps back is not covered") {
    const auto grant =
        files({path("/x", access::write), path("/x/ro", access::read), glob("/x/*.key")});
    CHECK_FALSE(is_covered(files({path("/x", access::write), glob("/x/*.key")}), grant, context()));
    CHECK_FALSE(is_covered(files({path("/x", access::write), path("/x/ro", access::read)}), grant,
                           context()));
    CHECK(is_covered(grant, grant, context()));
  }

  TEST_CASE("§12 §65 an overlay extends a restricted file system and nothing else") {
    const additional_permissions overlay{true, {path("/srv", access::write)}, {}};
    auto widened = apply_overlay(workspace_write_profile(), overlay, context());
    REQUIRE(widened.has_value());
    CHECK(granted(*widened, "/srv/f") == access::write);
    CHECK(granted(*widened, "/srv/.git/config") == access::read);
    CHECK(widened->network == network_policy::enabled);
    CHECK(widened->kind == profile_kind::managed);

    CHECK(*apply_overlay(danger_full_access_profile(), overlay, context()) ==
          danger_full_access_profile());
    permission_profile open;
    open.file_system.restricted = false;
    CHECK(apply_overlay(open, overlay, context())->file_system.entries.empty());
    permission_profile external;
    external.kind = profile_kind::external;
    CHECK(apply_overlay(external, overlay, context())->file_system.entries.empty());
    CHECK(apply_overlay(external, overlay, context())->network == network_policy::enabled);
  }

  TEST_CASE("§12 an overlay that says nothing about the network leaves it") {
    auto base = workspace_write_profile();
    base.network = network_policy::enabled;
    CHECK(apply_overlay(base, files({path("/srv", access::read)}), context())->network ==
          network_policy::enabled);
    CHECK(apply_overlay(base, {false, {}, {}}, context())->network == network_policy::restricted);
  }

  TEST_CASE("§58 an overlay cannot open what the profile denies, by path or by glob") {
    auto base = workspace_write_profile();
    base.file_system.entries.push_back(path("/w/priv", access::deny));
    base.file_system.entries.push_back(glob("**/*.env"));
    for (const auto* at : {"/w/priv", "/w/priv/x", "/w/a.env"}) {
      const auto failed = apply_overlay(base, files({path(at, access::read)}), context());
      REQUIRE_FALSE(failed.has_value());
      CHECK(failed.error().message.find(at) != std::string::npos);
    }
    CHECK(apply_overlay(base, files({path("/", access::write)}), context()).has_value());
  }

  TEST_CASE("§12 applying twice changes nothing more, and an overlay may also deny") {
    const auto overlay = files({path("/srv", access::write), path("/w/k", access::deny)});
    const auto once = *apply_overlay(workspace_write_profile(), overlay, context());
    CHECK(*apply_overlay(once, overlay, context()) == once);
    CHECK(granted(once, "/w/k") == access::deny);
  }
}
