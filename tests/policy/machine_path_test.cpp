#include "policy/machine_path.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using policy::folder_below;

TEST_SUITE("policy.machine_path") {
  TEST_CASE("§8 a folder is read as the machine of the session writes it") {
    constexpr auto posix = path_convention::posix;
    CHECK(*folder_below(posix, "/repo", "a/../b") == "/repo/b");
    CHECK(*folder_below(posix, "/repo", "/srv/") == "/srv");
    CHECK(*folder_below(posix, "/repo", "file:///srv/a%20b") == "/srv/a b");
    CHECK(*folder_below(posix, "/repo", "a\\b") == "/repo/a\\b");
    constexpr auto windows = path_convention::windows;
    CHECK(*folder_below(windows, "/C:/repo", "D:\\x\\..\\y") == "/D:/y");
    CHECK(*folder_below(windows, "/C:/repo", "src\\lib") == "/C:/repo/src/lib");
    CHECK(*folder_below(windows, "/C:/repo", ".") == "/C:/repo");
  }

  TEST_CASE("§8 a foreign path is refused, never re-read as one of this machine") {
    for (const auto* text : {"C:\\repo", "C:/repo", "file:///C:/repo"}) {
      const auto read = folder_below(path_convention::posix, "/repo", text);
      REQUIRE_FALSE(read);
      CHECK(read.error().message.find(text) != std::string::npos);
    }
    CHECK_FALSE(folder_below(path_convention::windows, "/C:/repo", "file:///srv/x"));
    CHECK_FALSE(folder_below(path_convention::posix, "/repo", "file:///%zz"));
  }
}
