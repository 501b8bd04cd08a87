#include "config/credentials.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

using namespace gatehouse;
using config::read_or_make_token;

namespace {

unsigned mode_of(const std::string& path) {
  struct stat about {};
  REQUIRE(::lstat(path.c_str(), &about) == 0);
  return about.st_mode & 07777U;
}

} // namespace

TEST_SUITE("config.credentials") {
  TEST_CASE("§D13 a token is made once, for this user alone") {
    const tests::temp_folder folder;
    const auto path = folder.path() + "/state/tokens/agent.token";
    const auto token = read_or_make_token(path);
    REQUIRE(token);
    CHECK(token->size() == 43);
    CHECK(mode_of(path) == 0600);
    CHECK(mode_of(folder.path() + "/state/tokens") == 0700);
    CHECK(*read_or_make_token(path) == *token);
    CHECK(*read_or_make_token(folder.path() + "/state/tokens/reviewer.token") != *token);
  }

  TEST_CASE("BR-047 a folder in which others can change something holds no token of ours") {
    const tests::temp_folder folder;
    const auto tokens = folder.path() + "/tokens";
    REQUIRE(::mkdir(tokens.c_str(), 0700) == 0);
    for (const mode_t mode : {0777, 0770, 0702}) {
      REQUIRE(::chmod(tokens.c_str(), mode) == 0);
      const auto made = read_or_make_token(tokens + "/t");
      REQUIRE_FALSE(made);
      CHECK(made.error().message.find(tokens + " ") != std::string::npos);
      CHECK(::access((tokens + "/t").c_str(), F_OK) != 0);
    }
    REQUIRE(::chmod(tokens.c_str(), 01777) == 0);
    CHECK(read_or_make_token(tokens + "/t"));
  }

  TEST_CASE("a token that others can read, a link, a folder or nonsense is refused") {
    const tests::temp_folder folder;
    const auto path = folder.path() + "/t";
    REQUIRE(read_or_make_token(path));
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
    CHECK_FALSE(read_or_make_token(path));
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    REQUIRE(::symlink("t", (folder.path() + "/link").c_str()) == 0);
    CHECK_FALSE(read_or_make_token(folder.path() + "/link"));
    REQUIRE(::mkdir((folder.path() + "/folder").c_str(), 0700) == 0);
    CHECK_FALSE(read_or_make_token(folder.path() + "/folder"));
    for (const char* text : {"", "short\n", "with a space in it and long enough to be one\n"}) {
      std::ofstream{path} << text;
      const auto read = read_or_make_token(path);
      REQUIRE_FALSE(read);
      CHECK(read.error().message.find(path) != std::string::npos);
    }
  }

  TEST_CASE("§7 the token of another server is read as it is, from a file that is ours alone") {
    const tests::temp_folder folder;
    const auto path = folder.path() + "/t";
    std::ofstream{path} << "s3cr=t/+\n";
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    CHECK(*config::read_given_token(path) == "s3cr=t/+");
    REQUIRE(::symlink("t", (folder.path() + "/link").c_str()) == 0);
    CHECK_FALSE(config::read_given_token(folder.path() + "/link"));
    CHECK_FALSE(config::read_given_token(folder.path()));
    CHECK_FALSE(config::read_given_token(folder.path() + "/none"));
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    const auto open = config::read_given_token(path);
    REQUIRE_FALSE(open);
    CHECK(open.error().message.find("can be read by others") != std::string::npos);
    REQUIRE(::chmod(path.c_str(), 0600) == 0);
    for (const std::string text : {"", "\n", "a b\n", "a\r\nX: y\n", "a\nb\n"}) {
      std::ofstream{path} << text;
      CHECK_FALSE(config::read_given_token(path));
    }
  }
}
