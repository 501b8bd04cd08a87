#include "protocol/profile_json.hpp"
#include "protocol/rpc/app_events.hpp"
#include "protocol/rpc/app_methods.hpp"
#include "protocol/rpc/app_permissions.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::rpc;

namespace {

json_tree tree_of(const std::string& json) {
  auto answer = codec<app::approval_answer>::decode(
      std::get<message>(
          read_message(R"({"jsonrpc":"2.0","id":1,"result":{"decision":)" + json + "}}"))
          .result_value()
          .value());
  REQUIRE(answer);
  return answer->decision.value();
}

review_request about_host() {
  review_request q;
  q.tool = "shell_command";
  q.what.argv = {"curl", "https://example.org"};
  q.network = host_key{"local", "example.org", network_protocol::https, 443};
  q.session_offered = true;
  return q;
}

review_request about_permissions() {
  review_request q;
  q.tool = "request_permissions";
  additional_permissions wish;
  wish.network_enabled = true;
  q.what.additional_permissions = wish;
  q.session_offered = true;
  return q;
}

} // namespace

TEST_SUITE("protocol.app_answers") {
  TEST_CASE("§51 §113 a host is opened or closed for good by exactly the choice that was offered") {
    const auto q = about_host();
    const auto asked = app::approval_of("t", {"turn", 1}, q);
    CHECK(asked.kind == app::approval_kind::network);
    CHECK(asked.network_target == "https://example.org:443");
    int found = 0;
    for (const auto& choice : asked.available_decisions) {
      const auto named = app::decision_from(tree_of(choice.text), q);
      REQUIRE(named);
      if (named->what == review_decision::network_policy_amendment)
        CHECK(named->denies_host == (found++ == 1));
    }
    CHECK(found == 2);
    const auto amendment = [&](const std::string& members) {
      return app::decision_from(
          tree_of(R"({"applyNetworkPolicyAmendment":{"network_policy_amendment":{)" + members +
                  "}}}"),
          q);
    };
    CHECK(amendment(R"("host":"example.org","action":"deny","protocol":"https","port":443)"));
    CHECK_FALSE(
        amendment(R"("host":"example.com","action":"allow","protocol":"https","port":443)"));
    CHECK_FALSE(amendment(R"("host":"example.org","action":"allow","protocol":"https","port":80)"));
    CHECK_FALSE(amendment(R"("host":"example.org","action":"allow")"));
    auto ruled = q; // a prompt rule would beat the one that allows
    ruled.prompt_rule_stands = true;
    CHECK(app::approval_of("t", {"turn", 1}, ruled).available_decisions.size() ==
          asked.available_decisions.size() - 1);
    CHECK_FALSE(
        app::decision_from(tree_of(R"({"applyNetworkPolicyAmendment":{"network_policy_amendment":)"
                                   R"({"action":"allow","host":"example.org","port":443,)"
                                   R"("protocol":"https"}}})"),
                           ruled));
    auto other = q;
    other.network.reset();
    for (const auto& choice : asked.available_decisions)
      if (choice.text.starts_with('{'))
        CHECK_FALSE(app::decision_from(tree_of(choice.text), other));
  }

  TEST_CASE("§16a what an answer gives is read whole or not at all") {
    const auto q = about_permissions();
    const std::optional<json_tree> none;
    const auto nothing = app::given_from({none, {}, {}}, q, review_decision::approved);
    REQUIRE(nothing);
    CHECK_FALSE(*nothing);
    const auto session =
        app::given_from({none, {}, true}, q, review_decision::approved_for_session);
    REQUIRE(session);
    CHECK((*session)->scope == grant_scope::session);
    CHECK((*session)->strict_auto_review);
    CHECK((*session)->permissions.network_enabled == true);
    const auto turn =
        app::given_from({none, grant_scope::turn, {}}, q, review_decision::approved_for_session);
    REQUIRE(turn);
    CHECK((*turn)->scope == grant_scope::turn);
    const std::optional<json_tree> wrong = tree_of(R"({"everything":true})");
    CHECK_FALSE(app::given_from({wrong, {}, {}}, q, review_decision::approved));
    const auto no = app::given_from({wrong, {}, {}}, q, review_decision::denied);
    REQUIRE(no);
    CHECK_FALSE(*no);
    CHECK_FALSE(
        app::given_from({none, grant_scope::session, {}}, about_host(), review_decision::approved));
  }

  TEST_CASE(
      "§16a the answer of the reference surface: permissions alone accept, none of them refuse") {
    const auto q = about_permissions();
    const auto said = [](const std::string& answer) {
      const auto read = read_message(R"({"jsonrpc":"2.0","id":1,"result":)" + answer + "}");
      return codec<app::approval_answer>::decode(std::get<message>(read).result_value().value())
          .value();
    };
    const auto decided = [&](const std::string& answer, const review_request& question) {
      return app::decision_of(said(answer), question).what;
    };
    const std::string some = R"({"permissions":{"network":{"enabled":true}},"scope":"session"})";
    CHECK(decided(some, q) == review_decision::approved);
    CHECK(decided(R"({"permissions":{}})", q) == review_decision::denied);
    CHECK(decided(R"({"scope":"session"})", q) == review_decision::denied);
    CHECK(decided("{}", q) == review_decision::denied);
    CHECK(decided(R"({"permissions":{"everything":true}})", q) == review_decision::denied);
    // To anything else an answer without a decision is a no.
    CHECK(decided(some, about_host()) == review_decision::denied);
    CHECK(decided(R"({"decision":"decline","permissions":{"network":{"enabled":true}}})", q) ==
          review_decision::denied);
  }

  TEST_CASE("§16a permissions are asked in the dialect's spelling and read in both") {
    additional_permissions wish;
    wish.network_enabled = true;
    wish.entries.push_back({literal_path{"/srv/x"}, access::write, false});
    const auto told = app::permissions_json(wish);
    CHECK(told.text.find("\"fileSystem\"") != std::string::npos);
    CHECK(told.text.find("file_system") == std::string::npos);
    CHECK(app::permissions_from(tree_of(told.text)).value() == wish);
    CHECK(app::permissions_from(tree_of(encode_additional_permissions(wish))).value() == wish);
    wish.entries.push_back({glob_path{"/srv/**/*.key"}, access::deny, false});
    wish.glob_scan_max_depth = 3;
    const auto globs = app::permissions_json(wish);
    CHECK(globs.text.find("\"globScanMaxDepth\":3") != std::string::npos);
    CHECK(app::permissions_from(tree_of(globs.text)).value() == wish);
    CHECK_FALSE(app::permissions_from(
        tree_of(R"({"fileSystem":{"write":["/a"]},"file_system":{"write":["/b"]}})")));
  }

  TEST_CASE("§50 each kind of question has the name that the reference surface gives it") {
    auto patch = about_host();
    patch.network.reset();
    patch.what.patch.emplace();
    const auto name = [](const review_request& q) {
      thread_event event{7, "turn", thread_events::review_asked{q}, 1000};
      return std::string{app::message_of("t", event).value().method};
    };
    CHECK(name(about_host()) == "item/commandExecution/requestApproval");
    CHECK(name(patch) == "item/fileChange/requestApproval");
    CHECK(name(about_permissions()) == "item/permissions/requestApproval");
    for (const auto& q : {about_host(), patch, about_permissions()})
      CHECK(app::asks_approval(name(q)));
    CHECK_FALSE(app::asks_approval("item/started"));
  }

  TEST_CASE("§50 a question says since when it stands, how long, and what made it necessary") {
    auto q = about_host();
    q.cause = {ask_source::rule, {"curl", "x"}, "/home/u/default.rules:3"};
    auto asked = app::approval_of("t", {"turn", 7, 1000}, q);
    CHECK(asked.started_at_ms == 1000);
    CHECK_FALSE(asked.expires_at_ms);
    CHECK(to_json(asked.why) ==
          R"({"source":"rule","rule":"/home/u/default.rules:3","segment":["curl","x"]})");
    q.time_limit = std::chrono::seconds{600};
    asked = app::approval_of("t", {"turn", 7, 1000}, q);
    CHECK(asked.expires_at_ms == 601'000);
  }

  TEST_CASE("§11 a patch is an item of its own kind from start to end") {
    const auto patch = std::make_shared<const thread_events::planned_patch>(
        thread_events::planned_patch{"*** Begin Patch\n*** Add File: sub/new\n+one\n"
                                     "*** Update File: /abs/old\n*** Move to: ../moved\n@@ f()\n"
                                     " a\n-b\n+c\n*** Delete File: gone\n*** End Patch\n",
                                     "/ws/here"});
    const thread_event began{1, "turn", thread_events::item_started{"c", "apply_patch", {}, patch},
                             5};
    const auto text = app::message_of("t", began).value().params;
    CHECK(text.find(R"("type":"fileChange")") != std::string::npos);
    CHECK(text.find(R"("startedAtMs":5)") != std::string::npos);
    CHECK(text.find(R"({"path":"/ws/here/sub/new","kind":{"type":"add"},"diff":"one\n"})") !=
          std::string::npos);
    CHECK(text.find(R"({"path":"/abs/old","kind":{"type":"update","move_path":"/ws/moved"},)"
                    R"("diff":"@@ f()\n a\n-b\n+c\n"})") != std::string::npos);
    CHECK(text.find(R"({"path":"/ws/here/gone","kind":{"type":"delete"},"diff":""})") !=
          std::string::npos);
    const thread_event ended{
        2, "turn", thread_events::item_ended{std::make_shared<const call_report>(), patch}, 9};
    const auto over = app::message_of("t", ended).value().params;
    CHECK(over.find(R"("type":"fileChange")") != std::string::npos);
    CHECK(over.find(R"("completedAtMs":9)") != std::string::npos);
    const thread_event command{3, "turn", thread_events::item_started{"d", "shell_command", {}}, 5};
    CHECK(app::message_of("t", command).value().params.find("commandExecution") !=
          std::string::npos);
  }
}
