#include "protocol/json_tree.hpp"

#include "protocol/repeated_name.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

namespace {

const json_source source{"the answer", errc::invalid_request, "mend it", 200};

std::string failure(std::string_view text) {
  const auto tree = parse_json(text, source);
  return tree ? "" : tree.error().message;
}

/// An object of so many fields.
std::string wide(std::size_t fields) {
  std::string text = "{";
  for (std::size_t i = 0; i < fields; ++i)
    text += "\"n" + std::to_string(i) + "\":0,";
  text.back() = '}';
  return text;
}

} // namespace

TEST_SUITE("protocol.json_tree") {
  TEST_CASE("§201 the names of one object are not compared each with each") {
    std::size_t comparisons = 0;
    const auto less = [&](std::string_view a, std::string_view b) {
      ++comparisons;
      return a < b;
    };
    constexpr std::size_t count = 100'000;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i)
      names.push_back(std::to_string(i));
    CHECK_FALSE(repeated_name({names.begin(), names.end()}, less));
    CHECK(comparisons < count * 64); // each with each: five thousand million
    names[count / 2] = names.back();
    CHECK(repeated_name({names.begin(), names.end()}) == names.back());
    // And through the reader, which would stand for a minute.
    const json_source large{"the text", errc::invalid_request, "", std::size_t{4} << 20U};
    auto text = wide(count);
    const auto tree = parse_json(text, large);
    REQUIRE(tree);
    CHECK(std::get<json_tree::object>(tree->value).size() == count);
    CHECK(json_node{*tree, large}.object({"n0"}).error().message.find("`/n1`: unknown field") !=
          std::string::npos);
    text.replace(text.size() - 1, 1, ",\"n7\":1}");
    CHECK(parse_json(text, large).error().message.find("`n7` stands twice") != std::string::npos);
  }

  TEST_CASE("a text of few bytes for many values does not take memory without bound") {
    json_source few{"the text", errc::invalid_request, ""};
    few.max_values = 10;
    CHECK(parse_json("[1,2,3,4,5,6,7,8,9]", few));
    CHECK(parse_json("[1,2,3,4,5,6,7,8,9,10]", few).error().message.find("too many values") !=
          std::string::npos);
    CHECK_FALSE(parse_json("[[],[],[],[],[],[],[],[],[],[]]", few));
    CHECK_FALSE(parse_json(R"([{"a":1},{"a":2},{"a":3},{"a":4},{"a":5}])", few));
  }

  TEST_CASE("a long name is not told back whole") {
    const json_source large{"the text", errc::invalid_request, "", std::size_t{4} << 20U};
    const auto name = std::string(1'000'000, 'x');
    const auto tree = parse_json("{\"" + name + "\":{\"y\":1}}", large);
    REQUIRE(tree);
    const json_node root{*tree, large};
    CHECK(root.object({}).error().message.size() < 300);
    CHECK(root.open_object()->find(name)->object({}).error().message.size() < 300);
    CHECK(parse_json("{\"" + name + "\":1,\"" + name + "\":2}", large).error().message.size() <
          300);
  }

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

  TEST_CASE("§201 a number beyond all floats was passed on as a text that is no JSON") {
    for (const char* text : {"1e999", "[-1e999]", "{\"a\":99e99999999}"})
      CHECK_MESSAGE(
          failure(text).find("a number beyond all floating-point ones") != std::string::npos, text);
    CHECK(failure("[1e308,-1e308,1e-999,123456789012345678901234567890]").empty());
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
