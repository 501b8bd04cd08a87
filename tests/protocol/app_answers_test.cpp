#include "protocol/rpc/app_events.hpp"
#include "protocol/rpc/app_methods.hpp"

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
  return answer->decision;
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
    const auto asked = app::approval_of("t", "turn", 1, q);
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
}
