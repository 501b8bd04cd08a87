#include "protocol/path_uri.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

TEST_SUITE("protocol.path_uri") {
  TEST_CASE("§8 a URI keeps the convention of the machine it names") {
    const auto posix = parse_path_uri("file:///srv/a%20b/%C3%A9");
    REQUIRE(posix);
    CHECK(posix->path == "/srv/a b/é");
    CHECK(posix->convention == path_convention::posix);
    CHECK(*native_path(*posix) == "/srv/a b/é");
    CHECK(to_string(*posix) == "file:///srv/a%20b/%C3%A9");
    const auto windows = parse_path_uri("file:///C:/repo/x");
    REQUIRE(windows);
    CHECK(windows->path == "C:/repo/x");
    CHECK(windows->convention == path_convention::windows);
    CHECK(to_string(*windows) == "file:///C:/repo/x");
  }

  TEST_CASE("§8 a foreign path is refused, never read as one of this machine") {
    const auto windows = native_path(*parse_path_uri("file:///C:/repo"));
    REQUIRE(!windows);
    CHECK(windows.error().message.find("Windows") != std::string::npos);
    CHECK(native_path(*parse_path_uri("file:///Cx/repo")));
  }

  TEST_CASE("§8 a path is read as its machine writes it, and keeps its convention") {
    for (const auto* text : {"C:\\repo\\x", "C:/repo/x", "file:///C:/repo/x"}) {
      CAPTURE(text);
      const auto read = read_path(text);
      REQUIRE(read);
      CHECK(names_its_convention(text));
      CHECK(read->convention == path_convention::windows);
      CHECK(to_string(*read) == "file:///C:/repo/x");
      CHECK(rooted_path(*read) == "/C:/repo/x");
      CHECK(from_rooted_path(read->convention, rooted_path(*read)) == *read);
    }
    CHECK(read_path("/srv/repo")->convention == path_convention::posix);
    CHECK(read_path("file:///srv/a%20b")->path == "/srv/a b");
    CHECK(from_rooted_path(path_convention::windows, "/tmp").convention == path_convention::posix);
    for (const auto* text : {"", "repo", "C:", "C:repo", "c", "\\\\host\\share", "1:/x"}) {
      CAPTURE(text);
      CHECK_FALSE(read_path(text));
      CHECK_FALSE(names_its_convention(text));
    }
  }

  TEST_CASE("§8 what is no URI of a path is refused") {
    for (const auto* text : {"", "/tmp", "tmp", "file:", "file://", "file://host/tmp",
                             "http:///tmp", "file:///tmp%", "file:///tmp%2", "file:///tmp%zz",
                             "file:///a%00b", "file:///tmp?x", "file:///tmp#x", "FILE:///tmp"})
      CHECK_MESSAGE(!parse_path_uri(text), text);
  }

  TEST_CASE("every path comes back as it was") {
    std::string path = "/";
    for (int c = 1; c < 256; ++c)
      path += static_cast<char>(c);
    CHECK(parse_path_uri(file_uri(path))->path == path);
  }
}
