#include "reactor/http_client.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;
using namespace gatehouse::reactor;

TEST_SUITE("reactor.http_url") {
  TEST_CASE("a URL says where a request goes") {
    CHECK(*parse_http_url("https://api.example.org/v1/chat") ==
          http_target{true, "api.example.org", 443, "/v1/chat"});
    CHECK(*parse_http_url("https://api.example.org") ==
          http_target{true, "api.example.org", 443, "/"});
    CHECK(*parse_http_url("https://h:8443/a?b=c") == http_target{true, "h", 8443, "/a?b=c"});
    CHECK(*parse_http_url("http://localhost:11434/v1") ==
          http_target{false, "localhost", 11434, "/v1"});
    CHECK(*parse_http_url("http://127.3.2.1/") == http_target{false, "127.3.2.1", 80, "/"});
    CHECK(*parse_http_url("http://[::1]:80/") == http_target{false, "::1", 80, "/"});
    CHECK(*parse_http_url("https://h?x") == http_target{true, "h", 443, "/?x"});
  }

  TEST_CASE("§48a a URL that is unclear, or would send a key in the clear, is an error") {
    for (const std::string url : {"",
                                  "localhost",
                                  "ftp://h/",
                                  "https://",
                                  "https:///x",
                                  "https://user@h/",
                                  "https://h:/",
                                  "https://h:0/",
                                  "https://h:70000/",
                                  "https://h:8x/",
                                  "https://h/a b",
                                  "https://h/#x",
                                  "https://h/\n",
                                  "https://[::1",
                                  "https://[h]/",
                                  "https://[::1]x/",
                                  "http://example.org/",
                                  "http://10.0.0.1/",
                                  "http://127.0.0.1.example.org/",
                                  "http://localhost.example.org/",
                                  "http://[::2]/",
                                  "https://-h/",
                                  "https://h\\x/"}) {
      CAPTURE(url);
      const auto read = parse_http_url(url);
      REQUIRE_FALSE(read);
      CHECK(read.error().code == errc::invalid_request);
    }
  }
}
