#include "config/toml_value.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;
using namespace gatehouse::config;

TEST_SUITE("config.toml_value") {
  TEST_CASE("values keep the order of the file and the place of their keys") {
    const auto root = parse_toml("b = 1\na = \"x\"\n[t]\n  c = [true, 2]\n", "f.toml");
    REQUIRE(root);
    REQUIRE(root->size() == 3);
    CHECK(root->at(0).key == "b");
    CHECK(root->at(1).key == "a");
    CHECK(*find(*root, "a")->string() == "x");
    const auto* c = find(*find(*root, "t")->table(), "c");
    REQUIRE(c != nullptr);
    CHECK(position("f.toml", *c) == "f.toml:4:3");
    CHECK(c->array()->at(1).line == 4);
    CHECK(find(*root, "missing") == nullptr);
  }

  TEST_CASE("a key of very many parts is refused where it stands and ends no program") {
    const auto many = [](const std::string& part, int count) {
      std::string text;
      for (int i = 0; i < count; ++i)
        text += part;
      return text;
    };
    for (const auto& text :
         {"\n" + many("a.", 100'000) + "b = 1\n", "\n[" + many("a.", 100'000) + "b]\n",
          "\n[[" + many("'a' . ", 100'000) + "b]]\n",
          "\nx = { " + many("a.", 100'000) + "b = 1 }\n",
          "\n" + many("\"a#\\\"\".", 100'000) + "b = 1\n"}) {
      const auto root = parse_toml(text, "f.toml");
      REQUIRE_FALSE(root);
      CHECK(root.error().message.starts_with("f.toml:2:"));
      CHECK(root.error().message.find("a key has more than 100 parts") != std::string::npos);
    }
    CHECK(parse_toml(many("a.", 99) + "b = 1\n", "f.toml"));
    const auto dots = many(".", 500);
    CHECK(parse_toml("a = '" + dots + "' # " + dots + "\nb = \"\"\"\n" + dots + "\"\"\"\n",
                     "f.toml"));
  }

  TEST_CASE("§44 a table header without a name ended the program") {
    for (const std::string_view header :
         {"[", "[\n", "[.", "[[[", "[[[a]]]", "[[.a]]", "[]", "[[]]"}) {
      const auto root = parse_toml("ok = 1\n  " + std::string{header}, "f.toml");
      REQUIRE_FALSE(root);
      CHECK(root.error().code == errc::invalid_config);
      CHECK(root.error().message.starts_with("f.toml:2:"));
    }
    for (const std::string_view text :
         {"[a]\n[[b.c]]\n[ d . 'e' ]\n", "a = [\n[[1]],\n[]]\n[b]\n",
          "a = '[' # [\nb = \"\"\"\n[\n\"\"\"\n", "a = { b = [\n[1]] }\n"})
      CHECK(parse_toml(text, "f.toml"));
  }

  TEST_CASE("a syntax error names file, line and column") {
    const auto root = parse_toml("ok = 1\nbad = = 2\n", "dir/f.toml");
    REQUIRE_FALSE(root);
    CHECK(root.error().code == errc::invalid_config);
    CHECK(root.error().message.starts_with("dir/f.toml:2:7: "));
  }

  TEST_CASE("NUL bytes, invalid UTF-8, endless nesting and huge files are refused") {
    using namespace std::string_view_literals;
    const auto nul = parse_toml("a = 1\nb\0 = 2\n"sv, "f");
    REQUIRE_FALSE(nul);
    CHECK(nul.error().message.starts_with("f:2:2: "));
    CHECK_FALSE(parse_toml("a = \"\xff\"\n", "f"));
    CHECK_FALSE(parse_toml("a = " + std::string(100'000, '['), "f"));
    const auto huge = parse_toml(std::string((4u << 20) + 1, ' '), "f");
    REQUIRE_FALSE(huge);
    CHECK(huge.error().code == errc::too_large);
  }
}
