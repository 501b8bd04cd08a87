#include "tests/reactor/proxy_stage.hpp"

using namespace gatehouse;
using namespace gatehouse::reactor;
using namespace gatehouse::test;
using namespace std::chrono_literals;

TEST_SUITE("reactor.proxy_tunnel") {
  TEST_CASE("§143 a record that servers skip hides no ClientHello: nothing reaches the server") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      for (const bool socks : {false, true}) {
        client c{s.port};
        c.send((socks ? socks_to(server.port) : connect_to(server.port)) +
               std::string{"\x15\x03\x01\x00\x02\x01\x5a", 7} + hello_for("evil.test"));
        (void)(socks ? c.some(12) : c.head());
        client peer{accept_one(server)};
        CHECK(peer.all().empty());
        CHECK(c.all() == std::string("\x15\x03\x01\x00\x02\x02\x31", 7));
      }
    });
    CHECK(s.gate->unread.size() == 2);
  }

  TEST_CASE("§143 a second ClientHello that names another server does not reach the server") {
    stage s;
    const auto server = listen_on_loopback();
    const std::string change{"\x14\x03\x03\x00\x01\x01", 6};
    s.during([&] {
      const auto first = hello_for("ok.test");
      for (const bool good : {true, false}) {
        client c{s.port};
        c.send(connect_to(server.port) + first);
        CHECK(c.head().starts_with("HTTP/1.1 200"));
        client peer{accept_one(server)};
        CHECK(peer.some(first.size()) == first);
        peer.send("retry!");
        CHECK(c.some(6) == "retry!");
        const auto second = hello_for(good ? "ok.test" : "evil.test");
        c.send(change + second.substr(0, 30));
        CHECK(peer.some(change.size()) == change);
        c.send(second.substr(30));
        CHECK(peer.some(second.size()) == (good ? second : ""));
        if (!good) continue;
        const std::string data{"\x17\x03\x03\x00\x03xyz", 8};
        c.send(data + "the rest");
        CHECK(peer.some(data.size() + 8) == data + "the rest");
      }
    });
    CHECK(s.gate->disagreed == std::vector<std::string>{"evil.test"});
  }

  TEST_CASE("§143 a request inside a tunnel that names another server does not reach it") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      const std::string head = "GET /x HTTP/1.1\r\nA: b\r\nHost: evil.test\r\n\r\n";
      for (const bool socks : {false, true})
        for (const std::size_t split : {std::size_t{0}, std::size_t{3}, head.size() - 1}) {
          client c{s.port};
          c.send((socks ? socks_to(server.port) : connect_to(server.port)) + head.substr(0, split));
          (void)(socks ? c.some(12) : c.head());
          client peer{accept_one(server)};
          // Held back as soon as it is a request for sure: servers act on parts of one, too.
          const auto passed = head.substr(0, split == 3 ? 3 : 0);
          CHECK(peer.some(passed.size()) == passed);
          c.send(head.substr(split));
          const auto answer = c.all();
          CHECK(answer.starts_with("HTTP/1.1 403 Blocked by Gatehouse (names_disagree)\r\n"));
          CHECK(answer.ends_with("it names another server\n"));
          CHECK(peer.all().empty());
        }
      // An end of the client's side is no way around it, whatever of the head has come.
      for (const auto& part :
           {std::string{"GET http://evil.test/ HTTP/1.1"}, head.substr(0, head.size() - 4)}) {
        client c{s.port};
        c.send(connect_to(server.port));
        (void)c.head();
        client peer{accept_one(server)};
        c.send(part);
        c.end_of_input();
        CHECK(c.all().starts_with("HTTP/1.1 403"));
        char byte = 0;
        ssize_t n = 1;
        while (n > 0)
          n = ::recv(peer.get(), &byte, 1, 0);
        CHECK(n < 0); // reset: not an end that a server might act on
      }
      client good{s.port};
      good.send(connect_to(server.port));
      (void)good.head();
      client peer{accept_one(server)};
      const std::string request = "POST / HTTP/1.1\r\nHost: ok.test\r\n\r\nbody and more";
      good.send(request);
      CHECK(peer.some(request.size()) == request);
    });
    CHECK(s.gate->disagreed.size() == 8);
  }

  TEST_CASE("§143 BR-090 what a client sends ahead waits for its answer, however much it is") {
    stage s;
    const auto server = listen_on_loopback();
    s.resolver->names["asked.test"] = {ipv4_address(0x7f000001)};
    s.during([&] {
      const std::string body(3'000'000, 'x');
      const auto authority = "asked.test:" + std::to_string(server.port);
      for (const bool tunnel : {true, false}) {
        client c{s.port};
        std::thread writer{[&] {
          c.send(tunnel ? connect_to(server.port, "asked.test") + body
                        : "POST http://" + authority + "/ HTTP/1.1\r\nHost: " + authority +
                              "\r\nContent-Length: 3000000\r\n\r\n" + body);
        }};
        std::this_thread::sleep_for(50ms); // for what is ahead; no outcome depends on it
        s.allow_when_asked("asked.test");
        client peer{accept_one(server)};
        if (!tunnel) CHECK(peer.head().starts_with("POST / HTTP/1.1\r\n"));
        CHECK(peer.some(body.size()) == body);
        writer.join();
        peer.send("HTTP/1.1 200 OK\r\n\r\n");
        peer.close();
        CHECK(c.all().ends_with("HTTP/1.1 200 OK\r\n\r\n"));
      }
    });
    CHECK(s.settled());
  }

  TEST_CASE("§143 BR-090 a client that ends its side before the server is there gets the answer") {
    stage s;
    const auto server = listen_on_loopback();
    s.resolver->names["asked.test"] = {ipv4_address(0x7f000001)};
    s.during([&] {
      const auto authority = "asked.test:" + std::to_string(server.port);
      for (const auto& text :
           {"GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n",
            connect_to(server.port, "asked.test") + "all of it"}) {
        client c{s.port};
        c.send(text);
        c.end_of_input();
        std::this_thread::sleep_for(50ms); // for what is ahead; no outcome depends on it
        s.allow_when_asked("asked.test");
        client peer{accept_one(server)};
        if (text.starts_with("GET"))
          CHECK_FALSE(peer.head().empty());
        else
          CHECK(peer.all() == "all of it"); // and its end
        peer.send("HTTP/1.0 200 OK\r\n\r\nlate");
        peer.close();
        CHECK(c.all().ends_with("late"));
      }
      // A part of a request is none.
      client c{s.port};
      c.send("POST http://" + authority + "/ HTTP/1.1\r\nHost: " + authority +
             "\r\nContent-Length: 9\r\n\r\nbody");
      c.end_of_input();
      CHECK(c.all().empty());
    });
    CHECK(s.settled());
    CHECK(s.gate->gone == 3);
  }

  TEST_CASE(
      "§143 a client that asks again where its server keeps the connection is not left waiting") {
    stage s;
    const auto server = listen_on_loopback();
    s.during([&] {
      const auto authority = "ok.test:" + std::to_string(server.port);
      const auto request =
          "GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
      client c{s.port};
      c.send(request);
      client peer{accept_one(server)};
      CHECK_FALSE(peer.head().empty());
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
      peer.send(answer);
      CHECK(c.some(answer.size()) == answer);
      c.send("\r\n"); // old clients end a body so
      c.send(request);
      CHECK(c.all().empty()); // it asks on another connection
      c.close();
      CHECK(peer.all().empty());
    });
    CHECK(s.settled());
  }

  TEST_CASE(
      "§143 a broken client of a silent server is noticed, and one that may have left makes room") {
    proxy_limits limits;
    limits.connections = 2;
    stage s{limits};
    const auto server = listen_on_loopback();
    s.during([&] {
      const auto authority = "ok.test:" + std::to_string(server.port);
      const auto request =
          "GET http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
      client broken{s.port};
      broken.send(request);
      client peer{accept_one(server)};
      CHECK_FALSE(peer.head().empty());
      const linger at_once{1, 0};
      ::setsockopt(broken.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      broken.close();
      CHECK(peer.all().empty());
      peer.close();

      client left{s.port}, there{s.port};
      left.send(request);
      client first{accept_one(server)};
      there.send(connect_to(server.port));
      (void)there.head();
      client second{accept_one(server)};
      left.close();
      client next{s.port};
      next.send(connect_to(server.port));
      CHECK(next.head().starts_with("HTTP/1.1 200"));
      (void)first.head();
      CHECK(first.all().empty());
      there.send("still there");
      CHECK(second.some(11) == "still there");
    });
  }
}
