#include "reactor/websocket_server.hpp"

#include <doctest/doctest.h>

using namespace gatehouse::reactor;

namespace {

struct row {
  std::string name;
  websocket_admission request;
  unsigned expected;
};

} // namespace

TEST_SUITE("reactor.websocket_admission") {
  TEST_CASE("§120 browsers, foreign names and wrong tokens do not get in") {
    websocket_terms terms;
    terms.token = "0123456789abcdef?>";
    terms.origins = {"https://ide.example"};
    const std::string bearer = "Bearer " + terms.token;
    const std::string host = "127.0.0.1:4711";
    const std::string protocol = "gatehouse.token.MDEyMzQ1Njc4OWFiY2RlZj8-";
    const row rows[] = {
        {"token", {host, {}, bearer, {}}, 0},
        {"localhost", {"localhost:4711", {}, bearer, {}}, 0},
        {"v6", {"[::1]:4711", {}, bearer, {}}, 0},
        {"token as subprotocol", {host, {}, {}, "gatehouse.v1, " + protocol}, 0},
        {"known origin", {host, {"https://ide.example"}, bearer, {}}, 0},
        {"no token", {host, {}, {}, {}}, 401},
        {"half a token", {host, {}, "Bearer 0123456789abcde", {}}, 401},
        {"more than the token", {host, {}, bearer + "x", {}}, 401},
        {"empty bearer", {host, {}, "Bearer ", {}}, 401},
        {"other scheme", {host, {}, "Basic " + terms.token, {}}, 401},
        {"wrong subprotocol", {host, {}, {}, "gatehouse.v1"}, 401},
        {"origin of a page", {host, {"http://127.0.0.1:4711"}, bearer, {}}, 403},
        {"origin that begins like a known one",
         {host, {"https://ide.example.evil"}, bearer, {}},
         403},
        {"null origin", {host, {"null"}, bearer, {}}, 403},
        {"two origins", {host, {"https://ide.example", "https://ide.example"}, bearer, {}}, 403},
        {"rebound name", {"evil.example:4711", {}, bearer, {}}, 403},
        {"name that begins like ours", {"127.0.0.1.evil.example:4711", {}, bearer, {}}, 403},
        {"other port", {"127.0.0.1:80", {}, bearer, {}}, 403},
        {"no port", {"127.0.0.1", {}, bearer, {}}, 403},
        {"no host", {"", {}, bearer, {}}, 403},
    };
    for (const auto& r : rows)
      CHECK_MESSAGE(admit_websocket(r.request, terms, 4711) == r.expected, r.name);
    terms.token.clear();
    CHECK(admit_websocket({host, {}, {}, {}}, terms, 4711) == 0);
    CHECK(admit_websocket({"evil.example", {}, {}, {}}, terms, 4711) == 403);
    terms.unix_path = "/run/x.sock";
    CHECK(admit_websocket({"localhost", {}, {}, {}}, terms, 0) == 0);
    CHECK(admit_websocket({"localhost", {"https://page.example"}, {}, {}}, terms, 0) == 403);
  }

  TEST_CASE("§120 an address beyond this machine needs a token") {
    event_loop loop;
    websocket_terms terms;
    terms.address = "0.0.0.0";
    const auto open = websocket_server::listen(loop, terms, [](const websocket_ptr&) {});
    REQUIRE(!open);
    CHECK(open.error().code == gatehouse::errc::invalid_request);
    terms.address = "localhost";
    CHECK(!websocket_server::listen(loop, terms, [](const websocket_ptr&) {}));
    terms.address = "127.0.0.1";
    const auto here = websocket_server::listen(loop, terms, [](const websocket_ptr&) {});
    REQUIRE(here);
    CHECK((*here)->url().starts_with("ws://127.0.0.1:"));
  }
}
