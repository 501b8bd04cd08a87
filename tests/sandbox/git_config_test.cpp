#include "sandbox/git_config.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace gatehouse::sandbox;
using namespace std::string_view_literals;

namespace {

/// As `git config --list` shows it, one line each.
std::string listed(std::string_view text) {
  std::string lines;
  for (const auto& one : read_git_config(text))
    lines += one.section + "." + (one.subsection.empty() ? "" : one.subsection + ".") + one.name +
             "=" + one.value + "\n";
  return lines;
}

} // namespace

TEST_SUITE("sandbox.git_config") {
  TEST_CASE("§63 a configuration is read as git reads it") {
    const struct {
      std::string_view text;
      std::string_view settings;
    } rows[] = {
        {"[core]\n\thooksPath = hk\n", "core.hookspath=hk\n"},
        {"\xef\xbb\xbf[Core]\nHooksPath=hk", "core.hookspath=hk\n"},
        {"[core] hooksPath = hk ; x\n# [include]\n; path = a\n", "core.hookspath=hk\n"},
        {"[include]\r\npath = a \t b c \r\n", "include.path=a   b c\ninclude.path=a \t b c\n"},
        {"[include]\npath = \"../a\\\"b.conf\"\n", "include.path=../a\"b.conf\n"},
        {"[include]\npath = ../tab\\tx\\\\y\\bz\n", "include.path=../tab\tx\\y\bz\n"},
        {"[include]\npath = ../loc\\\nal.conf\n", "include.path=../local.conf\n"},
        {"[include]\npath = ../\"x y\".conf\n", "include.path=../x y.conf\n"},
        {"[include]\npath = pl\"us\"z # c\n", "include.path=plusz\n"},
        {"[include]\npath = \"a # b\" ;c\n", "include.path=a # b\n"},
        {"[include]\npath = a\0b\n"sv, "include.path=a\n"},
        {"[includeIf \"gitdir:~/x/\\\"y\"]path=z", "includeif.gitdir:~/x/\"y.path=z\n"},
        {"[Remote.Up]url = x", "remote.up.url=x\n"},
        {"[core]\nbare\n", "core.bare=\n"},
        {"x = 1\n", ".x=1\n"},
        {"", ""},
        {"[core", ""},
        {"[a \"b", ""},
    };
    for (const auto& [text, settings] : rows) {
      const auto& given = text; // clang 14 captures no structured binding
      CAPTURE(given);
      CHECK(listed(text) == settings);
    }
  }

  TEST_CASE("§63 what follows a line that git refuses is read, as if somebody had mended it") {
    for (const std::string bad : {"path = \"open", "path = a\\x", "1 = x", "[a b]", "path : x",
                                  "[a \"b\\", "[a \"b\"x]", "pa_th = x", "=x"}) {
      CAPTURE(bad);
      CHECK(listed("[core]\n" + bad + "\n[core]\nhooksPath = hk\n") == "core.hookspath=hk\n");
    }
  }
}
