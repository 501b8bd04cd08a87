#include "actors/approval_store.hpp"
#include "protocol/approval_key.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

review_request question_about(std::vector<std::string> argv) {
  review_request q;
  q.what.argv = std::move(argv);
  q.what.cwd = "/repo";
  return q;
}

std::vector<std::string> keys(const review_request& q, bool terminal_session = true) {
  return approval_keys_of(q, terminal_session, "/repo 1:2", "policy 1");
}

additional_permissions writes(std::string path) {
  additional_permissions overlay;
  overlay.entries.push_back({literal_path{std::move(path)}, access::write, false});
  return overlay;
}

} // namespace

TEST_SUITE("actors.approval_store") {
  TEST_CASE("§52 only an approval for the session is remembered") {
    const auto k = keys(question_about({"make"}));
    for (const auto decision :
         {review_decision::approved, review_decision::approved_execpolicy_amendment,
          review_decision::network_policy_amendment, review_decision::denied,
          review_decision::timed_out, review_decision::abort}) {
      approval_store store;
      store.remember(decision, k, "make");
      CHECK_FALSE(store.covers(k));
      CHECK(store.list().empty());
    }
    approval_store store;
    store.remember(review_decision::approved_for_session, k, "make");
    CHECK(store.covers(k));
  }

  TEST_CASE("§146 each change of the action asks again") {
    auto base = question_about({"bash", "-lc", "make test"});
    approval_store store;
    store.remember(review_decision::approved_for_session, keys(base), "make test");
    CHECK(store.covers(keys(question_about({"bash", "-lc", "make  'test'"}))));

    std::vector<review_request> others(7, base);
    others[0].what.environment_id = "other";
    others[1].what.cwd = "/repo/sub";
    others[2].what.argv[2] = "make tests";
    others[3].what.tty = true;
    others[4].what.sandbox_permissions = sandbox_permissions::require_escalated;
    others[5].what.additional_permissions = writes("/srv");
    others[6].without_sandbox = true;
    for (std::size_t i = 0; i < others.size(); ++i)
      CHECK_FALSE_MESSAGE(store.covers(keys(others[i])), i);
    CHECK_FALSE(store.covers(approval_keys_of(base, true, "/repo 1:2", "policy 2")));
  }

  TEST_CASE("§53 an approval for the session held for another folder that took the place") {
    const auto q = question_about({"make"});
    const auto asked = approval_keys_of(q, false, "/repo/d 1:2", "p");
    CHECK(asked == approval_keys_of(q, false, "/repo/d 1:2", "p"));
    CHECK(asked != approval_keys_of(q, false, "/repo/d 1:3", "p"));
    CHECK(asked != approval_keys_of(q, false, "/out 1:2", "p"));
  }

  TEST_CASE("§4 §53 an approval for the session held for a login shell, which reads other files") {
    auto q = question_about({"bash", "-c", "make test"});
    const auto plain = keys(q);
    q.what.argv[1] = "-lc";
    q.what.login = true;
    CHECK(keys(q) != plain);
    q.what.login = false;
    CHECK(keys(q) != plain);
  }

  TEST_CASE("§53 §54 tty is part of the key of a terminal session only, and the two never meet") {
    const auto q = question_about({"make"});
    CHECK(keys(q, false) != keys(q, true));
  }

  TEST_CASE("§53 the same overlay written differently is the same key") {
    auto a = question_about({"make"});
    auto b = a;
    a.what.additional_permissions = writes("/srv/x");
    b.what.additional_permissions = writes("/srv//x/");
    CHECK(keys(a) == keys(b));
    b.what.additional_permissions->network_enabled = true;
    CHECK(keys(a) != keys(b));
  }

  TEST_CASE("§52 the key is injective: no text of one field reads as another") {
    std::set<std::string> seen;
    const std::vector<std::vector<std::string>> commands{{"a", "b"},
                                                         {"a b"},
                                                         {"a\",\"b"},
                                                         {"a", "b", ""},
                                                         {"", "a", "b"},
                                                         {"a\\", "b"},
                                                         {"a", "\\b"},
                                                         {"a\x01", "b"},
                                                         {"a", "b\n"},
                                                         {},
                                                         {"sh", "-c", "a; b"},
                                                         {"bash", "-c", "a; b"},
                                                         {"script", "-c", "a; b"}};
    for (const auto& argv : commands)
      CHECK(seen.insert(keys(question_about(argv)).front()).second);
    CHECK(encode_approval_key(command_key{"e",
                                          std::vector<std::string>{"bash", "-c", "a; b"},
                                          "/",
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          false,
                                          {}}) !=
          encode_approval_key(command_key{
              "e", shell_script{"bash", "-c", "a; b"}, "/", {}, {}, {}, {}, {}, false, {}}));
  }

  TEST_CASE("§52 an action that is no UTF-8 is never remembered") {
    CHECK(keys(question_about({"cat", "a\xff"})).empty());
    auto q = question_about({"cat"});
    q.what.additional_permissions = writes("/a\xfe");
    CHECK(keys(q).empty());
    approval_store store;
    store.remember(review_decision::approved_for_session, {}, "cat");
    CHECK_FALSE(store.covers({}));
    const std::vector<std::string> paths{"/a", "/b\xff"};
    CHECK(patch_keys_of(q, paths, "p").empty());
  }

  TEST_CASE(
      "§56 a patch is covered when all of its files are, and a session approval stores each") {
    const auto q = question_about({"apply_patch"});
    const auto files = [&](std::vector<std::string> paths) { return patch_keys_of(q, paths, "p"); };
    approval_store store;
    store.remember(review_decision::approved_for_session, files({"/r/1", "/r/2"}), "a patch");
    CHECK(store.list().size() == 2);
    CHECK(store.covers(files({"/r/1"})));
    CHECK(store.covers(files({"/r/2", "/r/1"})));
    CHECK_FALSE(store.covers(files({"/r/1", "/r/3"})));
    CHECK_FALSE(store.covers(files({})));
  }

  TEST_CASE("§52 what is remembered can be listed and revoked") {
    approval_store store;
    const auto make = keys(question_about({"make"}));
    const auto test = keys(question_about({"ctest"}));
    store.remember(review_decision::approved_for_session, make, "make");
    store.remember(review_decision::approved_for_session, test, "ctest");
    store.remember(review_decision::approved_for_session, make, "make");
    const auto all = store.list();
    REQUIRE(all.size() == 2);
    CHECK(all[0].shown == "make");
    CHECK(all[1].shown == "ctest");
    CHECK(store.revoke(all[0].id));
    CHECK_FALSE(store.revoke(all[0].id));
    CHECK_FALSE(store.covers(make));
    CHECK(store.covers(test));
    store.clear();
    CHECK_FALSE(store.covers(test));
  }

  TEST_CASE("a full store asks again instead of forgetting or growing") {
    approval_store store{1};
    const auto first = keys(question_about({"a"}));
    const auto second = keys(question_about({"b"}));
    store.remember(review_decision::approved_for_session, first, "a");
    store.remember(review_decision::approved_for_session, second, "b");
    CHECK(store.covers(first));
    CHECK_FALSE(store.covers(second));
  }

  TEST_CASE("§52 a change of profile, approval policy or rules changes the stamp") {
    approval_policy ask;
    approval_policy untrusted;
    untrusted.mode = approval_mode::untrusted;
    const std::set<std::string> stamps{
        policy_stamp(read_only_profile(), ask, 1), policy_stamp(workspace_write_profile(), ask, 1),
        policy_stamp(read_only_profile(), untrusted, 1), policy_stamp(read_only_profile(), ask, 2)};
    CHECK(stamps.size() == 4);
  }

  TEST_CASE("§48 a person's yes after an automatic no holds once, for exactly that action") {
    user_overrides overrides;
    overrides.allow("digest a");
    CHECK_FALSE(overrides.take("digest b"));
    CHECK(overrides.take("digest a"));
    CHECK_FALSE(overrides.take("digest a"));
  }
}
