#include "reactor/proxy_dial.hpp"
#include "tests/reactor/proxy_stage.hpp"

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::test;
using namespace std::chrono_literals;

TEST_SUITE("reactor.network_proxy") {
  TEST_CASE("§143 BR-090 a tunnel is transparent: server first, both ways, half-close") {
    for (const bool socks : {false, true}) {
      stage s;
      const auto server = listen_on_loopback();
      s.during([&] {
        client c{s.port};
        c.send(socks ? socks_to(server.port) : connect_to(server.port));
        const auto answer = socks ? c.some(12) : c.head();
        if (socks)
          CHECK(answer == std::string("\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12));
        else
          CHECK(answer.starts_with("HTTP/1.1 200 "));
        client peer{accept_one(server)};
        peer.send("SSH-2.0-banner\r\n"); // before the client has said a word
        CHECK(c.some(16) == "SSH-2.0-banner\r\n");
        c.send("hello");
        CHECK(peer.some(5) == "hello");
        c.end_of_input();
        CHECK(peer.all().empty());
        peer.send(std::string(3'000'000, 'x'));
        peer.close();
        CHECK(c.all().size() == 3'000'000);
      });
      CHECK(s.settled());
      CHECK(s.gate->asked.at(0).protocol ==
            (socks ? network_protocol::socks5_tcp : network_protocol::https));
    }
  }

  TEST_CASE("§143 a plain request reaches the server as its own, and nothing behind it does") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client c{s.port};
      const auto authority = "ok.test:" + std::to_string(server.port);
      c.send("POST http://" + authority + "/p?q HTTP/1.1\r\nHost: " + authority +
             "\r\nProxy-Connection: keep-alive\r\nContent-Length: 4\r\n\r\nbody"
             "DELETE http://" +
             authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
      client peer{accept_one(server)};
      CHECK(peer.head() == "POST /p?q HTTP/1.1\r\nHost: " + authority +
                               "\r\nContent-Length: 4\r\nConnection: close\r\n\r\n");
      CHECK(peer.some(4) == "body");
      peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nanswer");
      ::shutdown(peer.get(), SHUT_WR);
      CHECK(c.all().ends_with("answer"));
      c.close();
      CHECK(peer.all().empty());
    });
    CHECK(s.settled());
    CHECK(s.gate->asked.size() == 1);
    CHECK(s.gate->asked.at(0).method == "POST");
    CHECK(s.gate->asked.at(0).also_named.size() == 1);
  }

  TEST_CASE("§143 a client that has said everything may end its side and still gets the answer") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client c{s.port};
      const auto authority = "ok.test:" + std::to_string(server.port);
      c.send("GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
      client peer{accept_one(server)};
      CHECK_FALSE(peer.head().empty());
      c.end_of_input();
      std::this_thread::sleep_for(20ms);
      peer.send("HTTP/1.0 200 OK\r\n\r\nlate");
      peer.close();
      CHECK(c.all().ends_with("late"));
    });
    CHECK(s.settled());
  }

  TEST_CASE("§143 BR-089 a refusal is readable in every protocol and reaches no server") {
    stage s;
    s.during([&] {
      for (const auto& text :
           {connect_to(443, "denied.test"),
            std::string{"GET http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\n\r\n"}}) {
        client c{s.port};
        c.send(text);
        const auto answer = c.all();
        CHECK(answer.starts_with("HTTP/1.1 403 Blocked by Gatehouse (denied_by_rule)\r\n"));
        CHECK(answer.find("X-Gatehouse-Decision: denied_by_rule\r\n") != std::string::npos);
        CHECK(answer.ends_with("blocked for the test: ask the user\n"));
      }
      client c{s.port};
      c.send(socks_to(443, "denied.test"));
      CHECK(c.all() == std::string("\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00", 12));
    });
    CHECK(s.settled());
    CHECK(s.resolver->asked.empty()); // BR-077: no name is looked up before its yes
  }

  TEST_CASE("§143 BR-080 what a name leads to is checked before it is dialled") {
    stage s;
    s.gate->addresses_allowed = false;
    const auto server = listen_on_loopback();
    s.during([&] {
      client c{s.port};
      c.send(connect_to(server.port));
      CHECK(c.all().find("it is local") != std::string::npos);
    });
    CHECK(s.gate->checked == 1);
    CHECK(nobody_came(server));
  }

  TEST_CASE("§143 the tunnel stands only when the server does: no false success") {
    stage s;
    const auto closed = [] {
      auto l = listen_on_loopback();
      return l.port;
    }();
    s.during([&] {
      for (const auto& text : {connect_to(closed), connect_to(443, "gone.test")}) {
        client c{s.port};
        c.send(text);
        // Many clients show the status line and nothing else of a failed CONNECT.
        CHECK(c.all().starts_with("HTTP/1.1 502 Bad Gateway (" +
                                  std::string{text.find("gone") == std::string::npos
                                                  ? "No connection to ok.test:"
                                                  : "The name gone.test has no address"}));
      }
      client c{s.port};
      c.send(socks_to(closed));
      CHECK(c.all().substr(2, 2) == "\x05\x04");
    });
  }

  TEST_CASE("§143 a TLS server name must be the host that was asked for") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client good{s.port};
      good.send(connect_to(server.port));
      CHECK(good.head().starts_with("HTTP/1.1 200"));
      const auto hello = hello_for("ok.test");
      good.send(hello.substr(0, 20));
      client peer{accept_one(server)};
      good.send(hello.substr(20));
      CHECK(peer.some(hello.size()) == hello);

      client bad{s.port};
      bad.send(connect_to(server.port) + hello_for("evil.test"));
      CHECK(bad.head().starts_with("HTTP/1.1 200"));
      client other{accept_one(server)};
      CHECK(bad.all() == std::string("\x15\x03\x01\x00\x02\x02\x31", 7));
      CHECK(other.all().empty()); // not a byte of it came through
    });
    CHECK(s.gate->disagreed == std::vector<std::string>{"evil.test"});
  }

  TEST_CASE("§143 malformed input opens no connection, and is answered or cut") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      for (const auto& text :
           {std::string{"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n"}, std::string{"NONSENSE\r\n\r\n"},
            std::string{"\x04\x01\x00\x50\x00\x00\x00\x01", 8}, std::string{"\x05\x01\x02", 3},
            std::string{"\x16\x03\x01\r\n\r\n"},
            "GET http://ok.test:" + std::to_string(server.port) +
                "/ HTTP/1.1\r\nHost: ok.test\r\nHost: ok.test\r\n\r\n",
            std::string{"\x05\x01\x00\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x35", 13}}) {
        client c{s.port};
        c.send(text);
        (void)c.all();
      }
    });
    CHECK(s.settled());
    CHECK(s.gate->asked.empty());
    CHECK(s.gate->unread.size() == 7);
    CHECK(s.gate->unread.back() == "SOCKS5: UDP is not carried");
    const auto& told = s.gate->unread_facts;
    CHECK(told.front().protocol == network_protocol::http);
    CHECK(told.front().host == "ok.test");
    CHECK(told.front().method == "GET");
    CHECK(s.gate->unread_reasons.front() == network_refusal::malformed);
    CHECK(told.at(2).protocol == network_protocol::socks5_tcp); // SOCKS4
    CHECK(told.at(2).port == 80);
    CHECK(told.back().protocol == network_protocol::socks5_udp);
    CHECK(told.back().host == "127.0.0.1");
    CHECK(told.back().port == 53);
    CHECK(s.gate->unread_reasons.back() == network_refusal::not_carried);
    CHECK(nobody_came(server));
  }

  TEST_CASE("§116 a client that leaves while somebody is asked takes its question with it") {
    stage s;
    s.during([&] {
      client c{s.port};
      c.send(connect_to(443, "asked.test"));
      s.when_asked([](const auto&) {});
    });
    CHECK(s.settled());
    CHECK(s.gate->open.size() == 1);
    CHECK(s.gate->gone == 1);
    s.gate->open[0]({true, "asked.test", {}, {}}); // too late: changes nothing
    CHECK(s.resolver->asked.empty());
  }

  TEST_CASE("§143 an answer that comes later lets the connection go on, with what was sent ahead") {
    stage s;
    const auto server = listen_on_loopback();
    s.resolver->names["asked.test"] = {ipv4_address(0x7f000001)};
    s.during([&] {
      client c{s.port};
      c.send(connect_to(server.port, "asked.test") + "early");
      s.allow_when_asked("asked.test");
      CHECK(c.head().starts_with("HTTP/1.1 200"));
      client peer{accept_one(server)};
      CHECK(peer.some(5) == "early");
    });
  }

  TEST_CASE("§143 limits: a silent client is cut, a full house waits, an idle tunnel ends") {
    proxy_limits limits;
    limits.connections = 2;
    limits.request = 50ms;
    limits.idle = 100ms;
    stage s{limits};
    const auto server = listen_on_loopback();
    s.during([&] {
      client silent{s.port}, half{s.port}, third{s.port};
      half.send("GET http://ok.te");
      third.send(connect_to(server.port));
      CHECK(silent.all().empty());
      CHECK(half.all().starts_with("HTTP/1.1 408"));
      half.close();
      CHECK(third.head().starts_with("HTTP/1.1 200"));
      CHECK(third.all().empty()); // idle
    });
    CHECK(s.settled());
  }

  TEST_CASE("§143 a server or client that reads nothing stalls only its own connection") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client stuck{s.port};
      stuck.send(connect_to(server.port));
      (void)stuck.head();
      client slow{accept_one(server)};
      std::string flood;
      flood.resize(64'000'000, 'x');
      std::thread writer{[&] { stuck.send(flood); }};
      client c{s.port};
      c.send(connect_to(server.port));
      (void)c.head();
      client peer{accept_one(server)};
      for (int i = 0; i < 100; ++i) {
        c.send("ping");
        REQUIRE(peer.some(4) == "ping");
        peer.send("pong");
        REQUIRE(c.some(4) == "pong");
      }
      slow.close();
      writer.join();
    });
  }

  TEST_CASE("§143 a listener of a granted port leads to that port and nowhere else") {
    stage s;
    const auto server = listen_on_loopback();
    auto l = listen_on_loopback();
    s.gate->hosts["127.0.0.1"] = true;
    auto bridge = network_proxy::serve(s.loop, std::move(l.fd), s.gate, s.resolver, {},
                                       forward_target{"127.0.0.1", server.port});
    s.during([&] {
      client c{l.port};
      client peer{accept_one(server)};
      c.send("CONNECT evil.test:443 HTTP/1.1\r\n\r\n");
      CHECK(peer.some(8) == "CONNECT ");
      peer.send("raw");
      CHECK(c.some(3) == "raw");
    });
    CHECK(s.gate->asked.size() == 1);
  }

  TEST_CASE("§143 BR-083 a dead family does not keep a live one waiting") {
    event_loop loop;
    const auto server = listen_on_loopback();
    // Discard-only: packets vanish or are refused, both must do.
    const std::vector<ip_address> addresses{*parse_ip_address("100::1"), ipv4_address(0x7f000001)};
    bool connected = false;
    const auto begin = std::chrono::steady_clock::now();
    dial d{loop, addresses, server.port, 5s, [&](const result<unique_fd>& fd) {
             connected = fd.has_value();
             loop.stop();
           }};
    loop.run();
    CHECK(connected);
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
  }

  TEST_CASE("§143 a dial says why nothing answered, and gives up at its limit") {
    event_loop loop;
    const auto closed = listen_on_loopback().port;
    std::string why;
    dial d{loop, {ipv4_address(0x7f000001)}, closed, 5s, [&](const result<unique_fd>& fd) {
             REQUIRE_FALSE(fd.has_value());
             why = fd.error().message;
             loop.stop();
           }};
    loop.run();
    CHECK(why == "Connection refused");
  }

  TEST_CASE("§143 the end of the proxy cuts everything at once") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      client c{s.port};
      c.send(connect_to(server.port));
      (void)c.head();
      client peer{accept_one(server)};
      s.loop.post([&] { s.proxy.reset(); });
      CHECK(c.all().empty());
      CHECK(peer.all().empty());
    });
  }
}
