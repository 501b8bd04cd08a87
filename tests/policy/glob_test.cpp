#include "policy/glob.hpp"
#include "policy/path_text.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using policy::path_glob;

namespace {

path_glob glob(std::string_view pattern) {
  auto compiled = path_glob::compile(pattern);
  REQUIRE_MESSAGE(compiled.has_value(), pattern);
  return *std::move(compiled);
}

bool matches(std::string_view pattern, std::string_view path) {
  return glob(pattern).matches(path);
}

} // namespace

TEST_SUITE("policy.glob") {
  TEST_CASE("§61 a star and a question mark never cross a slash") {
    CHECK(matches("/w/*.env", "/w/a.env"));
    CHECK(matches("/w/*.env", "/w/.env"));
    CHECK_FALSE(matches("/w/*.env", "/w/a/b.env"));
    CHECK(matches("/w/?.c", "/w/é.c"));
    CHECK_FALSE(matches("/w/?", "/w/ab"));
    CHECK_FALSE(matches("/w?x", "/w/x"));
    CHECK(matches("/w/a*b*c", "/w/aXbYbZc"));
    CHECK_FALSE(matches("/w/a*b*c", "/w/aXbYbZ"));
  }

  TEST_CASE("§61 two stars as a whole component stand for any number of folders") {
    CHECK(matches("/w/**/*.env", "/w/.env"));
    CHECK(matches("/w/**/*.env", "/w/a/b/c/x.env"));
    CHECK_FALSE(matches("/w/**/*.env", "/v/x.env"));
    CHECK(matches("/**/secret/**/k", "/a/secret/k"));
    CHECK(matches("/**/secret/**/k", "/a/b/secret/x/y/k"));
    CHECK_FALSE(matches("/**/secret/**/k", "/a/b/k"));
  }

  TEST_CASE("§61 two stars at the end mean what lies below, not the folder") {
    CHECK(matches("/w/private/**", "/w/private/x"));
    CHECK(matches("/w/private/**", "/w/private/x/y"));
    CHECK_FALSE(matches("/w/private/**", "/w/private"));
  }

  TEST_CASE("§61 two stars inside a name are one star twice") {
    CHECK(matches("/w/a**", "/w/abc"));
    CHECK_FALSE(matches("/w/a**", "/w/a/b"));
  }

  TEST_CASE("§61 classes know ranges, negation and a leading bracket, and never match a slash") {
    CHECK(matches("/w/[a-c]x", "/w/bx"));
    CHECK_FALSE(matches("/w/[a-c]x", "/w/dx"));
    CHECK(matches("/w/[!a-c]x", "/w/dx"));
    CHECK(matches("/w/[^a-c]x", "/w/dx"));
    CHECK(matches("/w/[]a]", "/w/]"));
    CHECK(matches("/w/[a-]", "/w/-"));
    CHECK_FALSE(matches("/w[!a]x", "/w/x"));
  }

  TEST_CASE("§61 an unclosed bracket is a literal") {
    CHECK(matches("/w/[ab", "/w/[ab"));
    CHECK_FALSE(matches("/w/[ab", "/w/a"));
  }

  TEST_CASE("§61 braces are alternatives, nested and with folders too") {
    CHECK(matches("/w/{a,b}.key", "/w/b.key"));
    CHECK(matches("/w/{a/x,b}/k", "/w/a/x/k"));
    CHECK(matches("/w/{a{1,2},b}", "/w/a2"));
    CHECK_FALSE(matches("/w/{a,b}.key", "/w/c.key"));
  }

  TEST_CASE("§61 a backslash takes the next character literally, and case matters") {
    CHECK(matches("/w/\\*", "/w/*"));
    CHECK_FALSE(matches("/w/\\*", "/w/a"));
    CHECK(matches("/w/\\{a\\}", "/w/{a}"));
    CHECK_FALSE(matches("/w/*.env", "/w/A.ENV"));
  }

  TEST_CASE("§64 what cannot be read is an error that names the pattern and the byte") {
    for (const char* bad :
         {"/w/[z-a]", "/w/{a", "/w/a}", "/w/a\\", "w/a", "/", "/w/[a/b]", "/w/[[:alpha:]]",
          "/w/[x[.-.]]", "/w/[[=a=]]", "/w/../x", "/w/./x", ""}) {
      CAPTURE(bad);
      const auto compiled = path_glob::compile(bad);
      REQUIRE_FALSE(compiled.has_value());
      CHECK(compiled.error().code == errc::invalid_profile);
      CHECK(compiled.error().message.find("at byte") != std::string::npos);
    }
    std::string many = "/w/";
    for (int i = 0; i < 12; ++i)
      many += "{a,b}";
    CHECK_FALSE(path_glob::compile(many).has_value());
  }

  TEST_CASE("§64 a folder that matches denies what lies below it") {
    CHECK(glob("/w/a*").matches_at_or_above("/w/abc/d/e"));
    CHECK_FALSE(glob("/w/a*").matches_at_or_above("/w/b/abc"));
  }

  TEST_CASE("a walk need not enter a folder below which nothing can match") {
    const auto may_match_below = [](std::string_view pattern, std::string_view folder) {
      const auto g = glob(pattern);
      auto state = g.start();
      for (auto name : policy::components_of(folder))
        state = g.step(state, name);
      return !state.empty();
    };
    CHECK(may_match_below("/w/*/k/x", "/w/a"));
    CHECK_FALSE(may_match_below("/w/*/k/x", "/w/a/b"));
    CHECK_FALSE(may_match_below("/w/*/k/x", "/w/a/k/x/y"));
    CHECK(may_match_below("/w/**/x", "/w/a/b/c"));
    CHECK(may_match_below("/w/x/y", "/"));
  }

  TEST_CASE("whether a name is accepted can be asked without a state") {
    for (const char* pattern :
         {"/w/**/*.env", "/w/**", "/w/**/**", "/w/a/**/b", "/w/{x,a/*}", "/w/a"}) {
      const auto glob = *path_glob::compile(pattern);
      for (const char* folder : {"/", "/w", "/w/a", "/w/a/c", "/v"}) {
        auto state = glob.start();
        for (const auto name : policy::components_of(folder))
          state = glob.step(state, name);
        for (const char* name : {"w", "a", "b", "x", "k.env", "c"}) {
          CAPTURE(pattern);
          CAPTURE(folder);
          CAPTURE(name);
          CHECK(glob.accepts_below(state, path_glob::decode(name)) ==
                glob.accepts(glob.step(state, name)));
        }
      }
    }
  }

  TEST_CASE("folders in the same state have the same matches below") {
    const auto g = glob("/w/**/secret/*.env");
    const auto at = [&](std::string_view folder) {
      auto state = g.start();
      for (auto name : policy::components_of(folder))
        state = g.step(state, name);
      return state;
    };
    CHECK(at("/w/a") == at("/w/b/c"));
    CHECK(at("/w/a") != at("/w/secret"));
  }

  TEST_CASE("a pattern splits into the folder that holds every match and the rest") {
    const auto split = [](std::string_view pattern) {
      const auto s = policy::split_literal_folder(pattern);
      return s.folder + " + " + s.rest;
    };
    CHECK(split("/w/a/**/*.env") == "/w/a + **/*.env");
    CHECK(split("/w/{a/x*,b/y*}") == "/w + {a/x*,b/y*}");
    CHECK(split("/**/x") == "/ + **/x");
    CHECK(split("/w/plain") == "/w + plain");
    CHECK(split("/w/plain//") == "/w + plain");
    CHECK(split("/w/*/") == "/w + *");
    CHECK(split("/w-1/a/../b/*") == "/w-1/a + ../b/*");
    CHECK(split("/w/a\\*b/c") == "/w + a\\*b/c");
  }

  TEST_CASE("an escaped text matches itself and nothing else") {
    const std::string odd = "/w/a*[b]{c,d}\\?!";
    CHECK(matches(policy::escape_glob(odd), odd));
    CHECK_FALSE(matches(policy::escape_glob(odd), "/w/aX[b]{c,d}\\?!"));
  }

  TEST_CASE("a name-only glob keeps matching a file that moves inside its folder") {
    CHECK(glob("/w/**/*.env").by_name_only_below("/w/sub"));
    CHECK_FALSE(glob("/w/a/**/*.env").by_name_only_below("/w"));
    CHECK_FALSE(glob("/w/**/a/*.env").by_name_only_below("/w"));
    CHECK_FALSE(glob("/w/*.env").by_name_only_below("/w"));
  }
}

TEST_SUITE("policy.path_text") {
  TEST_CASE("paths become normal without looking at a file system") {
    CHECK(policy::lexically_normal("//a/./b/../c//") == "/a/c");
    CHECK(policy::lexically_normal("/../..") == "/");
    CHECK(policy::absolute_below("/a/b", "../c") == "/a/c");
    CHECK(policy::absolute_below("/a/b", "/c") == "/c");
    CHECK(policy::parent_of("/a") == "/");
    CHECK(policy::parent_of("/") == "/");
    CHECK(policy::name_of("/a/b") == "b");
    CHECK(policy::component_count("/") == 0);
    CHECK(policy::component_count("/a/b") == 2);
  }

  TEST_CASE("being below goes by whole components") {
    CHECK(policy::is_at_or_below("/a/b", "/a"));
    CHECK(policy::is_at_or_below("/a", "/a"));
    CHECK_FALSE(policy::is_at_or_below("/ab", "/a"));
    CHECK(policy::is_below("/a", "/"));
    CHECK_FALSE(policy::is_below("/", "/"));
  }
}
