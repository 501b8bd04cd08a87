#include "protocol/rpc/codec.hpp"

#include <doctest/doctest.h>

#include <array>

namespace gatehouse::rpc {
namespace {

enum class colour : std::uint8_t { red, green };

struct inner {
  std::string name;
};

struct outer {
  std::string must;
  std::optional<std::int64_t> may;
  std::vector<inner> list;
  std::optional<colour> paint;
  std::optional<bool> flag;
};

struct open_one {
  std::string name;
};

} // namespace

template <>
struct described_words<colour> {
  static constexpr std::string_view name = "Colour";
  static constexpr std::string_view about = "A colour.";
  static constexpr std::array<std::string_view, 2> words{"red", "green"};
};
template <>
struct described<inner> {
  static constexpr std::string_view name = "Inner";
  static constexpr std::string_view about = "Inside.";
  template <class V>
  static void fields(V& v) {
    v.field("name", &inner::name, "its name");
  }
};
template <>
struct described<outer> {
  static constexpr std::string_view name = "Outer";
  static constexpr std::string_view about = "Outside.";
  template <class V>
  static void fields(V& v) {
    v.field("must", &outer::must, "needed");
    v.field("may", &outer::may, "");
    v.field("list", &outer::list, "");
    v.field("paint", &outer::paint, "");
    v.field("flag", &outer::flag, "");
  }
};
template <>
struct described<open_one> {
  static constexpr std::string_view name = "OpenOne";
  static constexpr bool open = true;
  template <class V>
  static void fields(V& v) {
    v.field("name", &open_one::name, "");
  }
};

namespace {

template <class T>
result<T> read(std::string_view text) {
  const json_source source{"the message", errc::invalid_request, "", 1 << 20};
  const auto tree = parse_json(text, source);
  REQUIRE(tree);
  return codec<T>::decode(json_node{*tree, source});
}

} // namespace
} // namespace gatehouse::rpc

using namespace gatehouse;
using namespace gatehouse::rpc;

TEST_SUITE("protocol.rpc_codec") {
  TEST_CASE("a message is read and written by its one field list") {
    const auto text =
        R"({"must":"m","may":3,"list":[{"name":"a"},{"name":"b"}],"paint":"green","flag":false})";
    const auto value = read<outer>(text);
    REQUIRE(value);
    CHECK(value->list.size() == 2);
    CHECK(value->paint == colour::green);
    CHECK(to_json(*value) == text);
    const auto least = read<outer>(R"({"must":"m","may":null})");
    REQUIRE(least);
    CHECK(to_json(*least) == R"({"must":"m","list":[]})");
  }

  TEST_CASE("every wrong type is refused with its JSON pointer") {
    const std::pair<const char*, const char*> rows[] = {
        {R"({})", "`/`"},
        {R"({"must":null})", "`/must`"},
        {R"({"must":3})", "`/must`"},
        {R"({"must":"m","may":"3"})", "`/may`"},
        {R"({"must":"m","may":1.5})", "`/may`"},
        {R"({"must":"m","list":{}})", "`/list`"},
        {R"({"must":"m","list":[{"name":"a"},{"name":1}]})", "`/list/1/name`"},
        {R"({"must":"m","paint":"blue"})", "`/paint`"},
        {R"({"must":"m","flag":1})", "`/flag`"},
        {R"({"must":"m","more":1})", "`/more`"},
        {R"([])", "`/`"},
    };
    for (const auto& [text, pointer] : rows) {
      const auto& given = text; // clang 14 captures no structured binding
      CAPTURE(given);
      const auto value = read<outer>(text);
      REQUIRE_FALSE(value);
      CHECK(value.error().message.find(pointer) != std::string::npos);
    }
    CHECK(read<open_one>(R"({"name":"a","more":{"x":1}})"));
  }

  TEST_CASE("the schema names each type once, its words and what must be there") {
    schema_book book;
    CHECK(codec<outer>::schema(book) == R"({"$ref":"#/$defs/Outer"})");
    CHECK(book.types().size() == 3);
    const auto& schema = book.types().at("Outer");
    CHECK(schema.find(R"("required":["must"])") != std::string::npos);
    CHECK(schema.find(R"("additionalProperties":false)") != std::string::npos);
    CHECK(schema.find(R"("must":{"type":"string","description":"needed"})") != std::string::npos);
    CHECK(book.types().at("Colour").find(R"("enum":["red","green"])") != std::string::npos);
  }

  TEST_CASE("any JSON is kept as it came") {
    const auto text = R"({"a":[1,-2,null,true,1.5,"x"],"b":{}})";
    const auto value = read<json_tree>(text);
    REQUIRE(value);
    CHECK(to_json(*value) == text);
  }
}
