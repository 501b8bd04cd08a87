#include "reactor/proxy_client_hello.hpp"
#include "reactor/proxy_socks5.hpp"
#include "reactor/proxy_tunnel_request.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <string_view>

using namespace gatehouse::reactor;

namespace {

template <std::size_t N>
std::string bytes(const char (&text)[N]) {
  return {text, N - 1};
}

struct talk {
  socks5_reader::state how = socks5_reader::state::more;
  bool greeted = false;
  std::size_t taken = 0;
  socks5_reader reader;
};

talk socks(std::string_view text, std::size_t step = std::string_view::npos) {
  talk t;
  while (t.taken < text.size()) {
    std::size_t taken = 0;
    t.how = t.reader.feed(text.substr(t.taken, step), taken);
    t.taken += taken;
    if (t.how == socks5_reader::state::greeted)
      t.greeted = true;
    else if (t.how != socks5_reader::state::more)
      break;
  }
  return t;
}

std::string counted(std::size_t size, std::string_view body) {
  std::string out;
  for (auto i = size; i-- > 0;)
    out += static_cast<char>(body.size() >> (8 * i));
  return out.append(body);
}

std::string extension(int type, std::string_view body) {
  return std::string{static_cast<char>(type >> 8), static_cast<char>(type)} + counted(2, body);
}

std::string server_names(std::string_view name) {
  return extension(0, counted(2, std::string(1, '\0') + counted(2, name)));
}

/// A ClientHello message, cut into records of `record` bytes.
std::string hello(std::string_view extensions, std::size_t record = 16000) {
  std::string body = "\x03\x03" + std::string(32, 'r') + counted(1, "sess") +
                     counted(2, "\x13\x01") + counted(1, std::string(1, '\0')) +
                     counted(2, extensions);
  const std::string message = '\x01' + counted(3, body);
  std::string out;
  for (std::size_t at = 0; at < message.size(); at += record)
    out += "\x16\x03\x01" + counted(2, std::string_view{message}.substr(at, record));
  return out;
}

} // namespace

TEST_SUITE("reactor.proxy_handshakes") {
  TEST_CASE("§143 a SOCKS5 conversation, whole or byte by byte") {
    const std::string name = bytes("\x05\x02\x02\x00"
                                   "\x05\x01\x00\x03\x07ok.test\x01\xbbREST");
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
      const auto t = socks(name, step);
      CHECK(t.greeted);
      CHECK(t.how == socks5_reader::state::done);
      CHECK(t.reader.host() == "ok.test");
      CHECK(t.reader.port() == 443);
      CHECK(name.substr(t.taken) == "REST");
    }
    CHECK(socks(bytes("\x05\x01\x00\x05\x01\x00\x01\x08\x08\x08\x08\x00\x50")).reader.host() ==
          "8.8.8.8");
    CHECK(socks(bytes("\x05\x01\x00\x05\x01\x00\x04"
                      "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x16"))
              .reader.host() == "2001:db8::1");
  }

  TEST_CASE("§143 what SOCKS5 does not carry is refused with the right reply") {
    struct row {
      std::string text;
      char code;
    };
    const row table[] = {
        {bytes("\x05\x01\x02"), '\xff'},     // only passwords
        {bytes("\x05\x00"), '\xff'},         // no method
        {bytes("\x04\x01\x00\x50"), '\x5b'}, // SOCKS4, in its own words
        {bytes("\x05\x01\x00\x04\x01\x00\x01\x08"), '\xff'},
        {bytes("\x05\x01\x00\x05\x03\x00\x01\x00"), 7}, // UDP
        {bytes("\x05\x01\x00\x05\x02\x00\x01\x00"), 7}, // BIND
        {bytes("\x05\x01\x00\x05\x01\x00\x02\x00"), 8},
        {bytes("\x05\x01\x00\x05\x01\x01\x01\x00"), 1},
        {bytes("\x05\x01\x00\x05\x01\x00\x03\x00\x01\xbb"), 1},  // empty name
        {bytes("\x05\x01\x00\x05\x01\x00\x03\x01x\x00\x00"), 1}, // port 0
    };
    for (const auto& r : table) {
      CAPTURE(r.text);
      for (const std::size_t step : {std::size_t{1}, std::size_t{1000}}) {
        const auto t = socks(r.text, step);
        REQUIRE(t.how == socks5_reader::state::bad);
        CHECK(t.reader.refusal().at(1) == r.code);
      }
    }
    CHECK(socks(table[0].text).reader.why().find("password") != std::string_view::npos);
    CHECK(socks(table[2].text).reader.why().find("SOCKS4") != std::string_view::npos);
    CHECK(socks(table[4].text).reader.why() == "SOCKS5: UDP is not carried");
    CHECK(socks(table[5].text).reader.why() == "SOCKS5: only CONNECT is carried");
    // A name with bytes that no name has comes through as it is: the policy refuses it.
    CHECK(socks(bytes("\x05\x01\x00\x05\x01\x00\x03\x03"
                      "a\x00"
                      "b\x01\xbb"))
              .reader.host() == std::string("a\0b", 3));
  }

  TEST_CASE("§143 what is refused is not named, though it stands in the request") {
    struct row {
      std::string text;
      std::string host;
      std::uint16_t port;
      bool udp;
      gatehouse::network_refusal reason;
    };
    using enum gatehouse::network_refusal;
    const row table[] = {
        {bytes("\x04\x01\x00\x50\x08\x08\x08\x08me\x00"), "8.8.8.8", 80, false, not_carried},
        {bytes("\x04\x02\x00\x50\x00\x00\x00\x01me\x00ok.test\x00"), "ok.test", 80, false,
         not_carried},
        {bytes("\x04\x01\x00\x50\x00\x00\x00\x01me\x00ok.te"), "", 80, false, not_carried},
        {bytes("\x04\x01\x00\x50\x08"), "", 0, false, not_carried},
        {bytes("\x05\x01\x00\x05\x02\x00\x03\x07ok.test\x00\x15"), "ok.test", 21, false,
         not_carried},
        {bytes("\x05\x01\x00\x05\x03\x00\x03\x07ok.test\x00\x35"), "ok.test", 53, true,
         not_carried},
        // Where the client will send from, which it does not know yet: no host that it asks for.
        {bytes("\x05\x01\x00\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00"), "", 0, true, not_carried},
        {bytes("\x05\x01\x02"), "", 0, false, not_carried},
        {bytes("\x05\x01\x00\x05\x01\x01\x03\x07ok.test\x00\x50"), "ok.test", 80, false, malformed},
        {bytes("\x05\x01\x00\x05\x01\x00\x03\x07ok.test\x00\x00"), "ok.test", 0, false, malformed},
        {bytes("\x05\x01\x00\x05\x01\x00\x02\x07ok.test\x00\x50"), "", 0, false, malformed},
    };
    for (const auto& r : table) {
      CAPTURE(r.text);
      const auto t = socks(r.text);
      REQUIRE(t.how == socks5_reader::state::bad);
      CHECK(t.reader.host() == r.host);
      CHECK(t.reader.port() == r.port);
      CHECK(t.reader.udp() == r.udp);
      CHECK(t.reader.reason() == r.reason);
    }
  }

  TEST_CASE("§143 the server name of a ClientHello is found in any cut of its records") {
    for (const std::size_t record : {std::size_t{1}, std::size_t{50}, std::size_t{16000}}) {
      const auto text = hello(extension(10, "xx") + server_names("ok.test"), record);
      for (std::size_t size = 0; size < text.size(); ++size) {
        client_hello_reader early;
        REQUIRE(early.look(std::string_view{text}.substr(0, size)) ==
                client_hello_reader::state::more);
      }
      client_hello_reader whole;
      CHECK(whole.look(text + "more") == client_hello_reader::state::done);
      CHECK(whole.hello().server_name == "ok.test");
      CHECK(whole.taken() == text.size());
    }
    client_hello_reader nameless;
    CHECK(nameless.look(hello(extension(10, "xx"))) == client_hello_reader::state::done);
    CHECK_FALSE(nameless.hello().server_name.has_value());
  }

  TEST_CASE(
      "§143 what begins as TLS and breaks its rules is refused; other protocols are not TLS") {
    const auto two_names =
        extension(0, counted(2, std::string(1, '\0') + counted(2, "a.test") + std::string(1, '\0') +
                                    counted(2, "b.test")));
    for (const auto& bad :
         {hello(server_names("a.test") + server_names("b.test")), hello(two_names),
          hello(server_names("")), hello(extension(0, "")), hello(extension(0, counted(2, ""))),
          hello(extension(0, counted(2, '\x01' + counted(2, "a.test")))),
          hello(server_names("a.test") + std::string(1, '\0')),
          std::string{"\x16\x03\x01\x00\x00", 5}, std::string{"\x16\x03\x01\xff\xff", 5},
          std::string{"\x16\x03\x01\x00\x01\x02", 6},
          std::string{"\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9}}) {
      client_hello_reader reader;
      CAPTURE(bad);
      CHECK(reader.look(bad) == client_hello_reader::state::bad);
    }
    for (const char* other : {"SSH-2.0-x\r\n", "GET / HTTP/1.1\r\n",
                              "\x13"
                              "BitTorrent",
                              "\x16\x10"}) {
      client_hello_reader reader;
      CHECK(reader.look(other) == client_hello_reader::state::not_tls);
    }
    client_hello_reader reader;
    CHECK(reader.look("\x16\x02") == client_hello_reader::state::bad); // some servers take it
    std::string endless;
    while (endless.size() < client_hello_reader::most_bytes)
      endless += std::string{"\x16\x03\x01\x00\x01\x01", 6};
    CHECK(client_hello_reader{}.look(endless) == client_hello_reader::state::bad);
  }

  TEST_CASE("§143 a record that servers skip hides no ClientHello behind it") {
    const auto evil = hello(server_names("evil.test"));
    for (const auto& before : {bytes("\x15\x03\x01\x00\x02\x01\x5a"), // user_canceled
                               bytes("\x15\x02\x01\x00\x02\x01\x5a"),
                               bytes("\x14\x03\x03\x00\x01\x01"), bytes("\x17\x03\x03\x00\x01x"),
                               bytes("\x18\x03\x03\x00\x01x"), bytes("\x16\x03\x01\x00\x00")}) {
      CAPTURE(before);
      const auto text = before + evil;
      for (std::size_t size = 2; size <= text.size(); ++size) {
        const auto how = client_hello_reader{}.look(std::string_view{text}.substr(0, size));
        REQUIRE((how == client_hello_reader::state::bad ||
                 (how == client_hello_reader::state::more && size < 5)));
      }
      CHECK(client_hello_reader{}.look(text) == client_hello_reader::state::bad);
    }
    // Two hellos in one record: the server might go by the second one.
    const auto good = hello(server_names("ok.test"));
    const auto both = "\x16\x03\x01" + counted(2, good.substr(5) + evil.substr(5));
    CHECK(client_hello_reader{}.look(both) == client_hello_reader::state::bad);
    // A hello of SSL 2 has no place for a name: like one of TLS that names no server.
    CHECK(client_hello_reader{}.look(bytes("\x80\x2e\x01\x03\x01\x00\x15")) ==
          client_hello_reader::state::not_tls);
  }

  TEST_CASE("§143 a second ClientHello cannot name another server than the first") {
    using state = later_hello_reader::state;
    const auto reader_for = [](std::string_view extensions) {
      client_hello_reader first;
      REQUIRE(first.look(hello(extensions)) == client_hello_reader::state::done);
      return later_hello_reader{first.hello()};
    };
    const auto change = bytes("\x14\x03\x03\x00\x01\x01");
    const auto data = bytes("\x17\x03\x03\x00\x03xyz");
    const auto alert = bytes("\x15\x03\x03\x00\x02\x01\x5a");
    for (const std::size_t record : {std::size_t{1}, std::size_t{30}, std::size_t{16000}})
      for (const auto& between : {std::string{}, change, alert + change}) {
        auto reader = reader_for(server_names("ok.test"));
        const auto text = between + hello(server_names("evil.test"), record);
        std::size_t taken = 0;
        // As it comes, records are taken whole and none is held back that is harmless.
        CHECK(reader.look(std::string_view{text}.substr(0, between.size() + 3), taken) ==
              state::more);
        CHECK(taken == between.size());
        std::size_t rest = 0;
        REQUIRE(reader.look(std::string_view{text}.substr(taken), rest) == state::hello);
        CHECK(taken + rest == text.size());
        CHECK(reader.hello().server_name == "evil.test");
      }
    std::size_t taken = 0;
    CHECK(reader_for("").look(data, taken) == state::over);
    // What was sent early may stand before a second hello.
    auto early = reader_for(extension(42, ""));
    CHECK(early.look(data + change + data + hello(server_names("evil.test")), taken) ==
          state::hello);
    // A key exchange: the rest of the handshake is not in the clear.
    CHECK(reader_for("").look(bytes("\x16\x03\x03\x00\x05\x10\x00\x00\x01x"), taken) ==
          state::over);
    // Encrypted bytes of a resumed session that look like the beginning of a hello go through.
    auto resumed = reader_for("");
    const auto finished = bytes("\x16\x03\x03\x00\x08\x01\x00\x00\x99qwer");
    CHECK(resumed.look(change + finished, taken) == state::more);
    CHECK(taken == change.size() + finished.size());
    CHECK(resumed.look(data, taken) == state::over);
    CHECK(reader_for("").look(bytes("\x16\x03\x03\x00\x05\x01\x00\x00\x01x"), taken) == state::bad);
    CHECK(reader_for("").look(bytes("\x16\x02\x03\x00\x01x"), taken) == state::bad);
    CHECK(reader_for("").look("GET / HTTP/1.1\r\n", taken) == state::bad);
  }

  TEST_CASE(
      "§143 every server that a request inside a tunnel names is found, however it is written") {
    using state = tunnel_request_reader::state;
    struct row {
      std::string text;
      std::vector<std::string> named;
    };
    const row heads[] = {
        {"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n", {"ok.test"}},
        {"GET / HTTP/1.1\nhOST:ok.test \n\n", {"ok.test"}},
        {"\r\n\nGET  /  HTTP/1.0 \r\nA: b\r\nHost : a.test:80\r\nHost: b.test\r\n\r\n",
         {"a.test:80", "b.test"}},
        {"GET http://a.test/x?http://c.test HTTP/1.1\r\nHost: b.test\r\n\r\n",
         {"a.test", "b.test"}},
        {"GET HTTP://u@a.test\\@b.test HTTP/1.1\r\n\r\n", {"u@a.test"}},
        {"GET /r?to=http://c.test HTTP/1.1\r\n Host: a.test\r\n\r\n", {"a.test"}},
        {"any / http/1.1" + std::string(100, ' ') + "\r\nHost:\r\n\r\n", {""}},
        {"GET /" + std::string(5000, 'x') + " HTTP/1.1\r\nX: " + std::string(5000, 'y') +
             "\r\nHost: a.test\r\n\r\n",
         {"a.test"}},
        {"GET / HTTP/1.0\r\n\r\n", {}},
    };
    for (const auto& r : heads)
      for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{100'000}}) {
        CAPTURE(r.text);
        tunnel_request_reader reader;
        auto how = state::more;
        for (std::size_t at = 0; at < r.text.size(); at += step) {
          REQUIRE(how == state::more); // not before its end
          how = reader.feed(std::string_view{r.text}.substr(at, step));
        }
        CHECK(how == state::done);
        CHECK(reader.named() == r.named);
      }
    for (const auto& bad : {std::string{"GET / HTTP/1.1\r\nHost:\r\n a.test\r\n\r\n"},
                            std::string{"GET / HTTP/1.1\r\nX: y\rHost: a.test\r\n\r\n"},
                            std::string{"GET / HTTP/1.1\r\nHost\r\n\r\n"},
                            "GET / HTTP/1.1\r\nHost: " + std::string(5000, 'y') + "\r\n\r\n",
                            "GET http://" + std::string(5000, 'y') + "/ HTTP/1.1\r\n\r\n"}) {
      CAPTURE(bad);
      CHECK(tunnel_request_reader{}.feed(bad) == state::bad);
    }
    for (const char* other :
         {"SSH-2.0-x\r\n", "EHLO me\r\n", "GET key\r\n", "{\"a\": 1}", "*1\r\n$4\r\nPING\r\n",
          "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET \x01 HTTP/1.1\r\n", " GET / HTTP/1.1\r\n"}) {
      CAPTURE(other);
      CHECK(tunnel_request_reader{}.feed(other) == state::not_http);
    }
    CHECK(tunnel_request_reader{}.feed("hello") == state::more); // passed on all the same
  }

  TEST_CASE("§143 no bytes at all make the handshake readers read beyond what they were given") {
    std::mt19937 random{7};
    const std::string seeds[] = {hello(server_names("ok.test"), 20),
                                 bytes("\x05\x02\x02\x00\x05\x01\x00\x03\x07ok.test\x01\xbb")};
    for (int round = 0; round < 20'000; ++round) {
      std::string text = seeds[round % 2];
      for (int edits = static_cast<int>(random() % 3); edits >= 0; --edits)
        text[random() % text.size()] = static_cast<char>(random());
      text.resize(random() % (text.size() + 1));
      client_hello_reader reader;
      if (reader.look(text) == client_hello_reader::state::done) {
        REQUIRE(reader.taken() <= text.size());
        std::size_t taken = 0;
        (void)later_hello_reader{reader.hello()}.look(text, taken);
        REQUIRE(taken <= text.size());
      }
      REQUIRE(socks(text, 1 + random() % 9).taken <= text.size());
    }
  }
}
