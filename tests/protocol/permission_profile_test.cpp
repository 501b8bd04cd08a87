#include "protocol/permission_profile.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

TEST_SUITE("protocol.permission_profile") {
  TEST_CASE("§60 §130 the built-in profiles are known by both of their names") {
    CHECK(built_in_profile("read-only") == read_only_profile());
    CHECK(built_in_profile(":read-only") == read_only_profile());
    CHECK(built_in_profile("workspace-write") == workspace_write_profile());
    CHECK(built_in_profile(":workspace") == workspace_write_profile());
    CHECK(built_in_profile(":danger-full-access") == danger_full_access_profile());
    CHECK_FALSE(built_in_profile("workspace").has_value());
  }

  TEST_CASE("§58 only a deny entry of a managed profile counts as a denied read") {
    auto profile = workspace_write_profile();
    CHECK_FALSE(has_denied_reads(profile));
    profile.file_system.entries.push_back({glob_path{"**/*.env"}, access::deny, false});
    CHECK(has_denied_reads(profile));
    profile.kind = profile_kind::external;
    CHECK_FALSE(has_denied_reads(profile));
  }
}
