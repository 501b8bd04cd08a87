#include "policy/rules/rule_file.hpp"
#include "tests/actors/hosted_thread.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace gatehouse::actors::thread_messages;
using namespace std::chrono_literals;

namespace {

using verdict = review_decision;

/// A session under `on-request`.
struct session : live_session {
  session() { terms.session.approval.mode = approval_mode::on_request; }

  /// How many questions this call asks; all of them get this answer.
  std::size_t asks(const std::string& id, const shell_request& what, verdict answer_with) {
    const auto before = heard->questions().size();
    begin(id, tool_arguments{what});
    wait([&] {
      for (auto i = before + answered; i < heard->questions().size(); ++i, ++answered) {
        const auto q = heard->questions()[i];
        thread->send(answer_review{q.review_id, q.digest, answer_with, {}, {}, {}});
      }
      return reports.contains(id);
    });
    return std::exchange(answered, 0);
  }
  std::size_t answered = 0;

  /// Runs request_permissions to its end; `say` answers its question.
  const call_report& request(const std::string& id, additional_permissions wish, verdict say,
                             std::optional<given_permissions> given = {}) {
    const auto before = heard->questions().size();
    begin(id, tool_arguments{permissions_request{std::move(wish), "to build"}});
    wait([&] { return heard->questions().size() > before || reports.contains(id); });
    if (heard->questions().size() > before)
      REQUIRE(answer(heard->questions().back(), say, {}, std::move(given)));
    wait([&] { return reports.contains(id); });
    return report(id);
  }
  proposal proposed(const std::string& id) {
    for (const auto& item : heard->all<thread_events::item_started>())
      if (item.call_id == id) return item.what;
    return {};
  }
};

additional_permissions may_write(const std::string& path) {
  additional_permissions wish;
  wish.entries.push_back({literal_path{path}, access::write, false});
  return wish;
}

} // namespace

TEST_SUITE("actors.thread_permissions") {
  TEST_CASE("§146 §52 an approval for the session covers exactly its action, in every part") {
    session s;
    s.terms.session_approvals = true;
    s.open();
    const auto base = argv_request({"rm", "-rf", "no-such"});
    CHECK(s.asks("1", base, verdict::approved_for_session) == 1);
    CHECK(s.asks("2", base, verdict::denied) == 0);
    CHECK(s.report("2").reviews.front().reason.find("session") != std::string::npos);

    auto elsewhere = base;
    elsewhere.workdir = "below";
    CHECK(s.asks("3", elsewhere, verdict::denied) == 1);
    CHECK(s.asks("4", argv_request({"rm", "-rf", "no-such", "x"}), verdict::denied) == 1);
    CHECK(s.asks("5", argv_request({"rm", "-rf", "no-suc"}), verdict::denied) == 1);
    auto wider = base;
    wider.sandbox_permissions = sandbox_permissions::with_additional_permissions;
    wider.additional_permissions = may_write("/srv/x");
    CHECK(s.asks("6", wider, verdict::denied) == 1);
    auto outside = base;
    outside.sandbox_permissions = sandbox_permissions::require_escalated;
    CHECK(s.asks("7", outside, verdict::denied) == 1);
    shell_request script;
    script.command = std::string{"rm -rf no-such; true"};
    CHECK(s.asks("8", script, verdict::denied) == 1);
    CHECK(s.asks("9", base, verdict::denied) == 0);
  }

  TEST_CASE("§52 a single approval, and a denial, are remembered by nobody") {
    session s;
    s.terms.session_approvals = true;
    s.open();
    const auto base = argv_request({"rm", "-rf", "no-such"});
    CHECK(s.asks("1", base, verdict::approved) == 1);
    CHECK(s.asks("2", base, verdict::denied) == 1);
    CHECK(s.asks("3", base, verdict::approved) == 1);
    CHECK(s.status().approvals.empty());
  }

  TEST_CASE("§52 BR-170 approvals for the session are listed and can be taken back at any time") {
    session s;
    s.terms.session_approvals = true;
    s.open();
    const auto base = argv_request({"rm", "-rf", "no-such"});
    CHECK(s.asks("1", base, verdict::approved_for_session) == 1);
    const auto listed = s.status().approvals;
    REQUIRE(listed.size() == 1);
    CHECK(listed[0].shown == "rm -rf no-such");
    std::optional<bool> found;
    s.thread->send(thread_messages::revoke{thread_messages::revoke::kind::approval, listed[0].id,
                                           [&](bool f) { found = f; }});
    s.wait([&] { return found.has_value(); });
    CHECK(*found);
    CHECK(s.asks("2", base, verdict::denied) == 1);
  }

  TEST_CASE("§42 §D4 BR-170 a rule that is approved holds from then on, and stays in the sandbox") {
    session s;
    s.terms.session.approval.mode = approval_mode::untrusted;
    std::vector<approved_rule> kept;
    s.terms.keep_rule = [&](const approved_rule& rule) -> rules_result {
      kept.push_back(rule);
      std::vector<policy::rule_file> files;
      files.push_back(policy::read_rule_file(
          R"(prefix_rule(pattern=["touch", "made"], decision="allow", sandbox="keep"))", "r", {}));
      return std::make_shared<const policy::rule_set>(std::move(files));
    };
    s.open();
    auto base = argv_request({"touch", "made"});
    base.prefix_rule = {"touch", "made"};
    CHECK(s.asks("1", base, verdict::approved_execpolicy_amendment) == 1);
    s.wait([&] { return !kept.empty(); });
    CHECK(kept[0].prefix == std::vector<std::string>{"touch", "made"});
    CHECK(kept[0].keeps_sandbox);
    // The rules are replaced when they have been read; nothing else moves meanwhile.
    for (int i = 0; i < 1000 && s.heard->questions().size() < 2; ++i)
      s.host->loop().poll();
    CHECK(s.asks("2", base, verdict::denied) == 0);
    CHECK(s.report("2").attempts.at(0).sandbox != sandbox_backend::none);
    CHECK(s.asks("3", argv_request({"touch", "other"}), verdict::denied) == 1);
  }

  TEST_CASE(
      "§42 a rule that cannot be kept is a warning, and the approved call runs all the same") {
    session s;
    s.terms.session.approval.mode = approval_mode::untrusted;
    s.terms.keep_rule = [](const approved_rule&) -> rules_result {
      return error{errc::io, "the disk is full", {}};
    };
    s.open();
    auto base = argv_request({"touch", "made"});
    base.prefix_rule = {"touch", "made"};
    CHECK(s.asks("1", base, verdict::approved_execpolicy_amendment) == 1);
    CHECK(s.report("1").ending == call_ending::completed);
    s.wait([&] { return !s.heard->warnings().empty(); });
    CHECK(s.heard->warnings()[0].find("the disk is full") != std::string::npos);
  }

  TEST_CASE("§16a §15 a grant for the turn is merged into its later calls and ends with it") {
    session s;
    s.open();
    const auto& given = s.request("p", may_write("/srv/out"), verdict::approved);
    CHECK(given.ending == call_ending::completed);
    REQUIRE(given.granted);
    CHECK(given.granted->permissions == may_write("/srv/out"));
    CHECK(given.granted->scope == grant_scope::turn);
    CHECK(given.output.stdout_text.find("/srv/out") != std::string::npos);
    CHECK(s.status().grants.size() == 1);

    CHECK(s.asks("1", argv_request({"make"}), verdict::denied) == 0);
    CHECK(s.proposed("1").additional_permissions == may_write("/srv/out"));
    CHECK(s.report("1").attempts.at(0).sandbox != sandbox_backend::none);

    s.thread->send(end_turn{});
    CHECK(s.status().grants.empty());
    CHECK(s.asks("2", argv_request({"make"}), verdict::denied) == 0);
    CHECK_FALSE(s.proposed("2").additional_permissions);
  }

  TEST_CASE("§16a §15 a grant for the session outlives the turn, until it is taken back") {
    session s;
    s.open();
    s.request("p", may_write("/srv/out"), verdict::approved_for_session);
    s.thread->send(end_turn{});
    CHECK(s.asks("1", argv_request({"make"}), verdict::denied) == 0);
    CHECK(s.proposed("1").additional_permissions == may_write("/srv/out"));
    const auto grants = s.status().grants;
    REQUIRE(grants.size() == 1);
    s.thread->send(thread_messages::revoke{thread_messages::revoke::kind::grant, grants[0].id, {}});
    CHECK(s.asks("2", argv_request({"make"}), verdict::denied) == 0);
    CHECK_FALSE(s.proposed("2").additional_permissions);
  }

  TEST_CASE("§15 a grant settles the overlay, not the command") {
    session s;
    s.open();
    s.request("p", may_write("/srv/out"), verdict::approved);
    auto wish = argv_request({"make"});
    wish.sandbox_permissions = sandbox_permissions::with_additional_permissions;
    wish.additional_permissions = may_write("/srv/out/below");
    CHECK(s.asks("1", wish, verdict::denied) == 0); // wholly inside the grant
    wish.additional_permissions = may_write("/srv");
    CHECK(s.asks("2", wish, verdict::denied) == 1); // wider than the grant
    CHECK(s.asks("3", argv_request({"rm", "-rf", "x"}), verdict::denied) == 1);
  }

  TEST_CASE("§16 a grant never lets a call leave the sandbox") {
    session s;
    s.open();
    s.request("p", may_write("/srv/out"), verdict::approved_for_session);
    auto wish = argv_request({"make"});
    wish.sandbox_permissions = sandbox_permissions::require_escalated;
    CHECK(s.asks("1", wish, verdict::denied) == 1);
    CHECK(s.report("1").ending == call_ending::refused);
  }

  TEST_CASE("§16a what is given is never more than what was asked") {
    session s;
    s.open();
    given_permissions given;
    given.permissions = may_write("/srv");
    given.permissions.network_enabled = true;
    const auto& more = s.request("1", may_write("/srv/out"), verdict::approved, given);
    CHECK(more.granted->permissions == may_write("/srv/out"));
    given.permissions = may_write("/elsewhere");
    const auto& other = s.request("2", may_write("/srv/new"), verdict::approved, given);
    CHECK(other.granted->permissions.empty());
    CHECK(other.message.find("Nothing was granted") != std::string::npos);
    CHECK(s.status().grants.size() == 1);
  }

  TEST_CASE("§16a a no grants nothing and says so") {
    session s;
    s.open();
    const auto& no = s.request("1", may_write("/srv/out"), verdict::denied);
    CHECK(no.ending == call_ending::refused);
    CHECK(no.message.find("Not granted") != std::string::npos);
    CHECK(s.status().grants.empty());
    CHECK(s.heard->all<thread_events::item_ended>().size() == 1);
  }

  TEST_CASE("§16a §33 §34 where no question is allowed nothing is granted and nobody is asked") {
    for (const auto mode : {approval_mode::never, approval_mode::granular}) {
      session s;
      s.terms.session.approval.mode = mode;
      s.open();
      const auto& none = s.request("1", may_write("/srv/out"), verdict::approved);
      CHECK(none.ending == call_ending::completed);
      REQUIRE(none.granted);
      CHECK(none.granted->permissions.empty());
      CHECK(s.heard->questions().empty());
    }
  }

  TEST_CASE(
      "§14 each wish that cannot be granted is refused with its reason, and nobody is asked") {
    session s;
    s.open();
    const auto refused = [&](const std::string& id, additional_permissions wish,
                             std::string_view why) {
      const auto& report = s.request(id, std::move(wish), verdict::approved);
      CHECK(report.ending == call_ending::refused);
      CAPTURE(report.message);
      CHECK(report.message.find(why) != std::string::npos);
    };
    refused("empty", {}, "names neither network nor file system");
    additional_permissions glob;
    glob.entries.push_back({glob_path{"/srv/*"}, access::write, false});
    refused("glob", glob, "a glob may only deny");
    CHECK(s.heard->questions().empty());

    session off;
    off.terms.session.additional_permissions = false;
    off.open();
    CHECK(off.request("1", may_write("/srv/out"), verdict::approved)
              .message.find("switched off in the configuration") != std::string::npos);
    CHECK(off.heard->questions().empty());
  }

  TEST_CASE("§16a a question for permissions is taken back with its turn, and a late yes is none") {
    session s;
    s.open();
    s.begin("p", tool_arguments{permissions_request{may_write("/srv/out"), ""}});
    s.wait_for_questions(1);
    s.thread->send(end_turn{{}, thread_events::turn_ending::interrupted, "stop"});
    s.wait_for_reports(1);
    CHECK(s.report("p").ending == call_ending::aborted);
    CHECK_FALSE(s.answer(s.heard->questions().front(), verdict::approved));
    CHECK(s.status().grants.empty());
  }

  TEST_CASE("§49 an answer may switch strict review on for the rest of the turn") {
    session s;
    std::size_t reviews = 0;
    s.terms.guardian = [&](const guardian_question&, std::function<void(guardian_reply)> done) {
      ++reviews;
      s.host->loop().post([done] {
        done(
            {guardian_reply::kind::text,
             R"({"outcome":"allow","risk_level":"low","user_authorization":"high","rationale":""})"});
      });
      return std::shared_ptr<void>{};
    };
    s.open();
    CHECK(s.asks("0", argv_request({"ls"}), verdict::denied) == 0);
    CHECK(reviews == 0);
    given_permissions given{may_write("/srv/out"), grant_scope::turn, true};
    s.request("p", may_write("/srv/out"), verdict::approved, given);
    CHECK(s.asks("1", argv_request({"ls"}), verdict::denied) == 0);
    CHECK(reviews == 1);
    s.thread->send(end_turn{});
    CHECK(s.asks("2", argv_request({"ls"}), verdict::denied) == 0);
    CHECK(reviews == 1);
  }
}
