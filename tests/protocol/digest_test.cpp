#include "protocol/digest.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace gatehouse;

TEST_SUITE("protocol.digest") {
  TEST_CASE("§53 §54 whatever changes what runs changes the digest") {
    proposal base;
    base.argv = {"make", "test"};
    base.cwd = "/repo";
    std::set<std::string> seen{digest_of(base, {})};
    const auto differs = [&](auto change, digest_terms terms = {}) {
      auto other = base;
      change(other);
      return seen.insert(digest_of(other, terms)).second;
    };
    CHECK(differs([](proposal& p) { p.argv = {"make", "tes", "t"}; }));
    CHECK(differs([](proposal& p) { p.argv = {"make test"}; }));
    CHECK(differs([](proposal& p) { p.argv = {"make", "test", ""}; }));
    CHECK(differs([](proposal& p) { p.cwd = "/repo2"; }));
    CHECK(differs([](proposal& p) { p.environment_id = "other"; }));
    CHECK(differs([](proposal& p) { p.tty = true; }));
    CHECK(differs([](proposal& p) { p.timeout = std::chrono::milliseconds{0}; }));
    CHECK(differs(
        [](proposal& p) { p.sandbox_permissions = sandbox_permissions::require_escalated; }));
    CHECK(differs([](proposal& p) { p.additional_permissions.emplace(); }));
    CHECK(differs([](proposal& p) { p.additional_permissions = {true, {}, {}}; }));
    CHECK(differs([](proposal& p) { p.additional_permissions = {false, {}, {}}; }));
    CHECK(differs([](proposal& p) {
      p.additional_permissions = {{}, {{literal_path{"/a"}, access::read, false}}, {}};
    }));
    CHECK(differs([](proposal& p) {
      p.additional_permissions = {{}, {{glob_path{"/a"}, access::read, false}}, {}};
    }));
    CHECK(differs([](proposal&) {}, {2, false, {}}));
    CHECK(differs([](proposal&) {}, {1, true, {}}));
    CHECK(differs([](proposal&) {}, {1, false, "https://example.org:443"}));
  }

  TEST_CASE("§53 what does not run does not change the digest") {
    proposal a, b;
    a.argv = b.argv = {"ls"};
    b.justification = "please";
    b.prefix_rule = {"ls"};
    CHECK(digest_of(a, {}) == digest_of(b, {}));
  }
}
