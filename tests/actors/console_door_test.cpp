#include "actors/endpoint/console_door.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace gatehouse;
using namespace gatehouse::actors;
using reactor::http_request;

namespace {

constexpr std::array<console_asset, 2> assets{
    {{"", "text/html", "<!doctype html>"}, {"assets/a.js", "text/javascript", "1"}}};

const std::string cookie(43, 'c');

console_door door() {
  return console_door{{"folder", cookie, "key", assets}};
}

http_request request(std::string method, const std::string& file) {
  http_request r;
  r.method = std::move(method);
  r.target = "/console/folder/" + file;
  r.port = 4711;
  r.headers = {{"host", "127.0.0.1:4711"}};
  return r;
}

http_request with(std::string name, std::string value, http_request r) {
  r.headers.emplace_back(std::move(name), std::move(value));
  return r;
}

http_request own(http_request r) {
  return with("origin", "http://127.0.0.1:4711", std::move(r));
}

http_request entering(std::string key) {
  auto r = own(request("POST", "enter"));
  r.body = std::move(key);
  return r;
}

http_request connecting() {
  auto r = request("GET", "socket");
  r.upgrade = true;
  return r;
}

unsigned status(console_door& d, const http_request& r) {
  const auto told = d.consider(r);
  return told ? told->answer.status : 0;
}

std::string header(const admission& a, std::string_view name) {
  for (const auto& [own_name, value] : a.answer.headers)
    if (own_name == name) return value;
  return {};
}

} // namespace

TEST_SUITE("actors.console_door") {
  TEST_CASE("§D13 the key of the link is traded once, for a cookie that no script and no other "
            "path sees") {
    auto d = door();
    CHECK(d.link() == "/console/folder/#key");
    CHECK(status(d, entering("other")) == 403);
    const auto in = d.consider(entering("key"));
    REQUIRE(in);
    CHECK(in->answer.status == 204);
    CHECK(header(*in, "set-cookie") ==
          "gatehouse_console=" + cookie + "; Path=/console/folder/; HttpOnly; SameSite=Strict");
    CHECK(status(d, entering("key")) == 403);
    CHECK(status(d, entering("")) == 403);
    // The link again in the same browser.
    CHECK(status(d, with("cookie", "gatehouse_console=" + cookie, entering("key"))) == 204);
  }

  TEST_CASE("§D13 the key is taken from the console's own page only") {
    auto d = door();
    auto r = request("POST", "enter");
    r.body = "key";
    CHECK(status(d, r) == 403);
    CHECK(status(d, with("origin", "http://127.0.0.1:3000", r)) == 403);
    CHECK(status(d, with("origin", "null", r)) == 403);
    CHECK(status(d, with("origin", "http://127.0.0.1:4711", with("origin", "null", r))) == 403);
    auto get = entering("key");
    get.method = "GET";
    CHECK(status(d, get) == 405);
    CHECK(status(d, entering("key")) == 204);
  }

  TEST_CASE("§D13 the own origin may connect with the cookie, as a reviewer, and in no other way") {
    auto d = door();
    const auto pair = "gatehouse_console=" + cookie;
    const auto in = d.consider(own(with("cookie", "a=b; " + pair, connecting())));
    REQUIRE(in);
    CHECK(in->answer.status == 101);
    CHECK(in->who == authority::reviewer);
    CHECK(status(d, own(connecting())) == 401);
    CHECK(status(d, own(with("cookie", "gatehouse_console=", connecting()))) == 401);
    CHECK(status(d, own(with("cookie", "gatehouse_console=" + std::string(43, 'x'),
                             connecting()))) == 401);
    CHECK(status(d, own(with("cookie", "x" + pair, connecting()))) == 401);
    CHECK(status(d, with("cookie", pair, connecting())) == 403);
    CHECK(status(d, with("origin", "http://localhost:4711", with("cookie", pair, connecting()))) ==
          403);
    CHECK(status(d, with("origin", "http://127.0.0.1:3000", with("cookie", pair, connecting()))) ==
          403);
    auto rebound = own(with("cookie", pair, connecting()));
    rebound.headers.front().second = "evil.example:4711";
    CHECK(status(d, rebound) == 403);
  }

  TEST_CASE("the page has a strict policy and is shown to no other page") {
    auto d = door();
    const auto page = d.consider(request("GET", ""));
    REQUIRE(page);
    CHECK(page->answer.status == 200);
    const auto policy = header(*page, "content-security-policy");
    CHECK(policy.find("default-src 'none'") != std::string::npos);
    CHECK(policy.find("unsafe") == std::string::npos);
    CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
    CHECK(status(d, request("GET", "assets/a.js")) == 200);
    CHECK(status(d, request("GET", "assets/../a.js")) == 404);
    CHECK(status(d, request("POST", "")) == 405);
    const auto script = request("GET", "assets/a.js");
    CHECK(status(d, with("sec-fetch-site", "cross-site", script)) == 403);
    CHECK(status(d, with("sec-fetch-site", "same-site", script)) == 403);
    CHECK(status(d, with("origin", "http://evil.example", script)) == 403);
    CHECK(status(d, with("sec-fetch-site", "same-origin", script)) == 200);
    // A link that is followed from a web terminal.
    CHECK(status(d, with("sec-fetch-dest", "document",
                         with("sec-fetch-mode", "navigate",
                              with("sec-fetch-site", "cross-site", request("GET", ""))))) == 200);
  }

  TEST_CASE("other paths are not the console's") {
    auto d = door();
    http_request r = request("GET", "");
    r.target = "/console/other/";
    CHECK_FALSE(d.consider(r));
    r.target = "/";
    CHECK_FALSE(d.consider(r));
  }
}
