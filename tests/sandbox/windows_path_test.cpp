#include "sandbox/windows/windows_path.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <utility>

using namespace gatehouse::sandbox;

TEST_SUITE("sandbox.windows_path") {
  TEST_CASE("§85 the spellings of one file are one value") {
    for (const auto* spelling :
         {R"(C:\Work\a.txt)", R"(c:\work\A.TXT)", "C:/Work/a.txt", R"(C:\Work\\a.txt)",
          R"(C:\Work\.\a.txt)", R"(C:\Other\..\Work\a.txt)", R"(C:\..\Work\a.txt)",
          R"(C:\Work\a.txt.)", R"(C:\Work\a.txt. . )", R"(C:\Work.\a.txt)", R"(C:\Work\a.txt\)",
          R"(\\?\C:\Work\a.txt)", R"(\\?\c:\WORK\a.txt)"}) {
      CAPTURE(spelling);
      const auto path = parse_windows_path(spelling);
      REQUIRE(path);
      CHECK(path->policy_form() == "/c:/work/a.txt");
    }
    for (const auto* spelling :
         {R"(\\Server\Share\a)", "//server/share/a", R"(\\?\UNC\server\share\a)",
          R"(\\?\unc\SERVER\share\a)", R"(\\server\share\b\..\a)"}) {
      CAPTURE(spelling);
      const auto path = parse_windows_path(spelling);
      REQUIRE(path);
      CHECK(path->policy_form() == "/unc:/server/share/a");
    }
  }

  TEST_CASE("§85 a path keeps its native spelling without what Windows drops") {
    for (const auto& [given, native] : std::initializer_list<std::pair<const char*, const char*>>{
             {"c:/Work/x. ", R"(C:\Work\x)"},
             {R"(C:\)", R"(C:\)"},
             {R"(\\s\h)", R"(\\s\h\)"},
             {R"(\\s\h\a\..\b)", R"(\\s\h\b)"},
             {R"(C:\..)", R"(C:\)"}}) {
      const auto path = parse_windows_path(given);
      REQUIRE(path);
      CHECK(path->native() == native);
    }
  }

  TEST_CASE("§85 what means no file, or more than one, is refused with its reason") {
    for (const auto& [given, why] : std::initializer_list<std::pair<const char*, const char*>>{
             {"", "relative"},
             {"work", "relative"},
             {R"(\work)", "relative"},
             {"/srv/work", "relative"},
             {"C:", "relative to a drive's folder"},
             {"C:work", "relative to a drive's folder"},
             {R"(\\.\PhysicalDrive0)", "device"},
             {R"(\\.\C:\work)", "device"},
             {R"(\\?\GLOBALROOT\Device\x)", "volume or a device"},
             {R"(\\?\Volume{b75e2c83}\x)", "volume or a device"},
             {R"(\\?\C:/work)", "no separator"},
             {R"(\\?\C:\work\..\x)", "as it is written"},
             {R"(\\?\C:\work\\x)", "as it is written"},
             {R"(\\?\C:\work\x.)", "ends with a dot"},
             {R"(\\?\C:\work\x )", "ends with a dot"},
             {R"(C:\work\...)", "dots and spaces"},
             {R"(C:\work\NUL)", "device"},
             {R"(C:\work\con.txt)", "device"},
             {R"(C:\com1\x)", "device"},
             {R"(C:\aux .txt)", "device"},
             {"C:\\lpt\xc2\xb9", "device"},
             {R"(C:\work\a.txt:hidden)", "stream"},
             {R"(C:\work\a.txt::$DATA)", "stream"},
             {R"(C:\work:$I30:$INDEX_ALLOCATION\x)", "stream"},
             {R"(C:\wo*rk)", "character"},
             {"C:\\a\x01", "character"},
             {R"(\\server)", "share"},
             {R"(\\\share\x)", "server"},
             {R"(\\server\..\x)", "share"}}) {
      const auto& text = given; // clang 14 captures no structured binding
      CAPTURE(text);
      const auto path = parse_windows_path(given);
      REQUIRE_FALSE(path);
      CHECK(path.error().message.find(why) != std::string::npos);
      CHECK(path.error().message.find(given) != std::string::npos);
    }
  }

  TEST_CASE("§85 a short name is seen, for it may mean another one") {
    for (const auto* given : {R"(C:\PROGRA~1\x)", R"(C:\x\ABCDEF~2.TXT)", R"(C:\a~1)"})
      CHECK(parse_windows_path(given)->has_short_name);
    for (const auto* given :
         {R"(C:\a~)", R"(C:\~a)", R"(C:\longername~1)", R"(C:\a~1.text)", R"(C:\a~b1)"})
      CHECK_FALSE(parse_windows_path(given)->has_short_name);
  }

  TEST_CASE("§85 the names of devices are known whatever their ending") {
    for (const auto* name :
         {"CON", "con.", "nul.tar.gz", "Com0", "LPT9", "conin$", "PRN .x", "COM\xc2\xb2"})
      CHECK(is_reserved_windows_name(name));
    for (const auto* name : {"console", "com", "com10", "lpt", "null", "aux2", "x.con"})
      CHECK_FALSE(is_reserved_windows_name(name));
  }
}
