#include "protocol/json_tree.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

namespace {

const json_source source{"the answer", errc::invalid_request, "mend it", 200};

std::string failure(std::string_view text) {
  const auto tree = parse_json(text, source);
  return tree ? "" : tree.error().message;
}

} // namespace

TEST_SUITE("protocol.json_tree") {
  TEST_CASE("a whole value is read as it was written") {
    const auto tree =
        parse_json(R"( {"a":[1,-2,true,null,"x\u00e9\n"],"b":{"c":{}},"d":1.5} )", source);
    REQUIRE(tree);
    const json_node root{*tree, source};
    const auto fields = root.object({"a", "b", "d"});
    REQUIRE(fields);
    const auto list = fields->need("a")->array();
    REQUIRE(list);
    REQUIRE(list->size() == 5);
    CHECK((*list)[0].integer(0, 9).value() == 1);
    CHECK((*list)[1].integer(-9, 9).value() == -2);
    CHECK((*list)[2].boolean().value());
    CHECK((*list)[4].text().value() == "x\u00e9\n");
    CHECK(fields->need("b")->object({"c"}));
    CHECK_FALSE(fields->find("e"));
    CHECK(fields->optional_text("e").value().empty());
  }

  TEST_CASE("a text that two readers may read differently is refused, with the place") {
    CHECK(failure(R"({"a":1,"a":2})").find("`a` stands twice") != std::string::npos);
    CHECK(failure(R"({"x":{"a":1,"\u0061":2}})").find("stands twice") != std::string::npos);
    CHECK(failure(R"({"a":1} {"b":2})").find("byte 8: text after") != std::string::npos);
    CHECK(failure("{\"a\":\"\xff\"}").find("byte 6 is not valid UTF-8") != std::string::npos);
    CHECK(failure(std::string(201, ' ')).find("longer than 200 bytes") != std::string::npos);
    CHECK(failure(std::string(60, '[')).find("not valid JSON") != std::string::npos);
    for (const char* text : {"", " ", "{", "{\"a\":1,}", "{'a':1}", "// x\n{}", "nul", "[1 2]",
                             "{\"a\"}", "\"\\ud800\"", "NaN", "01", "I say: {\"a\":1}"})
      CHECK_MESSAGE(failure(text).find("the answer: byte ") == 0, text);
  }

  TEST_CASE("errors name the place by its JSON pointer") {
    const auto tree = parse_json(R"({"a/b":[{"c":"\u0000"}],"n":3000000000000000000000})", source);
    REQUIRE(tree);
    const json_node root{*tree, source};
    const auto item = (*root.open_object()->need("a/b")->array())[0];
    const auto text = item.open_object()->need("c")->text();
    REQUIRE_FALSE(text);
    CHECK(text.error().message == "the answer at `/a~1b/0/c`: holds a NUL character");
    CHECK(text.error().remedy == "mend it");
    CHECK(root.object({"n"}).error().message ==
          "the answer at `/a~1b`: unknown field; known here: `n`");
    CHECK_FALSE(root.open_object()->need("n")->integer(0, 1000));
    CHECK(root.open_object()->need("z").error().message ==
          "the answer at `/`: field `z` is missing");
    CHECK(item.word({"x", "y"}).error().message ==
          "the answer at `/a~1b/0`: expected one of `x`, `y`");
  }
}
