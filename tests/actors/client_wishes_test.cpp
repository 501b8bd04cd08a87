#include "actors/endpoint/client_wishes.hpp"
#include "protocol/rpc/app_methods.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

result<rpc::app::initialize_params> params_of(const std::string& own) {
  auto read = rpc::read_message(
      R"({"id":1,"method":"initialize","params":{"clientInfo":{"name":"t"},"capabilities":{"gatehouse":)" +
      own + "}}}");
  return rpc::codec<rpc::app::initialize_params>::decode(std::get<rpc::message>(read).params());
}

wished_manner asked(const std::string& own, authority who) {
  const auto params = params_of(own);
  REQUIRE(params);
  return manner_of(*params, who, 256);
}

std::string kind_of(const wished_manner& manner) {
  return manner.refusal ? manner.refusal->kind : "granted";
}

} // namespace

TEST_SUITE("actors.client_wishes") {
  TEST_CASE("§201 a capability is granted or refused, never passed over") {
    for (const auto who : {authority::agent, authority::reviewer}) {
      CHECK(kind_of(asked("{}", who)) == "granted");
      CHECK(asked("{}", who).granted.in_flight == 256);
      CHECK(asked(R"({"maxInFlight":3})", who).granted.in_flight == 3);
      CHECK(kind_of(asked(R"({"maxInFlight":0})", who)) == "invalidParams");
      CHECK(kind_of(asked(R"({"maxInFlight":257})", who)) == "invalidParams");
      CHECK(kind_of(asked(R"({"outputMode":"lossy"})", who)) == "granted");
      CHECK(kind_of(asked(R"({"outputMode":"lossless"})", who)) == "invalidParams");
    }
    CHECK_FALSE(params_of(R"({"outputMode":"none"})"));
    CHECK_FALSE(params_of(R"({"telepathy":true})"));
  }

  TEST_CASE(
      "§D13 only a reviewer's connection is asked, and not when it says that nobody is there") {
    CHECK(kind_of(asked(R"({"approvals":true})", authority::agent)) == "authority");
    CHECK_FALSE(asked(R"({"approvals":false})", authority::agent).granted.answers);
    CHECK_FALSE(asked("{}", authority::agent).granted.answers);
    const auto all = asked(R"({"approvals":true})", authority::reviewer).granted;
    CHECK(all.answers);
    CHECK(all.asked_about_all);
    const auto some = asked("{}", authority::reviewer).granted;
    CHECK(some.answers);
    CHECK_FALSE(some.asked_about_all);
    const auto none = asked(R"({"approvals":false})", authority::reviewer).granted;
    CHECK_FALSE(none.answers);
    CHECK_FALSE(none.asked_about_all);
  }
}
