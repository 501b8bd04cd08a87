#include "policy/strictness.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::policy;

namespace {

approval_policy mode(approval_mode m) {
  return {m, {}};
}

profile_entry entry(profile_path path, access a) {
  return {std::move(path), a, false};
}

} // namespace

TEST_SUITE("policy.strictness") {
  TEST_CASE("§43 approval policies that cannot be compared are never called tighter") {
    const auto untrusted = mode(approval_mode::untrusted);
    const auto on_request = mode(approval_mode::on_request);
    const auto never = mode(approval_mode::never);
    const approval_policy rules_only{approval_mode::granular, {.rules = true}};
    const approval_policy none{approval_mode::granular, {}};
    CHECK(is_no_looser(untrusted, on_request));
    CHECK(is_no_looser(rules_only, on_request));
    CHECK(is_no_looser(none, rules_only));
    CHECK(is_no_looser(never, never));
    CHECK_FALSE(is_no_looser(rules_only, none));
    CHECK_FALSE(is_no_looser(on_request, untrusted));
    CHECK_FALSE(is_no_looser(never, untrusted));
    CHECK_FALSE(is_no_looser(untrusted, never));
    CHECK_FALSE(is_no_looser(on_request, never));
    CHECK_FALSE(is_no_looser(rules_only, untrusted));
    // Under a profile that is not ours, never lets dangerous commands run where on-request asks.
    CHECK_FALSE(is_no_looser(never, on_request));
  }

  TEST_CASE("§43 the built-in profiles are ordered") {
    const auto read = read_only_profile();
    const auto write = workspace_write_profile();
    const auto full = danger_full_access_profile();
    CHECK(is_no_wider(read, write));
    CHECK(is_no_wider(write, full));
    CHECK(is_no_wider(write, write));
    CHECK_FALSE(is_no_wider(write, read));
    CHECK_FALSE(is_no_wider(full, write));
    CHECK_FALSE(is_no_wider({profile_kind::external, {}, {}}, write));
  }

  TEST_CASE("§43 a profile that drops a limit, or reads below one, is wider") {
    auto limited = workspace_write_profile();
    limited.file_system.entries.push_back(entry(literal_path{"/srv/secret"}, access::deny));
    CHECK(is_no_wider(limited, workspace_write_profile()));
    CHECK_FALSE(is_no_wider(workspace_write_profile(), limited));
    CHECK_FALSE(is_no_wider(read_only_profile(), limited));
    auto below = limited;
    below.file_system.entries.push_back(entry(literal_path{"/srv/secret/x"}, access::read));
    CHECK_FALSE(is_no_wider(below, limited));

    auto carved = workspace_write_profile();
    carved.file_system.entries.push_back(
        entry(special_path{special_kind::project_roots, "docs", {}}, access::read));
    CHECK_FALSE(is_no_wider(workspace_write_profile(), carved));
    CHECK(is_no_wider(carved, workspace_write_profile()));

    auto online = read_only_profile();
    online.network = network_policy::enabled;
    CHECK_FALSE(is_no_wider(online, read_only_profile()));
    CHECK(is_no_wider(read_only_profile(), online));
  }

  TEST_CASE("§43 a deny glob that is searched less deep is wider") {
    auto deep = read_only_profile();
    deep.file_system.entries.push_back(entry(glob_path{"/w/**/*.env"}, access::deny));
    auto shallow = deep;
    shallow.file_system.glob_scan_max_depth = 2;
    CHECK(is_no_wider(deep, shallow));
    CHECK_FALSE(is_no_wider(shallow, deep));
  }
}
