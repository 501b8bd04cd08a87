#include "reactor/proxy_http_head.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>

using namespace gatehouse::reactor;
using state = http_head_reader::state;

namespace {

struct outcome {
  state how = state::more;
  std::size_t taken = 0;
  http_head_reader reader;
};

outcome read(std::string_view text, std::size_t step = std::string_view::npos) {
  outcome o;
  while (o.how == state::more && o.taken < text.size()) {
    std::size_t taken = 0;
    o.how = o.reader.feed(text.substr(o.taken, step), taken);
    o.taken += taken;
  }
  return o;
}

http_request_head good(std::string_view text) {
  auto o = read(text);
  CAPTURE(text);
  CAPTURE(o.reader.why());
  REQUIRE(o.how == state::done);
  return o.reader.head();
}

/// How many bytes of `text` a request with this framing takes; npos when it is malformed.
std::size_t body_of(std::string_view framing, std::string_view text, bool& done,
                    std::size_t step = std::string_view::npos) {
  http_body_reader body{
      good("POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\n" + std::string{framing} + "\r\n")};
  std::size_t used = 0;
  while (used < text.size() && !body.done() && !body.bad()) {
    const auto part = text.substr(used, step);
    const auto n = body.feed(part);
    used += n;
    if (n < part.size()) break;
  }
  done = body.done();
  return body.bad() ? std::string_view::npos : used;
}

} // namespace

TEST_SUITE("reactor.proxy_http_head") {
  TEST_CASE("§143 a forward request is read whole or byte by byte, and what follows is left") {
    const std::string_view text = "GET http://Ok.test:8080/a?b=c HTTP/1.1\r\nHost: ok.test:8080\r\n"
                                  "User-Agent: x y\r\n\r\nBODY";
    for (const std::size_t step :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{1000}}) {
      auto o = read(text, step);
      REQUIRE(o.how == state::done);
      CHECK(text.substr(o.taken) == "BODY");
      const auto& head = o.reader.head();
      CHECK(head.method == "GET");
      CHECK_FALSE(head.connect);
      CHECK(head.host == "Ok.test");
      CHECK(head.port == 8080);
      CHECK(head.path == "/a?b=c");
      CHECK(head.host_headers == std::vector<std::string>{"ok.test:8080"});
    }
  }

  TEST_CASE("§143 targets in their accepted forms") {
    struct row {
      const char* line;
      const char* host;
      std::uint16_t port;
      const char* path;
    };
    const row table[] = {
        {"GET http://a.test HTTP/1.1", "a.test", 80, "/"},
        {"GET HTTP://a.test?x HTTP/1.1", "a.test", 80, "/?x"},
        {"GET http://[::1]:81/ HTTP/1.1", "::1", 81, "/"},
        {"GET http://[::1] HTTP/1.1", "::1", 80, "/"},
        {"CONNECT a.test:443 HTTP/1.1", "a.test", 443, ""},
        {"CONNECT a.test HTTP/1.1", "a.test", 443, ""},
        {"CONNECT [2001:db8::1]:22 HTTP/1.0", "2001:db8::1", 22, ""},
    };
    for (const auto& r : table) {
      const auto head = good(std::string{r.line} + "\r\nHost: a.test\r\n\r\n");
      CHECK(head.host == r.host);
      CHECK(head.port == r.port);
      CHECK(head.path == r.path);
    }
  }

  TEST_CASE("§143 what two readers could read differently is refused") {
    const std::string get = "GET http://a.test/ HTTP/1.1\r\n";
    for (const std::string& bad : {
             std::string{"GET http://a.test/ HTTP/1.1\nHost: a.test\n\n"},
             get + "Host: a.test\nX: y\r\n\r\n",
             get + "Host : a.test\r\n\r\n",
             get + "Host: a.test\r\n folded\r\n\r\n",
             get + "Host: a.test\r\nHost: b.test\r\n\r\n",
             get + "Host: a.test\r\nhost: a.test\r\n\r\n",
             get + "\r\n",
             get + "Host: a.test\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
             get + "Host: a.test\r\nContent-Length: 1, 1\r\n\r\n",
             get + "Host: a.test\r\nContent-Length: +1\r\n\r\n",
             get + "Host: a.test\r\nContent-Length: 0x1\r\n\r\n",
             get + "Host: a.test\r\nContent-Length: 99999999999999999999\r\n\r\n",
             get + "Host: a.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
             get + "Host: a.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
             get + "Host: a.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
             get + "Host: a.test\r\nTransfer-Encoding: xchunked\r\n\r\n",
             get + "Host: a.test\r\nNo colon\r\n\r\n",
             get + "Host: a.test\r\n: empty\r\n\r\n",
             get + "Host: a.test\r\nExpect: magic\r\n\r\n",
             get + std::string{"Host: a\0.test\r\n\r\n", 17},
             get + "Host: a.test\r\nX: a\rb\r\n\r\n",
             std::string{"GET  http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a.test/ x HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a.test/ HTTP/2\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a.test/\r\nHost: a.test\r\n\r\n"},
             std::string{"\r\nGET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"G(T http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://u@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a.test\\@b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a%2etest/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a.test:0/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a.test:/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a.test:70000/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://a.test/#f HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http:///x HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"GET http://[a.test]/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"CONNECT :443 HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"CONNECT a.test:443/ HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"CONNECT a.test:4:4 HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"connect a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n"},
             std::string{"CONNECT a.test:443 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"},
             std::string{"POST http://a.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
         }) {
      CAPTURE(bad);
      const auto o = read(bad);
      CHECK(o.how == state::bad);
      CHECK(o.reader.status() >= 400);
      CHECK_FALSE(o.reader.why().empty());
      // However it arrives.
      CHECK(read(bad, 1).how == state::bad);
    }
  }

  TEST_CASE("§143 what is refused is not named, though it stands in the request") {
    struct row {
      std::string text;
      std::string host;
      std::uint16_t port;
      gatehouse::network_refusal reason;
    };
    using enum gatehouse::network_refusal;
    const std::string rest = " HTTP/1.1\r\nHost: ok.test\r\n\r\n";
    const row table[] = {
        {"GET ftp://ok.test/file" + rest, "ok.test", 21, not_carried},
        {"GET ftp://me:secret@ok.test:2121/file" + rest, "ok.test", 2121, not_carried},
        {"GET wss://ok.test?x" + rest, "ok.test", 443, not_carried},
        {"GET gopher://ok.test/" + rest, "ok.test", 0, not_carried},
        {"GET ftp://[::1]/" + rest, "::1", 21, not_carried},
        {"GET mailto:me@ok.test" + rest, "ok.test", 80, malformed}, // what the Host header says
        {"GET /" + rest, "ok.test", 80, malformed},
        {"GET / HTTP/1.1\r\nX: y\r\nhOST:  ok.test:8080 \r\n\r\n", "ok.test", 8080, malformed},
        {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "", 0, malformed},
        {"NONSENSE\r\n\r\n", "", 0, malformed},
        {"GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: ok.test\r\n\r\n", "ok.test", 80,
         malformed},
    };
    for (const auto& r : table) {
      CAPTURE(r.text);
      const auto o = read(r.text);
      REQUIRE(o.how == state::bad);
      CHECK(o.reader.head().host == r.host);
      if (!r.host.empty()) CHECK(o.reader.head().port == r.port);
      CHECK(o.reader.reason() == r.reason);
    }
    CHECK(read(table[0].text).reader.why() ==
          "only http:// URLs are forwarded; ask for others with CONNECT host:port");
    CHECK(read(table[6].text).reader.why().find("whole URL") != std::string::npos);
  }

  TEST_CASE("§143 a head has limits, and a client that never ends it is told so") {
    std::string many = "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n";
    for (int i = 0; i < 200; ++i)
      many += "X: y\r\n";
    CHECK(read(many + "\r\n").reader.status() == 431);
    const auto endless = read("GET http://a.test/ HTTP/1.1\r\nX: " + std::string(70'000, 'a'));
    CHECK(endless.how == state::bad);
    CHECK(endless.reader.status() == 431);
    CHECK(endless.taken <= http_head_reader::most_bytes);
  }

  TEST_CASE("§143 the server sees one Host, no proxy's headers, and the end of the connection") {
    const auto head = good("POST http://a.test:8080/p HTTP/1.1\r\nHost: A.test:8080\r\n"
                           "Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\n"
                           "Connection: keep-alive, X-Hop, Content-Length\r\nX-Hop: 1\r\n"
                           "Upgrade: h2c\r\nTE: trailers\r\nKeep-Alive: 5\r\nAccept: */*\r\n"
                           "Content-Length: 3\r\n\r\n");
    CHECK(head_for_server(head, "a.test:8080") ==
          "POST /p HTTP/1.1\r\nHost: a.test:8080\r\nAccept: */*\r\nContent-Length: 3\r\n"
          "Connection: close\r\n\r\n");
  }

  TEST_CASE("§143 not a byte behind a request's body belongs to it") {
    bool done = false;
    CHECK(body_of("", "GET http://b.test/", done) == 0);
    CHECK(done);
    CHECK(body_of("Content-Length: 3\r\n", "abcGET", done) == 3);
    CHECK(done);
    CHECK(body_of("Content-Length: 3\r\n", "ab", done) == 2);
    CHECK_FALSE(done);
    const std::string_view chunks = "4;x=\"y\"\r\nwxyz\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\n";
    for (const std::size_t step :
         {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{1000}}) {
      CHECK(body_of("Transfer-Encoding: chunked\r\n", std::string{chunks} + "GET", done, step) ==
            chunks.size());
      CHECK(done);
    }
    for (const char* bad :
         {"g\r\n", "\r\n", "4\nwxyz", "4\r\nwxyzGET", "-1\r\n", "+1\r\n", "0x4\r\n", "4 4\r\n\n",
          "1234567890abcdef\r\n", "0\r\nx\n\n", "4\r\nwxyz\n", "4\rx", "4 \x01\r\n"}) {
      CAPTURE(bad);
      CHECK(body_of("Transfer-Encoding: chunked\r\n", bad, done) == std::string_view::npos);
    }
  }

  TEST_CASE("§143 no bytes at all make the readers read beyond what they were given") {
    std::mt19937 random{20261129};
    const std::string seeds[] = {
        "GET http://a.test:80/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nhello\r\n0\r\n\r\n",
        "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n"};
    for (int round = 0; round < 20'000; ++round) {
      std::string text = seeds[round % 2];
      for (int edits = static_cast<int>(random() % 4); edits >= 0; --edits) {
        const auto at = random() % text.size();
        switch (random() % 3) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, random() % 8); break;
        default: text.insert(at, 1, "\r\n :\t\0/"[random() % 7]); break;
        }
        if (text.empty()) text = "x";
      }
      auto o = read(text, 1 + random() % 64);
      REQUIRE(o.taken <= text.size());
      if (o.how != state::done) continue;
      REQUIRE_FALSE(o.reader.head().host.empty());
      REQUIRE(o.reader.head().port != 0);
      http_body_reader body{o.reader.head()};
      REQUIRE(body.feed(std::string_view{text}.substr(o.taken)) <= text.size() - o.taken);
    }
  }
}
