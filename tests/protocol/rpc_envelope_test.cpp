#include "protocol/rpc/envelope.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::rpc;

namespace {

rpc::message good(std::string_view text) {
  auto read = read_message(text);
  REQUIRE(std::holds_alternative<rpc::message>(read));
  return std::get<rpc::message>(std::move(read));
}

unreadable bad(std::string_view text) {
  auto read = read_message(text);
  REQUIRE(std::holds_alternative<unreadable>(read));
  return std::get<unreadable>(std::move(read));
}

} // namespace

TEST_SUITE("protocol.rpc_envelope") {
  TEST_CASE("§201 requests, notifications and responses are told apart") {
    const auto request = good(R"({"jsonrpc":"2.0","id":7,"method":"a/b","params":{"x":1}})");
    CHECK(request.what() == rpc::message::kind::request);
    CHECK(request.method() == "a/b");
    CHECK(request.id() == request_id{std::int64_t{7}});
    CHECK(request.has_version());
    CHECK(request.params().open_object()->find("x"));
    const auto notification = good(R"({"method":"initialized"})");
    CHECK(notification.what() == rpc::message::kind::notification);
    CHECK_FALSE(notification.has_version());
    CHECK(notification.params().open_object());
    const auto response = good(R"({"id":"r1","result":{"decision":"accept"}})");
    CHECK(response.what() == rpc::message::kind::response);
    CHECK(response.result_value());
    CHECK_FALSE(good(R"({"id":1,"error":{"code":-1,"message":"no"}})").result_value());
  }

  TEST_CASE("null parameters are none") {
    CHECK(good(R"({"id":1,"method":"m","params":null})").params().open_object());
  }

  TEST_CASE("what is no message is refused with the code and, where it could be read, the id") {
    struct row {
      const char* text;
      code number;
      bool id;
    };
    const row rows[] = {
        {"", code::parse_error, false},
        {"{", code::parse_error, false},
        {"\xff", code::parse_error, false},
        {R"({"id":1,"id":2,"method":"m"})", code::parse_error, false},
        {R"({"id":1,"method":"m"} x)", code::parse_error, false},
        {"[]", code::invalid_request, false},
        {R"([{"id":1,"method":"m"}])", code::invalid_request, false},
        {"3", code::invalid_request, false},
        {"null", code::invalid_request, false},
        {"{}", code::invalid_request, false},
        {R"({"id":1})", code::invalid_request, true},
        {R"({"id":1.5,"method":"m"})", code::invalid_request, false},
        {R"({"id":null,"method":"m"})", code::invalid_request, false},
        {R"({"id":{},"method":"m"})", code::invalid_request, false},
        {R"({"id":1,"method":3})", code::invalid_request, true},
        {R"({"id":1,"method":""})", code::invalid_request, true},
        {R"({"jsonrpc":"1.0","id":1,"method":"m"})", code::invalid_request, true},
        {R"({"jsonrpc":2,"id":1,"method":"m"})", code::invalid_request, true},
        {R"({"id":1,"method":"m","result":{}})", code::invalid_request, true},
        {R"({"id":1,"result":{},"error":{}})", code::invalid_request, true},
        {R"({"result":{}})", code::invalid_request, false},
        {R"({"id":1,"method":"m","extra":1})", code::invalid_request, true},
    };
    for (const auto& r : rows) {
      CAPTURE(r.text);
      const auto refused = bad(r.text);
      CHECK(refused.why.code == r.number);
      CHECK(refused.id.has_value() == r.id);
      CHECK_FALSE(refused.why.message.empty());
    }
  }

  TEST_CASE("nesting and length have limits") {
    CHECK(bad(std::string(100000, '[')).why.code == code::parse_error);
    CHECK(std::holds_alternative<unreadable>(read_message(R"({"id":1,"method":"m"})", 10)));
  }

  TEST_CASE("§201 what a peer sends is not sent back to it at any length") {
    const auto id = [](std::size_t length) {
      return R"({"method":"m","id":")" + std::string(length, 'x') + "\"}";
    };
    CHECK(good(id(1024)).id() == request_id{std::string(1024, 'x')});
    CHECK_FALSE(bad(id(1025)).id);
    const auto told =
        write_failure(std::int64_t{1},
                      parse_failure("there is no `" + std::string(100'000, 'x') + "`; ask"), true);
    CHECK(told.size() < 2200);
    CHECK(told.find("there is no `x") != std::string::npos);
    CHECK(told.find("`; ask") != std::string::npos);
  }

  TEST_CASE("what is written can be read, with and without a version") {
    CHECK(write_result(std::int64_t{1}, "{}", false) == R"({"id":1,"result":{}})");
    CHECK(write_result(std::string{"a\"b"}, "{}", true) ==
          R"({"jsonrpc":"2.0","id":"a\"b","result":{}})");
    CHECK(write_notification("m", "{}", false, 5) ==
          R"({"method":"m","params":{},"emittedAtMs":5})");
    CHECK(write_failure({}, {code::parse_error, "bad", "parse", {}}, false) ==
          R"({"id":null,"error":{"code":-32700,"message":"bad","data":{"kind":"parse"}}})");
    CHECK(
        write_failure(std::int64_t{2}, {code::overloaded, "later", "overloaded", R"("limit":8)"},
                      false) ==
        R"({"id":2,"error":{"code":-32001,"message":"later","data":{"kind":"overloaded","limit":8}}})");
    CHECK(good(write_request(std::int64_t{3}, "ask", R"({"q":1})", true)).method() == "ask");
  }
}
