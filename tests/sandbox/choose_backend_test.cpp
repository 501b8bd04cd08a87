#include "sandbox/choose_backend.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::sandbox;

namespace {

permission_profile whole_disk(network_policy network, bool with_denial) {
  permission_profile profile;
  profile.network = network;
  profile.file_system.entries = {{special_path{special_kind::root, {}, {}}, access::write, false}};
  if (with_denial)
    profile.file_system.entries.push_back({literal_path{"/secret"}, access::deny, false});
  return profile;
}

permission_profile external(network_policy network) {
  permission_profile profile;
  profile.kind = profile_kind::external;
  profile.network = network;
  return profile;
}

} // namespace

TEST_SUITE("sandbox.choose_backend") {
  TEST_CASE("§67 a sandbox is due wherever anything is restricted, and only there") {
    struct row {
      const char* name;
      permission_profile profile;
      sandbox_preference preference;
      bool managed_network;
      bool due;
    };
    using enum sandbox_preference;
    const row table[] = {
        {"read-only", read_only_profile(), automatic, false, true},
        {"workspace-write", workspace_write_profile(), automatic, false, true},
        {"full access", danger_full_access_profile(), automatic, false, false},
        {"somebody else's sandbox", external(network_policy::restricted), automatic, false, false},
        {"only the network", whole_disk(network_policy::restricted, false), automatic, false, true},
        {"nothing at all", whole_disk(network_policy::enabled, false), automatic, false, false},
        {"one denied file", whole_disk(network_policy::enabled, true), automatic, false, true},
        {"a managed network", danger_full_access_profile(), automatic, true, true},
        {"a runtime that insists", danger_full_access_profile(), require, false, true},
        {"a runtime that must not", workspace_write_profile(), forbid, false, false},
    };
    for (const auto& r : table) {
      CAPTURE(r.name);
      CHECK(should_sandbox(r.profile, r.preference, r.managed_network) == r.due);
    }
  }

  TEST_CASE(
      "§80 §142 a network that is enabled under a managed proxy is still not a direct connection") {
    auto profile = workspace_write_profile();
    CHECK(choose_network(profile, false) == network_mode::isolated);
    CHECK(choose_network(profile, true) == network_mode::proxy_only);
    profile.network = network_policy::enabled;
    CHECK(choose_network(profile, false) == network_mode::full);
    CHECK(choose_network(profile, true) == network_mode::proxy_only);
  }

  TEST_CASE("§68 the backend is the platform's; whether it works here is found by trying") {
    CHECK(platform_backend() == sandbox_backend::linux_bubblewrap);
    const host_platform host{sandbox_backend::linux_bubblewrap, false, 7};
    CHECK(*choose_backend({}, host, {}) == sandbox_backend::linux_bubblewrap);
    CHECK(*choose_backend(sandbox_backend::landlock, host, {}) == sandbox_backend::landlock);
  }

  TEST_CASE("§68 §83 §84 what is asked for and not there is an error, never another backend") {
    using enum sandbox_backend;
    const std::vector<capability_need> denial{{capability::denied_paths, "`/s` deny"}};
    struct row {
      const char* name;
      std::optional<sandbox_backend> requested;
      host_platform host;
      std::vector<capability_need> needs;
      const char* words;
    };
    const row table[] = {
        {"WSL 1", {}, {linux_bubblewrap, true, 0}, {}, "WSL 1"},
        {"Landlock on WSL 1", landlock, {linux_bubblewrap, true, 0}, {}, "WSL 1"},
        {"a kernel without Landlock", landlock, {linux_bubblewrap, false, 0}, {}, "has none"},
        {"an older Landlock", landlock, {linux_bubblewrap, false, 5}, {}, "has 5"},
        {"a denial under Landlock", landlock, {linux_bubblewrap, false, 7}, denial, "`/s` deny"},
        {"another platform's", seatbelt, {linux_bubblewrap, false, 7}, {}, "not of this platform"},
        {"Linux on macOS", linux_bubblewrap, {seatbelt, false, 0}, {}, "not of this platform"},
        {"no platform at all", {}, {none, false, 0}, {}, "no sandbox"},
        {"a denial under a token", {}, {windows, false, 0}, denial, "denied paths"},
    };
    for (const auto& r : table) {
      CAPTURE(r.name);
      const auto chosen = choose_backend(r.requested, r.host, r.needs);
      REQUIRE_FALSE(chosen.has_value());
      CHECK(chosen.error().code == errc::boundary_unavailable);
      CHECK(chosen.error().message.find("refusing to run unsandboxed") == 0);
      CHECK(chosen.error().message.find(r.words) != std::string::npos);
      CHECK_FALSE(chosen.error().remedy.empty());
    }
    CHECK(*choose_backend(windows_elevated, {windows, false, 0}, denial) == windows_elevated);
  }
}
