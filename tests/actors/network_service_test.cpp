#include "tests/actors/network_fixture.hpp"

#include <filesystem>
#include <fstream>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;
using namespace std::chrono_literals;

namespace {

std::string url(const page_server& server, const char* host = "new.test") {
  return "http://" + std::string{host} + ":" + std::to_string(server.port()) + "/";
}

std::string curl(const std::string& url) {
  return "curl -s -o /dev/null -w '%{http_code}' " + url;
}

} // namespace

TEST_SUITE("actors.network_service") {
  TEST_CASE("§147 §109 §111 https:443 for the session: http:80, https:8443 and another environment "
            "still ask, through the real proxy and sandbox") {
    // Ports as in the row, on an address that nobody else uses.
    network_stage stage{"127.93.184.7"};
    const page_server tls{"127.93.184.7", 443}, plain{"127.93.184.7", 80},
        other{"127.93.184.7", 8443};
    stage.reviews->at_once = [](const review_request& question) {
      return question.network->port == 443 && question.network->environment_id == "local"
                 ? review_decision::approved_for_session
                 : review_decision::approved;
    };
    // The bytes in the tunnel are nobody's business: the page answers whatever comes.
    const auto tunnel = [](int port) {
      return "curl -s -p -x http://127.0.0.1:3128 -o /dev/null -w '%{http_connect}' "
             "http://new.test:" +
             std::to_string(port) + "/";
    };
    const auto status = tls.up() && plain.up() && other.up() ? "200" : "502"; // asked, all the same
    CHECK(stage.run_shell(tunnel(443)).output.stdout_text == status);
    CHECK(stage.reviews->asked.size() == 1);
    CHECK(stage.reviews->asked[0].network ==
          host_key{"local", "new.test", network_protocol::https, 443});
    CHECK(stage.run_shell(tunnel(443)).output.stdout_text == status);
    CHECK(stage.reviews->asked.size() == 1); // for the session
    CHECK(stage.run_shell(curl("http://new.test/")).output.stdout_text == status);
    CHECK(stage.reviews->asked.size() == 2);
    CHECK(stage.run_shell(tunnel(8443)).output.stdout_text == status);
    CHECK(stage.reviews->asked.size() == 3);
    CHECK(stage.run_shell(tunnel(443), "remote").output.stdout_text == status);
    CHECK(stage.reviews->asked.size() == 4);
    CHECK(stage.run_shell(tunnel(443)).output.stdout_text == status);
    CHECK(stage.reviews->asked.size() == 4);
  }

  TEST_CASE("§143 §204 a host that is none forged lines of ours and filled the audit") {
    const auto say = [](const std::string& words) {
      // In one write: the shell's own goes line by line, and what came first would be judged.
      return "bash -c \"exec 3<>/dev/tcp/127.0.0.1/3128; printf '" + words +
             "' | dd bs=4096 iflag=fullblock status=none >&3; cat <&3 >/dev/null\"; exit 3";
    };
    const std::string name = R"(a\nb\033[2J)"; // of seven bytes, as printf writes it
    const std::string shown = R"(a\x0ab\x1b[2J)";
    const std::pair<const char*, std::string> rows[] = {
        {"HTTP, a request for the server itself",
         R"(GET / HTTP/1.1\r\nHost: )" + name + R"(\r\n\r\n)"},
        {"SOCKS4a", R"(\004\001\000P\000\000\000\001me\000)" + name + R"(\000)"},
        {"SOCKS5 CONNECT", R"(\005\001\000\005\001\000\003\007)" + name + R"(\001\273)"},
        {"SOCKS5 BIND", R"(\005\001\000\005\002\000\003\007)" + name + R"(\001\273)"},
        {"SOCKS5 UDP", R"(\005\001\000\005\003\000\003\007)" + name + R"(\001\273)"},
    };
    for (const auto& row : rows) {
      CAPTURE(row.first);
      network_stage stage;
      const auto report = stage.run_shell(say(row.second));
      REQUIRE(!report.attempts.empty());
      REQUIRE(report.attempts[0].blocked.size() == 1);
      CHECK(report.attempts[0].blocked[0].target.host == shown);
      REQUIRE(stage.blocked.size() == 1);
      CHECK(stage.blocked[0].target.host == shown);
      CHECK(report.message.find('\x1b') == std::string::npos);
      CHECK(report.message.find("a\nb") == std::string::npos);
    }
    const auto pour = [](const std::string& before, const std::string& bytes,
                         const std::string& after) {
      return "bash -c \"exec 3<>/dev/tcp/127.0.0.1/3128; { printf '" + before +
             "'; head -c 60000 "
             "/dev/zero | tr '\\\\0' '" +
             bytes + "'; printf '" + after + "'; } >&3; cat <&3 >/dev/null\"; exit 3";
    };
    const std::pair<const char*, std::string> long_rows[] = {
        {"HTTP Host", pour(R"(GET / HTTP/1.1\r\nHost: )", R"(\\001)", R"(\r\n\r\n)")},
        {"CONNECT", pour("CONNECT ", "a", R"(:443 HTTP/1.1\r\nHost: x\r\n\r\n)")},
        {"GET", pour("GET http://", "a", R"(/ HTTP/1.1\r\nHost: x\r\n\r\n)")},
    };
    for (const auto& row : long_rows) {
      CAPTURE(row.first);
      network_stage stage;
      const auto report = stage.run_shell(row.second);
      REQUIRE(!report.attempts.empty());
      REQUIRE(report.attempts[0].blocked.size() == 1);
      const auto& host = report.attempts[0].blocked[0].target.host;
      CHECK(host.size() <= 255);
      CHECK(host.ends_with("\xE2\x80\xA6"));
      CHECK(report.message.size() < 4096);
    }
  }

  TEST_CASE("§143 §204 a server named inside a tunnel forged lines in the text of its refusal") {
    network_stage stage;
    const page_server server{"127.0.0.1", 0};
    const auto at = "ok.test:" + std::to_string(server.port());
    const auto report = stage.run_shell(
        "bash -c \"exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT " + at +
        R"( HTTP/1.1\r\nHost: )" + at +
        R"(\r\n\r\nGET / HTTP/1.1\r\nHost: e\033[2Jvil\r\n\r\n' >&3; cat <&3 >/dev/null"; exit 3)");
    REQUIRE(!report.attempts.empty());
    REQUIRE(report.attempts[0].blocked.size() == 1);
    const auto& detail = report.attempts[0].blocked[0].detail;
    CHECK(detail.ends_with(R"(names the server e\x1b[2Jvil)"));
    CHECK(report.message.find('\x1b') == std::string::npos);
    CHECK(server.served() <= 1); // connected to, and sent nothing
  }

  TEST_CASE("§149 §114 shell_command: the registration is finished when the call returns") {
    network_stage stage;
    stage.reviews->at_once = [](const review_request& question) -> std::optional<review_decision> {
      if (question.attempt == 2) return review_decision::denied; // the retry with that host (§102)
      return std::nullopt;
    };
    const page_server server{"127.0.0.1", 0};
    const auto report = *stage.wait(stage.start_shell("curl -s -m 1 " + url(server) + "; exit 3"));
    REQUIRE(stage.reviews->asked.size() >= 1);
    // Nobody answered: with the call its question is gone, and what it was about is reported.
    CHECK(stage.reviews->withdrawn.front() == stage.reviews->asked.front().review_id);
    REQUIRE(!report.attempts.empty());
    CHECK(report.attempts[0].blocked.at(0).reason == network_refusal::question_closed);
    CHECK(server.served() == 0);
  }

  TEST_CASE("§149 §115 exec_command: the registration lives with the process, in the background") {
    network_stage stage;
    const page_server server{"127.0.0.1", 0};
    const auto first =
        *stage.wait(stage.start_session("sleep 1; " + curl(url(server)) + "; echo; exit 5", 100ms));
    REQUIRE(first.result.session_id);
    CHECK(stage.reviews->asked.empty());
    REQUIRE(stage.asked(1)); // long after the call has been answered
    CHECK(stage.reviews->asked[0].call_id == first.report->call_id);
    stage.answer(0, review_decision::approved);
    std::string text = first.result.output;
    const auto last = stage.finish(*first.result.session_id, text);
    CHECK(text == "200\n");
    CHECK(last.result.exit_code == 5);
    CHECK(server.served() == 1);
    CHECK(stage.blocked.empty());
  }

  TEST_CASE("§116 a no ends a process in the background; the poll says which host and why") {
    network_stage stage;
    const page_server server{"127.0.0.1", 0};
    const auto first = *stage.wait(
        stage.start_session("sleep 0.5; curl -s " + url(server) + "; sleep 600", 100ms));
    REQUIRE(first.result.session_id);
    REQUIRE(stage.asked(1));
    stage.answer(0, review_decision::denied);
    std::string text;
    const auto last = stage.finish(*first.result.session_id, text);
    REQUIRE(last.ended);
    CHECK(last.ended->ending == attempt_ending::denied);
    REQUIRE(last.ended->denied);
    CHECK(last.ended->denied->host == "http://new.test:" + std::to_string(server.port()));
    CHECK(last.message.find("new.test") != std::string::npos);
    REQUIRE(last.ended->blocked.size() == 1);
    CHECK(last.ended->blocked[0].call_id == first.report->call_id);
    CHECK(server.served() == 0);
    CHECK(stage.no_process_left());
  }

  TEST_CASE(
      "§117 §149 a denial in the grace after the exit is the process's; later it is nobody's") {
    for (const bool in_time : {true, false}) {
      network_stage stage{"127.0.0.1", in_time ? std::chrono::milliseconds{60s} : 100ms};
      const page_server server{"127.0.0.1", 0};
      const auto first = *stage.wait(
          stage.start_session("sleep 0.3; curl -s -m 0.5 " + url(server) + "; exit 3", 50ms));
      REQUIRE(first.result.session_id);
      REQUIRE(stage.asked(1));
      REQUIRE(stage.no_process_left());
      if (in_time) stage.answer(0, review_decision::denied);
      std::string text;
      const auto last = stage.finish(*first.result.session_id, text);
      REQUIRE(last.ended);
      CHECK(last.result.exit_code == 3);
      REQUIRE(last.ended->blocked.size() == 1);
      CHECK(last.ended->blocked[0].reason ==
            (in_time ? network_refusal::denied_by_user : network_refusal::question_closed));
      CHECK(stage.reviews->withdrawn.size() == (in_time ? 0 : 1));
      CHECK(last.ended->denied->host == "http://new.test:" + std::to_string(server.port()));
    }
  }

  TEST_CASE(
      "§110 a question whose client has left stands before the person until the command ends") {
    network_stage stage;
    const page_server server{"127.0.0.1", 0};
    // A tunnel that its client gives up, and one whose client is killed.
    for (const char* how : {"curl -s -p -m 1 ", "timeout -s KILL 1 curl -s -p "}) {
      const auto shell = stage.start_shell(how + url(server) +
                                           " || true; while ! test -e go; do "
                                           "sleep 0.05; done");
      const auto before = stage.reviews->withdrawn.size();
      REQUIRE(stage.loop.run_until([&] { return stage.reviews->withdrawn.size() > before; }, 30s));
      CHECK_FALSE(shell->has_value());
      CHECK(stage.reviews->withdrawn.back() == stage.reviews->asked.back().review_id);
      REQUIRE(stage.warnings.size() == before + 1);
      CHECK(stage.warnings.back().find("is withdrawn: no connection waits") != std::string::npos);
      std::ofstream{stage.folder.path() + "/go"};
      const auto report = *stage.wait(shell);
      CHECK(report.ending == call_ending::completed);
      CHECK(report.attempts[0].blocked.at(0).reason == network_refusal::question_closed);
      std::filesystem::remove(stage.folder.path() + "/go");
    }
    CHECK(server.served() == 0);
  }

  TEST_CASE("§112 when the turn is over nobody is asked for a process in the background") {
    network_stage stage;
    const page_server server{"127.0.0.1", 0};
    const auto first = *stage.wait(stage.start_session(
        "sleep 0.5; " + curl(url(server)) + "; " + curl(url(server, "ok.test")) + "; exit 5",
        50ms));
    REQUIRE(first.result.session_id);
    caf::anon_send(stage.service, turn_over_v, false);
    std::string text;
    const auto last = stage.finish(*first.result.session_id, text);
    CHECK(text == "403200");
    CHECK(stage.reviews->asked.empty());
    CHECK(last.ended->blocked.at(0).detail.find("turn") != std::string::npos);
  }

  TEST_CASE("§116 a command that does without the host does not go on after a no") {
    network_stage stage;
    const page_server server{"127.0.0.1", 0};
    for (const bool deferred : {false, true}) {
      const auto before = stage.reviews->asked.size();
      const std::string script = "trap '' TERM INT; curl -s " + url(server) +
                                 " || true; touch went-on; curl -s " + url(server, "ok.test") +
                                 "; sleep 600";
      const auto shell = deferred ? nullptr : stage.start_shell(script);
      const auto session = deferred ? stage.start_session(script, 20s) : nullptr;
      REQUIRE(stage.asked(before + 1));
      stage.answer(before, review_decision::denied);
      if (deferred)
        CHECK(stage.wait(session)->report->ending == call_ending::refused);
      else
        CHECK(stage.wait(shell)->ending == call_ending::refused);
      CHECK_FALSE(std::filesystem::exists(stage.folder.path() + "/went-on"));
      CHECK(stage.no_process_left());
    }
    CHECK(server.served() == 0);
  }

  TEST_CASE("§112 §116 a call that is cancelled takes its question with it at once, and a late yes "
            "opens nothing") {
    network_stage stage;
    const page_server server{"127.0.0.1", 0};
    const auto shell =
        stage.start_shell("trap '' TERM; curl -s -d stolen " + url(server) + "; sleep 600");
    REQUIRE(stage.asked(1));
    caf::anon_send(stage.last_call, cancel_v);
    REQUIRE(stage.loop.run_until([&] { return !stage.reviews->withdrawn.empty(); }, 30s));
    CHECK_FALSE(shell->has_value()); // it still has its grace
    const auto report = *stage.wait(shell);
    CHECK(report.ending == call_ending::aborted);
    CHECK(server.served() == 0);
    CHECK(stage.no_process_left());
  }

  TEST_CASE("§95 the limits of a session stand still while a person is asked") {
    network_stage stage;
    stage.terms.process.hard_limit = 1500ms;
    stage.terms.process.idle_limit = 1000ms;
    caf::anon_send_exit(stage.manager, caf::exit_reason::user_shutdown);
    stage.manager = stage.system->spawn<process_manager>(stage.terms);
    const page_server server{"127.0.0.1", 0};
    const auto slot = stage.start_session(curl(url(server)) + "; exit 5", 50ms);
    REQUIRE(stage.asked(1));
    const auto first = *stage.wait(slot);
    REQUIRE(first.result.session_id);
    CHECK_FALSE(stage.loop.run_until([] { return false; }, 2500ms));
    stage.answer(0, review_decision::approved);
    std::string text = first.result.output;
    CHECK(stage.finish(*first.result.session_id, text).result.exit_code == 5);
    CHECK(text == "200");
  }

  TEST_CASE("§95 a process outlived its limits for as long as nobody answered its question") {
    network_stage stage{"127.0.0.1", {}, 300ms};
    stage.terms.process.hard_limit = 700ms;
    caf::anon_send_exit(stage.manager, caf::exit_reason::user_shutdown);
    stage.manager = stage.system->spawn<process_manager>(stage.terms);
    const page_server server{"127.0.0.1", 0};
    const auto slot = stage.start_session(curl(url(server)), 50ms);
    REQUIRE(stage.asked(1));
    const auto first = *stage.wait(slot); // its yield goes on, too
    REQUIRE(first.result.session_id);
    std::string text;
    CHECK(stage.finish(*first.result.session_id, text).result.exit_code != 0);
    CHECK(stage.reviews->open.empty());
    CHECK(stage.no_process_left());
  }

  TEST_CASE("BR-081 §143 a local port is granted by any of the three names of this machine") {
    const auto view_for = [](std::initializer_list<const char*> rules, bool limited = false) {
      policy::domain_policy policy;
      policy.limited = limited;
      for (const char* text : rules)
        policy.rules.push_back(
            {*policy::parse_domain_pattern(text), decision::allow, std::nullopt, text});
      return view_of(policy).forwarded_ports;
    };
    CHECK(view_for({"localhost:5000", "127.0.0.1:5001", "[::1]:5002", "127.0.0.1:5000",
                    "10.1.2.3:5003"}) == std::vector<std::uint16_t>{5000, 5001, 5002});
    CHECK(view_for({"localhost:5000"}, true).empty()); // limited mode sees what it lets through
  }

  TEST_CASE("§108 parallel calls to the same and to different hosts are told apart") {
    network_stage stage;
    const page_server server{"127.0.0.1", 0};
    const auto one = stage.start_shell("curl -s " + url(server, "bad.test") + "; exit 1");
    const auto two = stage.start_shell("curl -s " + url(server, "bad.test") + "; curl -s " +
                                       url(server, "ok.test") + "; exit 2");
    const auto three = stage.start_session("curl -s " + url(server, "new.test"), 20s);
    REQUIRE(stage.asked(1));
    const auto four = stage.start_session("curl -s " + url(server, "new.test"), 20s);
    CHECK_FALSE(stage.loop.run_until([&] { return stage.reviews->asked.size() > 1; }, 1000ms));
    stage.answer(0, review_decision::approved);
    const auto first = *stage.wait(one), second = *stage.wait(two);
    REQUIRE(first.attempts[0].blocked.size() == 1);
    REQUIRE(second.attempts[0].blocked.size() == 1);
    CHECK(first.attempts[0].blocked[0].call_id == first.call_id);
    CHECK(second.attempts[0].blocked[0].call_id == second.call_id);
    CHECK(second.output.stdout_text.find("page") != std::string::npos);
    for (const auto& session : {three, four}) {
      const auto reply = *stage.wait(session);
      CHECK(reply.result.output == "page\n");
      REQUIRE(reply.report);
      CHECK(reply.report->attempts[0].blocked.empty());
      REQUIRE(reply.report->reviews.size() == 1);
      CHECK(reply.report->reviews[0].host == "http://new.test:" + std::to_string(server.port()));
    }
    CHECK(stage.reviews->asked.size() == 1);
  }
}
