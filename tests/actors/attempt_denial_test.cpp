#include "actors/attempt_denial.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;

TEST_SUITE("actors.attempt_denial") {
  TEST_CASE("§205 a client that went past the proxy and hid it left no trace") {
    denial write{denial_kind::file_write, "/etc/x", {}, "`:root` read", {}};
    denial lookup{denial_kind::network, {}, {}, "TCP only, through the proxy; no UDP, no DNS", {}};
    denial past{denial_kind::network, {}, "192.0.2.1:443", "network only through the proxy", {}};
    CHECK(past_proxy_note({}).empty());
    // Clients that use the proxy open such sockets, too.
    CHECK(past_proxy_note({write, lookup}).empty());
    const auto note = past_proxy_note({write, lookup, past});
    CHECK(note.starts_with("the command tried to connect to 192.0.2.1:443 past the proxy"));
    CHECK(note.find("HTTPS_PROXY") != std::string::npos);
  }
}
