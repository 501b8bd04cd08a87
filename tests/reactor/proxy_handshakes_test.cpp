#include "reactor/proxy_client_hello.hpp"
#include "reactor/proxy_socks5.hpp"

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
        {bytes("\x04\x01\x00\x50"), '\xff'}, // SOCKS4
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
    CHECK(socks(table[4].text).reader.wanted_udp());
    CHECK_FALSE(socks(table[5].text).reader.wanted_udp());
    // A name with bytes that no name has comes through as it is: the policy refuses it.
    CHECK(socks(bytes("\x05\x01\x00\x05\x01\x00\x03\x03"
                      "a\x00"
                      "b\x01\xbb"))
              .reader.host() == std::string("a\0b", 3));
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
      CHECK(whole.server_name() == "ok.test");
    }
    client_hello_reader nameless;
    CHECK(nameless.look(hello(extension(10, "xx"))) == client_hello_reader::state::done);
    CHECK_FALSE(nameless.server_name().has_value());
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
    for (const char* other : {"SSH-2.0-x\r\n", "GET / HTTP/1.1\r\n", "\x17\x03\x03"}) {
      client_hello_reader reader;
      CHECK(reader.look(other) == client_hello_reader::state::not_tls);
    }
    client_hello_reader reader;
    CHECK(reader.look("\x16\x02") == client_hello_reader::state::not_tls);
    std::string endless;
    while (endless.size() < client_hello_reader::most_bytes)
      endless += std::string{"\x16\x03\x01\x00\x01\x01", 6};
    CHECK(client_hello_reader{}.look(endless) == client_hello_reader::state::bad);
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
      (void)reader.look(text);
      REQUIRE(socks(text, 1 + random() % 9).taken <= text.size());
    }
  }
}
