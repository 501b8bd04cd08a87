#include "actors/network_desk.hpp"
#include "protocol/visible_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

std::shared_ptr<const policy::domain_policy>
policy_of(std::initializer_list<std::pair<const char*, decision>> rules) {
  policy::domain_policy policy;
  for (const auto& [text, verdict] : rules)
    policy.rules.push_back({*policy::parse_domain_pattern(text), verdict, std::nullopt, text});
  return std::make_shared<const policy::domain_policy>(policy);
}

network_terms terms_of(std::string call, std::string environment = "local") {
  network_terms terms;
  terms.call_id = call;
  terms.what.argv = {"curl", call};
  terms.what.environment_id = std::move(environment);
  terms.judged = std::make_shared<const call_judgement>();
  terms.review_nonce = "nonce-" + call;
  terms.policy = policy_of({{"ok.test", decision::allow}, {"bad.test", decision::forbidden}});
  return terms;
}

policy::connection_wish wish_for(std::string host, std::uint16_t port = 443,
                                 network_protocol protocol = network_protocol::https) {
  policy::connection_wish wish;
  wish.protocol = protocol;
  wish.host = std::move(host);
  wish.port = port;
  if (protocol == network_protocol::http) wish.method = "GET";
  return wish;
}

review_answer answer_to(const review_request& question, review_decision decision) {
  return {question.review_id, question.digest, decision, reviewer_kind::user, "because"};
}

template <class T>
std::vector<T> all(const desk::effects& effects) {
  std::vector<T> out;
  for (const auto& effect : effects)
    if (const auto* found = std::get_if<T>(&effect)) out.push_back(*found);
  return out;
}

template <class T>
T only(const desk::effects& effects) {
  const auto found = all<T>(effects);
  REQUIRE(found.size() == 1);
  return found.front();
}

bool allowed(const desk::effects& effects) {
  return only<desk::answer_wish>(effects).allowed;
}

host_key key_of(std::string host, std::uint16_t port = 443,
                network_protocol protocol = network_protocol::https) {
  return {"local", std::move(host), protocol, port};
}

} // namespace

TEST_SUITE("actors.network_desk") {
  TEST_CASE("§110 one owner asks about a host, the others wait for its decision") {
    network_desk d;
    d.open("r1", terms_of("a"));
    d.open("r2", terms_of("b"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    CHECK(asked.request.judged == d.find("r1")->judged);
    CHECK(asked.request.call_id == "a");
    CHECK(asked.request.network == key_of("new.test"));
    CHECK(asked.request.review_id.find("nonce-a") != std::string::npos);
    CHECK(all<desk::ask_review>(d.want("r1", 2, wish_for("NEW.test"))).empty());
    CHECK(all<desk::ask_review>(d.want("r2", 3, wish_for("new.test."))).empty());
    // Another port is another question.
    CHECK(all<desk::ask_review>(d.want("r2", 4, wish_for("new.test", 8443))).size() == 1);
    const auto answers =
        all<desk::answer_wish>(d.answered(answer_to(asked.request, review_decision::approved)));
    REQUIRE(answers.size() == 3);
    for (const auto& answer : answers) {
      CHECK(answer.allowed);
      CHECK(answer.host == "new.test");
    }
    // Once means: these commands, as long as they run.
    CHECK(allowed(d.want("r1", 5, wish_for("new.test"))));
    d.open("r3", terms_of("c"));
    CHECK(all<desk::ask_review>(d.want("r3", 6, wish_for("new.test"))).size() == 1);
  }

  TEST_CASE("§147 §109 §111 https:443 for the session; http:80, https:8443 and another environment "
            "still ask") {
    const auto answers = std::make_shared<host_answers>();
    network_desk d{answers};
    d.open("r1", terms_of("a"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    d.answered(answer_to(asked.request, review_decision::approved_for_session));
    d.close("r1");
    REQUIRE(answers->list().size() == 1);
    CHECK(answers->find(key_of("new.test")) == true);
    d.open("r2", terms_of("b"));
    d.open("r3", terms_of("c", "remote"));
    CHECK(allowed(d.want("r2", 2, wish_for("new.test"))));
    for (const auto& other :
         {wish_for("new.test", 80, network_protocol::http), wish_for("new.test", 8443),
          wish_for("new.test", 443, network_protocol::socks5_tcp)})
      CHECK(all<desk::ask_review>(d.want("r2", 10 + other.port, other)).size() == 1);
    CHECK(all<desk::ask_review>(d.want("r3", 5, wish_for("new.test"))).size() == 1);
    answers->revoke(answers->list()[0].id);
    d.open("r4", terms_of("d"));
    CHECK(all<desk::ask_review>(d.want("r4", 6, wish_for("new.test"))).size() == 1);
  }

  TEST_CASE("§111 §113 session sets exclude each other, and an amendment is kept") {
    const auto answers = std::make_shared<host_answers>();
    network_desk d{answers};
    d.open("r1", terms_of("a"));
    auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    auto answer = answer_to(asked.request, review_decision::network_policy_amendment);
    SUBCASE("allow") {
      const auto effects = d.answered(answer);
      CHECK(only<desk::keep_rule>(effects).allow);
      CHECK(only<desk::keep_rule>(effects).key == key_of("new.test"));
      CHECK(answers->find(key_of("new.test")) == true);
    }
    SUBCASE("deny") {
      answer.denies_host = true;
      const auto effects = d.answered(answer);
      CHECK_FALSE(only<desk::keep_rule>(effects).allow);
      CHECK(all<desk::end_process>(effects).size() == 1);
      CHECK(answers->find(key_of("new.test")) == false);
      d.open("r2", terms_of("b"));
      CHECK_FALSE(allowed(d.want("r2", 2, wish_for("new.test"))));
    }
  }

  TEST_CASE("§112 inline approval only where somebody may be asked") {
    network_desk d;
    auto terms = terms_of("a");
    terms.nobody = "the approval policy is never";
    d.open("r1", terms);
    auto answer = only<desk::answer_wish>(d.want("r1", 1, wish_for("new.test")));
    CHECK(answer.reason == network_refusal::not_listed);
    CHECK(answer.what->detail.find("never") != std::string::npos);
    CHECK(allowed(d.want("r1", 2, wish_for("ok.test"))));
    d.open("r2", terms_of("b"));
    CHECK(d.turn_over(false).empty());
    CHECK_FALSE(allowed(d.want("r2", 3, wish_for("new.test"))));
    // Unknown registrations are attributed to nobody.
    answer = only<desk::answer_wish>(d.want("nobody", 4, wish_for("ok.test")));
    CHECK(answer.reason == network_refusal::unattributed);
  }

  TEST_CASE("§116 a denial is noted for its calls, answers the waiting, and ends their processes") {
    network_desk d;
    d.open("r1", terms_of("a"));
    d.open("r2", terms_of("b"));
    d.open("r3", terms_of("c"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    d.want("r2", 2, wish_for("new.test"));
    const auto effects = d.answered(answer_to(asked.request, review_decision::denied));
    // Whoever gets its answer before the signal goes on with it.
    CHECK(all<desk::answer_wish>(effects).empty());
    std::set<std::string> ended;
    for (const auto& end : all<desk::end_process>(effects))
      ended.insert(end.registration);
    CHECK(ended == std::set<std::string>{"r1", "r2"});
    for (const char* id : {"r1", "r2"}) {
      const auto over = d.close(id);
      const auto answer = only<desk::answer_wish>(over);
      CHECK_FALSE(answer.allowed);
      CHECK(answer.reason == network_refusal::denied_by_user);
      const auto end = only<desk::closed>(over).end;
      REQUIRE(end.refused);
      CHECK(end.refused->host == "https://new.test:443");
      CHECK_FALSE(end.refused->may_ask);
      CHECK(end.ended_the_process);
      CHECK(end.denied->host == "https://new.test:443");
    }
    const auto other = only<desk::closed>(d.close("r3")).end;
    CHECK_FALSE(other.refused);
    CHECK(other.blocked.empty());
    CHECK(d.idle());
  }

  TEST_CASE("§116 §112 what a process that is being ended wants waits for its end, also a granted "
            "host, and is never asked about") {
    for (const char* how : {"a no", "a cancellation", "the end of its turn"}) {
      CAPTURE(how);
      network_desk d;
      d.open("r1", terms_of("a"));
      const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
      const auto other = only<desk::ask_review>(d.want("r1", 2, wish_for("other.test")));
      const bool no = std::string_view{how} == "a no";
      const auto effects = no ? d.answered(answer_to(asked.request, review_decision::denied))
                           : how[0] == 'a' ? d.stop("r1")
                                           : d.turn_over(true);
      std::set<std::string> withdrawn;
      for (const auto& moot : all<desk::withdraw_review>(effects))
        withdrawn.insert(moot.review_id);
      CHECK(withdrawn.contains(other.request.review_id));
      CHECK(withdrawn.contains(asked.request.review_id) == !no);
      CHECK(all<desk::answer_wish>(effects).empty());
      CHECK(all<desk::end_process>(effects).size() == (no ? 1 : 0));
      // A late yes opens nothing.
      CHECK(d.answered(answer_to(other.request, review_decision::approved_for_session)).empty());
      CHECK(all<desk::answer_wish>(d.want("r1", 3, wish_for("ok.test"))).empty());
      CHECK(all<desk::ask_review>(d.want("r1", 4, wish_for("third.test"))).empty());
      CHECK(d.gone(4).empty());
      CHECK(d.stop("r1").empty());
      const auto over = d.close("r1");
      std::set<std::uint64_t> answered;
      for (const auto& answer : all<desk::answer_wish>(over)) {
        CHECK_FALSE(answer.allowed);
        answered.insert(answer.wish);
      }
      CHECK(answered == std::set<std::uint64_t>{1, 2, 3});
      CHECK(only<desk::closed>(over).end.ended_the_process == no);
      CHECK(d.idle());
    }
    // What lives on after its turn is answered and goes on.
    network_desk d;
    auto terms = terms_of("a");
    terms.deferred = true;
    d.open("r1", terms);
    d.want("r1", 1, wish_for("new.test"));
    CHECK(only<desk::answer_wish>(d.turn_over(true)).reason == network_refusal::question_closed);
    CHECK(allowed(d.want("r1", 2, wish_for("ok.test"))));
    CHECK_FALSE(allowed(d.want("r1", 3, wish_for("new.test"))));
  }

  TEST_CASE(
      "§108 §110 a yes for a command that has gone opens nothing for one that was not shown") {
    network_desk d;
    d.open("r1", terms_of("a"));
    d.open("r2", terms_of("b"));
    d.open("r3", terms_of("c"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    CHECK(asked.request.will_be_allowed.find("every other command") != std::string::npos);
    CHECK(asked.request.will_be_allowed.find("curl b") == std::string::npos);
    auto shared = only<desk::tell_shared>(d.want("r2", 2, wish_for("new.test")));
    CHECK(shared.review_id == asked.request.review_id);
    CHECK(shared.call_id == "b");
    CHECK(shared.what.argv == terms_of("b").what.argv);
    CHECK(all<desk::tell_shared>(d.want("r2", 3, wish_for("new.test"))).empty());
    CHECK(only<desk::tell_shared>(d.want("r3", 4, wish_for("new.test"))).call_id == "c");
    d.gone(1);
    const auto effects = d.close("r1");
    CHECK(only<desk::withdraw_review>(effects).review_id == asked.request.review_id);
    const auto again = only<desk::ask_review>(effects);
    CHECK(again.request.call_id == "b");
    CHECK(again.request.what.argv == terms_of("b").what.argv);
    CHECK(again.request.will_be_allowed.find("`curl c`") != std::string::npos);
    CHECK(d.answered(answer_to(asked.request, review_decision::approved)).empty());
    const auto answers =
        all<desk::answer_wish>(d.answered(answer_to(again.request, review_decision::approved)));
    CHECK(answers.size() == 3);
    // Nobody may be asked any more for what its turn has left behind.
    CHECK(all<desk::ask_review>(d.want("r2", 5, wish_for("next.test"))).size() == 1);
    d.want("r3", 6, wish_for("next.test"));
    d.turn_over(false);
    const auto last = d.close("r2");
    CHECK(all<desk::ask_review>(last).empty());
    CHECK(all<desk::answer_wish>(last).size() == 2);
    d.close("r3");
    CHECK(d.idle());
  }

  TEST_CASE("§116 where nobody could be asked the host stays closed and the command goes on") {
    network_desk d;
    d.open("r1", terms_of("a"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    auto answer = answer_to(asked.request, review_decision::denied);
    answer.reviewer = reviewer_kind::none;
    const auto effects = d.answered(answer);
    CHECK(only<desk::answer_wish>(effects).reason == network_refusal::not_listed);
    CHECK(all<desk::end_process>(effects).empty());
    CHECK_FALSE(only<desk::closed>(d.close("r1")).end.ended_the_process);
  }

  TEST_CASE("§50 an answer for another action, an unknown or a second one is no yes") {
    const auto answers = std::make_shared<host_answers>();
    network_desk d{answers};
    d.open("r1", terms_of("a"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    auto forged = answer_to(asked.request, review_decision::approved_for_session);
    forged.review_id = "network-guess-1-1";
    CHECK(d.answered(forged).empty());
    forged = answer_to(asked.request, review_decision::approved_for_session);
    forged.digest = "another";
    CHECK(only<desk::end_process>(d.answered(forged)).registration == "r1");
    CHECK(answers->list().empty());
    CHECK(d.answered(answer_to(asked.request, review_decision::approved)).empty());
    CHECK_FALSE(allowed(d.close("r1")));
  }

  TEST_CASE("§102 a question that its command did not wait for may be asked again about a retry") {
    network_desk d;
    d.open("r1", terms_of("a"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    CHECK(only<desk::hold>(d.gone(1)).what == host_wait::pauses);
    const auto effects = d.close("r1");
    CHECK(only<desk::withdraw_review>(effects).review_id == asked.request.review_id);
    const auto end = only<desk::closed>(effects).end;
    REQUIRE(end.refused);
    CHECK(end.refused->may_ask);
    CHECK(end.blocked.at(0).reason == network_refusal::question_closed);
    CHECK(d.answered(answer_to(asked.request, review_decision::approved)).empty());
    // §105: the second attempt has that host open.
    auto terms = terms_of("a");
    terms.attempt = 2;
    terms.approved_hosts = {"https://new.test:443"};
    d.open("r2", terms);
    CHECK(allowed(d.want("r2", 2, wish_for("new.test"))));
    CHECK(all<desk::ask_review>(d.want("r2", 3, wish_for("new.test", 80))).size() == 1);
  }

  TEST_CASE("§110 a client that comes again finds the open question, and then its answer") {
    network_desk d;
    d.open("r1", terms_of("a"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
    d.gone(1);
    CHECK(all<desk::ask_review>(d.want("r1", 2, wish_for("new.test"))).empty());
    d.gone(2);
    const auto told = d.answered(answer_to(asked.request, review_decision::approved));
    REQUIRE(told.size() == 1);
    CHECK(only<desk::hold>(told).what == host_wait::answered); // what it waited for it does not pay
    CHECK(allowed(d.want("r1", 3, wish_for("new.test"))));
  }

  TEST_CASE("§95 what a hook or the automatic reviewer said of one host settled every other wait") {
    for (const auto who : {reviewer_kind::hook, reviewer_kind::guardian}) {
      network_desk d;
      d.open("r1", terms_of("a"));
      const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
      auto answer = answer_to(asked.request, review_decision::approved);
      answer.reviewer = who;
      CHECK(only<desk::hold>(d.answered(answer)).what == host_wait::decided);
    }
  }

  TEST_CASE("§110 §112 a question whose connection has gone stands before the person for ever, and "
            "a late answer opens or keeps something") {
    const auto answers = std::make_shared<host_answers>();
    network_desk d{answers};
    d.open("r1", terms_of("a"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test"))).request;
    const auto left = d.gone(1);
    CHECK(only<desk::start_patience>(left).review_id == asked.review_id);
    CHECK(all<desk::withdraw_review>(left).empty());
    const auto effects = d.unwanted(asked.review_id);
    const auto moot = only<desk::withdraw_review>(effects);
    CHECK(moot.review_id == asked.review_id);
    CHECK(only<desk::tell_withdrawn>(effects).key == key_of("new.test"));
    CHECK(only<desk::tell_blocked>(effects).what.reason == network_refusal::question_closed);
    CHECK(all<desk::answer_wish>(effects).empty());
    CHECK(all<desk::end_process>(effects).empty());
    CHECK(d.unwanted(asked.review_id).empty());
    for (const auto decision :
         {review_decision::approved, review_decision::approved_for_session, review_decision::denied,
          review_decision::abort, review_decision::network_policy_amendment}) {
      auto late = answer_to(asked, decision);
      CHECK(d.answered(late).empty());
      late.denies_host = true;
      CHECK(d.answered(late).empty());
    }
    CHECK(answers->list().empty());
    // Whoever tries again is asked about again, and an answer to the first is none to the second.
    const auto again = only<desk::ask_review>(d.want("r1", 2, wish_for("new.test"))).request;
    CHECK(again.review_id != asked.review_id);
    CHECK(d.answered(answer_to(asked, review_decision::approved)).empty());
    CHECK(allowed(d.answered(answer_to(again, review_decision::approved))));
    const auto end = only<desk::closed>(d.close("r1")).end;
    REQUIRE(end.blocked.size() == 1);
    CHECK(end.blocked[0].detail.find("gave up waiting") != std::string::npos);
    CHECK(d.idle());
  }

  TEST_CASE("§110 a question is withdrawn although somebody waits for it again, or still") {
    network_desk d;
    d.open("r1", terms_of("a"));
    d.open("r2", terms_of("b"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test"))).request;
    d.want("r1", 2, wish_for("new.test"));
    d.want("r2", 3, wish_for("new.test"));
    // Not the last one of its command, then not the last one of all.
    for (const std::uint64_t wish : {1, 2}) {
      CHECK(all<desk::start_patience>(d.gone(wish)).empty());
      CHECK(d.unwanted(asked.review_id).empty());
    }
    CHECK(all<desk::start_patience>(d.gone(3)).size() == 1);
    CHECK(all<desk::ask_review>(d.want("r2", 4, wish_for("new.test"))).empty());
    CHECK(d.unwanted(asked.review_id).empty());
    const auto answer =
        only<desk::answer_wish>(d.answered(answer_to(asked, review_decision::approved)));
    CHECK(answer.wish == 4);
    CHECK(answer.allowed);
    CHECK(allowed(d.want("r1", 5, wish_for("new.test"))));
    CHECK(d.unwanted(asked.review_id).empty());
  }

  TEST_CASE("§111 §113 an answer for good that comes when its connection has just gone is lost") {
    for (const bool denies : {false, true}) {
      const auto answers = std::make_shared<host_answers>();
      network_desk d{answers};
      d.open("r1", terms_of("a"));
      const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test"))).request;
      d.gone(1);
      auto given = answer_to(asked, review_decision::network_policy_amendment);
      given.denies_host = denies;
      const auto effects = d.answered(given);
      CHECK(only<desk::keep_rule>(effects).allow == !denies);
      CHECK(answers->find(key_of("new.test")) == !denies);
      CHECK(all<desk::end_process>(effects).size() == (denies ? 1 : 0));
      CHECK(d.unwanted(asked.review_id).empty());
    }
  }

  TEST_CASE("§117 the end of a process takes its question away before its grace") {
    network_desk d;
    auto terms = terms_of("a");
    terms.deferred = true;
    d.open("r1", terms);
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test"))).request;
    d.gone(1); // its sockets close before its end is known
    CHECK(only<desk::start_grace>(d.close("r1")).registration == "r1");
    const auto end = only<desk::closed>(d.answered(answer_to(asked, review_decision::denied))).end;
    CHECK(end.blocked.at(0).reason == network_refusal::denied_by_user);
    CHECK(d.unwanted(asked.review_id).empty());
    CHECK(d.idle());
  }

  TEST_CASE("§95 the time limit stands still while connections wait for a person") {
    network_desk d;
    d.open("r1", terms_of("a"));
    const auto effects = d.want("r1", 1, wish_for("new.test"));
    CHECK(only<desk::hold>(effects).what == host_wait::begins);
    CHECK(all<desk::hold>(d.want("r1", 2, wish_for("new.test"))).empty());
    CHECK(all<desk::hold>(d.gone(1)).empty());
    const auto asked = only<desk::ask_review>(effects);
    CHECK(only<desk::hold>(d.answered(answer_to(asked.request, review_decision::approved))).what ==
          host_wait::answered);
  }

  TEST_CASE("§95 a wait for an answer that nobody gives is told as that, whatever ended it") {
    network_desk d;
    d.open("r1", terms_of("a"));
    const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("one.test"))).request;
    d.gone(1);
    CHECK(only<desk::hold>(d.unwanted(asked.review_id)).what == host_wait::unanswered);
    const auto late = only<desk::ask_review>(d.want("r1", 2, wish_for("two.test"))).request;
    auto answer = answer_to(late, review_decision::timed_out);
    CHECK(only<desk::hold>(d.answered(answer)).what == host_wait::unanswered);
    CHECK(d.answered(answer).empty());
  }

  TEST_CASE("§149 §114 §115 §117 immediate ends with the runtime, deferred after its grace") {
    for (const bool deferred : {false, true}) {
      network_desk d;
      auto terms = terms_of("a");
      terms.deferred = deferred;
      d.open("r1", terms);
      const auto asked = only<desk::ask_review>(d.want("r1", 1, wish_for("new.test")));
      auto effects = d.close("r1");
      if (!deferred) {
        CHECK(only<desk::closed>(effects).end.refused->may_ask);
        CHECK(d.idle());
        continue;
      }
      CHECK(only<desk::start_grace>(effects).registration == "r1");
      CHECK(all<desk::closed>(effects).empty());
      CHECK(d.close("r1").empty());
      CHECK_FALSE(allowed(d.want("r1", 2, wish_for("ok.test"))));
      // A late denial within the grace counts, and ends no process any more.
      effects = d.answered(answer_to(asked.request, review_decision::denied));
      CHECK(all<desk::end_process>(effects).empty());
      const auto end = only<desk::closed>(effects).end;
      CHECK(d.grace_over("r1").empty());
      CHECK_FALSE(end.refused->may_ask);
      CHECK(end.denied->host == "https://new.test:443");
      CHECK(d.idle());
    }
  }

  TEST_CASE("§143 refusals by rule, address or TLS name are events of their call") {
    network_desk d;
    d.open("r1", terms_of("a"));
    const auto refused = d.want("r1", 1, wish_for("bad.test"));
    CHECK_FALSE(allowed(refused));
    CHECK(only<desk::tell_blocked>(refused).what.rule == "bad.test");
    CHECK_FALSE(allowed(d.want("r1", 2, wish_for("127.0.0.1", 80, network_protocol::http))));
    blocked_connection tls;
    tls.target = key_of("ok.test");
    tls.reason = network_refusal::names_disagree;
    CHECK(only<desk::tell_blocked>(d.blocked("r1", tls)).what.call_id == "a");
    blocked_connection garbage;
    garbage.reason = network_refusal::malformed_host;
    d.blocked("r1", garbage);
    blocked_connection bind;
    bind.target = key_of("bind.test");
    bind.reason = network_refusal::not_carried; // for no host at all
    d.blocked("r1", bind);
    const auto end = only<desk::closed>(d.close("r1")).end;
    REQUIRE(end.blocked.size() == 5);
    CHECK(end.blocked[0].rule == "bad.test");
    CHECK(end.blocked[0].call_id == "a");
    CHECK(end.blocked[1].reason == network_refusal::local_address);
    CHECK(end.refused->host == "https://ok.test:443"); // the last that names a host
  }

  TEST_CASE("§143 §204 a host that is none was told with its control characters and whole length") {
    network_desk d;
    d.open("r1", terms_of("a"));
    const std::pair<std::string, std::string> rows[] = {
        {"a\nb\x1b[2Jc", "a\\x0ab\\x1b[2Jc"},
        {"a\xe2\x80\xae", "a\\u202e"},
        {"a\xff", "a\\xff"},
        {std::string(60'000, 'a'), std::string(252, 'a') + "\xE2\x80\xA6"},
        {std::string(60'000, '\x01'), {}},
    };
    std::uint64_t wish = 0;
    for (const auto& row : rows) {
      const auto told = only<desk::tell_blocked>(d.want("r1", ++wish, wish_for(row.first))).what;
      CHECK(told.reason == network_refusal::malformed_host);
      if (!row.second.empty()) CHECK(told.target.host == row.second);
      CHECK(told.target.host.size() <= 255);
      CHECK(shows_as_it_is(told.target.host));
    }
    for (const auto& what : only<desk::closed>(d.close("r1")).end.blocked)
      CHECK(shows_as_it_is(what.target.host));
  }

  TEST_CASE("§143 nothing said that more were refused than are kept") {
    network_desk d;
    d.open("r1", terms_of("a"));
    for (std::uint64_t i = 0; i < network_desk::most_blocked + 10; ++i)
      CHECK_FALSE(allowed(d.want("r1", i, wish_for("bad.test"))));
    const auto end = only<desk::closed>(d.close("r1")).end;
    CHECK(end.blocked.size() == network_desk::most_blocked);
    CHECK(end.blocked_total == network_desk::most_blocked + 10);
  }

  TEST_CASE("§113 a yes for good was offered where a prompt rule goes on asking") {
    network_desk d;
    auto terms = terms_of("a");
    terms.policy = policy_of({{"asks.test", decision::prompt}});
    d.open("r1", terms);
    CHECK(
        only<desk::ask_review>(d.want("r1", 1, wish_for("asks.test"))).request.prompt_rule_stands);
    CHECK_FALSE(
        only<desk::ask_review>(d.want("r1", 2, wish_for("new.test"))).request.prompt_rule_stands);
  }

  TEST_CASE("§143 a command cannot bury a person under questions") {
    network_desk d;
    d.open("r1", terms_of("a"));
    for (std::uint64_t i = 0; i < network_desk::most_questions; ++i)
      CHECK(all<desk::ask_review>(d.want("r1", i, wish_for("h" + std::to_string(i) + ".test")))
                .size() == 1);
    CHECK_FALSE(allowed(d.want("r1", 99, wish_for("more.test"))));
    CHECK(all<desk::answer_wish>(d.want("r1", 100, wish_for("h1.test"))).empty());
  }

  TEST_CASE(
      "§116 §117 10,000 rounds of parallel calls, answers, exits and late denials: no decision "
      "is lost or attributed to another call") {
    std::mt19937 random{20261129};
    const auto below = [&](std::size_t n) { return random() % n; };
    network_desk d;
    struct live {
      std::string call;
      bool closing = false, deferred = false;
      std::set<host_key> asked; ///< keys that this call has wanted and no rule decides
    };
    std::map<std::string, live> calls;
    std::map<std::uint64_t, std::pair<std::string, host_key>> waiting;
    std::map<std::string, std::pair<host_key, review_request>> open; ///< by review id
    std::vector<review_request> old;
    std::map<std::string, std::set<host_key>> said_no; ///< by call id
    std::set<std::uint64_t> settled;
    std::uint64_t wishes = 0, registrations = 0, granted = 0, refused = 0, closed = 0;

    const auto carry_out = [&](const desk::effects& effects, const host_key* decided, bool yes) {
      for (const auto& effect : effects) {
        if (const auto* answer = std::get_if<desk::answer_wish>(&effect)) {
          REQUIRE(settled.insert(answer->wish).second); // exactly once
          const auto at = waiting.find(answer->wish);
          if (at == waiting.end()) continue;
          if (decided && at->second.second == *decided) REQUIRE(answer->allowed == yes);
          if (answer->allowed) {
            ++granted;
            REQUIRE(answer->host == at->second.second.host);
          } else {
            ++refused;
            REQUIRE(answer->what->target.host == at->second.second.host);
            REQUIRE(answer->what->call_id == calls.at(at->second.first).call);
          }
          waiting.erase(at);
        } else if (const auto* ask = std::get_if<desk::ask_review>(&effect)) {
          for (const auto& [id, question] : open)
            REQUIRE(question.first != *ask->request.network); // one at a time
          REQUIRE(
              open.emplace(ask->request.review_id, std::pair{*ask->request.network, ask->request})
                  .second);
        } else if (const auto* moot = std::get_if<desk::withdraw_review>(&effect)) {
          REQUIRE(open.contains(moot->review_id));
          old.push_back(open.at(moot->review_id).second);
          open.erase(moot->review_id);
        } else if (const auto* end = std::get_if<desk::end_process>(&effect)) {
          REQUIRE(decided);
          REQUIRE_FALSE(yes);
          REQUIRE(calls.at(end->registration).asked.contains(*decided));
          REQUIRE_FALSE(calls.at(end->registration).closing);
        } else if (const auto* over = std::get_if<desk::closed>(&effect)) {
          ++closed;
          const auto& call = calls.at(over->registration);
          for (const auto& [wish, of] : waiting)
            REQUIRE(of.first != over->registration); // nobody is left waiting
          for (const auto& what : over->end.blocked) {
            REQUIRE(what.call_id == call.call);
            if (what.reason == network_refusal::denied_by_user)
              REQUIRE(call.asked.contains(what.target));
          }
          // A no that was given while it ran is what it ended with.
          if (!said_no[call.call].empty()) {
            REQUIRE(over->end.refused);
            REQUIRE_FALSE(over->end.refused->may_ask);
          }
          calls.erase(over->registration);
        }
      }
    };

    for (int round = 0; round < 10'000; ++round) {
      const auto pick = [&]() -> std::string {
        if (calls.empty() || below(30) == 0) return "stranger";
        return std::next(calls.begin(), static_cast<std::ptrdiff_t>(below(calls.size())))->first;
      };
      switch (below(11)) {
      case 10: {
        if (open.empty()) break;
        const auto at = std::next(open.begin(), static_cast<std::ptrdiff_t>(below(open.size())));
        const auto [id, asked] = *at;
        const auto effects = d.unwanted(id);
        REQUIRE(all<desk::answer_wish>(effects).empty()); // nobody waited for it
        carry_out(effects, nullptr, false);
        break;
      }
      case 0:
        if (calls.size() < 8) {
          const auto id = "r" + std::to_string(++registrations);
          auto terms = terms_of("call-" + id);
          terms.deferred = below(2) == 0;
          REQUIRE(d.open(id, terms));
          calls[id] = {"call-" + id, false, terms.deferred, {}};
        }
        break;
      case 1:
      case 2:
      case 3:
      case 4: {
        const auto id = pick();
        const auto key =
            key_of("h" + std::to_string(below(5)) + ".test", below(2) == 0 ? 443 : 8443);
        const auto wish = ++wishes;
        if (calls.contains(id)) {
          waiting[wish] = {id, key};
          if (!calls.at(id).closing) calls.at(id).asked.insert(key);
        }
        carry_out(d.want(id, wish, wish_for(key.host, key.port)), nullptr, false);
        break;
      }
      case 5: {
        if (waiting.empty()) break;
        const auto wish =
            std::next(waiting.begin(), static_cast<std::ptrdiff_t>(below(waiting.size())))->first;
        waiting.erase(wish);
        settled.insert(wish); // an answer after it would be one too many
        carry_out(d.gone(wish), nullptr, false);
        carry_out(d.gone(wish), nullptr, false);
        break;
      }
      case 6:
      case 7: {
        if (open.empty()) break;
        const auto at = std::next(open.begin(), static_cast<std::ptrdiff_t>(below(open.size())));
        const auto [key, request] = at->second;
        open.erase(at);
        old.push_back(request);
        static const review_decision decisions[] = {
            review_decision::approved, review_decision::approved, review_decision::denied,
            review_decision::timed_out};
        const auto decision = decisions[below(4)];
        const bool yes = is_approval(decision);
        const auto effects = d.answered(answer_to(request, decision));
        if (!yes)
          for (const auto& end : all<desk::end_process>(effects))
            said_no[calls.at(end.registration).call].insert(key);
        carry_out(effects, &key, yes);
        carry_out(d.answered(answer_to(request, review_decision::approved)), nullptr, false);
        break;
      }
      case 8: { // late, repeated
        if (!old.empty())
          CHECK(d.answered(answer_to(old[below(old.size())], review_decision::approved)).empty());
        break;
      }
      default: {
        const auto id = pick();
        const auto effects = d.close(id);
        if (calls.contains(id) && calls.at(id).deferred) calls.at(id).closing = true;
        carry_out(effects, nullptr, false);
        if (below(2) == 0) carry_out(d.grace_over(id), nullptr, false);
        break;
      }
      }
    }
    std::vector<std::string> left;
    for (const auto& [id, call] : calls)
      left.push_back(id);
    for (const auto& id : left) {
      auto effects = d.close(id);
      if (calls.at(id).deferred) calls.at(id).closing = true;
      carry_out(effects, nullptr, false);
      carry_out(d.grace_over(id), nullptr, false);
    }
    CHECK(d.idle());
    CHECK(waiting.empty());
    CHECK(open.empty());
    CHECK(granted > 300);
    CHECK(refused > 300);
    CHECK(closed > 200);
  }
}
