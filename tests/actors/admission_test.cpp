#include "actors/endpoint/admission.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using reactor::http_request;

namespace {

const std::string agent_token(43, 'a');
const std::string reviewer_token(43, 'r');

admission_terms terms() {
  admission_terms t;
  t.agent_token = sha256_of(agent_token);
  t.reviewer_token = sha256_of(reviewer_token);
  t.origins = {"vscode-webview://abc"};
  t.own_uid = 1000;
  return t;
}

http_request upgrade() {
  http_request r;
  r.method = "GET";
  r.target = "/";
  r.upgrade = true;
  r.port = 4711;
  r.headers = {{"host", "127.0.0.1:4711"}};
  return r;
}

http_request with(std::string name, std::string value, http_request r = upgrade()) {
  r.headers.emplace_back(std::move(name), std::move(value));
  return r;
}

http_request host(std::string value) {
  auto r = upgrade();
  r.headers = {{"host", std::move(value)}, {"authorization", "Bearer " + agent_token}};
  return r;
}

unsigned status(const http_request& r, const admission_terms& t = terms()) {
  return admit(r, t).answer.status;
}

} // namespace

TEST_SUITE("actors.admission") {
  TEST_CASE("§D13 each token has its one authority") {
    const auto agent = admit(with("authorization", "Bearer " + agent_token), terms());
    CHECK(agent.answer.status == 101);
    CHECK(agent.who == authority::agent);
    const auto reviewer = admit(with("authorization", "bEaReR " + reviewer_token), terms());
    CHECK(reviewer.answer.status == 101);
    CHECK(reviewer.who == authority::reviewer);
  }

  TEST_CASE("§201 without a token, or with a wrong one, nobody comes in") {
    CHECK(status(upgrade()) == 401);
    for (const std::string& value :
         {"Bearer " + agent_token.substr(1), std::string{"Bearer "}, std::string{"Bearer"},
          "Basic " + agent_token, agent_token, "Bearer " + agent_token + " "})
      CHECK(status(with("authorization", value)) == 401);
    auto twice = with("authorization", "Bearer " + agent_token);
    twice.headers.emplace_back("authorization", "Bearer " + reviewer_token);
    CHECK(status(twice) == 401);
    auto query = upgrade();
    query.target = "/?token=" + agent_token;
    CHECK(status(query) == 401);
    auto empty = terms();
    empty.reviewer_token.reset();
    CHECK(status(with("authorization", "Bearer "), empty) == 401);
  }

  TEST_CASE("an open server gives an agent's authority only") {
    auto open = terms();
    open.open_to_agents = true;
    const auto in = admit(upgrade(), open);
    CHECK(in.answer.status == 101);
    CHECK(in.who == authority::agent);
    CHECK(status(with("authorization", "Bearer wrong"), open) == 401);
  }

  TEST_CASE("a page's origin is refused before its token is looked at") {
    for (const char* origin : {"https://evil.example", "null", "http://127.0.0.1:4711", "",
                               "vscode-webview://abcd", "vscode-webview://ab"}) {
      CAPTURE(origin);
      CHECK(status(with("origin", origin, with("authorization", "Bearer " + agent_token))) == 403);
    }
    CHECK(status(with("origin", "vscode-webview://abc",
                      with("authorization", "Bearer " + agent_token))) == 101);
    auto twice =
        with("origin", "vscode-webview://abc", with("authorization", "Bearer " + agent_token));
    twice.headers.emplace_back("origin", "https://evil.example");
    CHECK(status(twice) == 403);
  }

  TEST_CASE("§D13 a foreign Host is a rebinding page") {
    for (const char* name : {"127.0.0.1:4711", "localhost:4711", "[::1]:4711"})
      CHECK(status(host(name)) == 101);
    for (const char* name : {"127.0.0.1", "127.0.0.1:4712", "127.evil.example:4711",
                             "evil.example:4711", "localhost.evil.example:4711", "0.0.0.0:4711",
                             "127.0.0.1:4711 ", "", "127.1:4711", "[::ffff:127.0.0.1]:4711"}) {
      CAPTURE(name);
      CHECK(status(host(name)) == 403);
    }
    auto none = upgrade();
    none.headers = {{"authorization", "Bearer " + agent_token}};
    CHECK(status(none) == 403);
  }

  TEST_CASE("a Unix socket is for its own user") {
    auto r = with("authorization", "Bearer " + reviewer_token);
    r.local_socket = true;
    r.port = 0;
    r.headers[0].second = "anything";
    r.peer_uid = 1000;
    CHECK(status(r) == 101);
    r.peer_uid = 1001;
    CHECK(status(r) == 403);
    r.peer_uid.reset();
    CHECK(status(r) == 403);
  }

  TEST_CASE("health answers, other paths and methods do not") {
    auto r = upgrade();
    r.upgrade = false;
    CHECK(status(r) == 426);
    for (const char* path : {"/readyz", "/healthz"}) {
      r.target = path;
      CHECK(status(r) == 200);
      CHECK(status(with("origin", "https://evil.example", r)) == 403);
    }
    r.target = "/other";
    CHECK(status(r) == 404);
    r.target = "/";
    r.method = "POST";
    CHECK(status(r) == 405);
    r.method = "OPTIONS";
    CHECK(status(r) == 405);
  }

  TEST_CASE("a page that is listed may bring its token as a subprotocol") {
    const auto r = with("sec-websocket-protocol", "gatehouse.v1, gatehouse.token." + reviewer_token,
                        with("origin", "vscode-webview://abc"));
    const auto in = admit(r, terms());
    CHECK(in.answer.status == 101);
    CHECK(in.who == authority::reviewer);
    // The answer names the protocol, never the token.
    REQUIRE(in.answer.headers.size() == 1);
    CHECK(in.answer.headers[0].second == "gatehouse.v1");
    CHECK(status(with("sec-websocket-protocol", "gatehouse.token.x")) == 401);
  }
}
