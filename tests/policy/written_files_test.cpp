#include "policy/written_files.hpp"

#include <doctest/doctest.h>

using namespace gatehouse::policy;

namespace {

using files = std::vector<std::string>;

files written(const std::string& script, std::string_view home = "/home/u") {
  const std::vector<std::string> argv{"bash", "-lc", script};
  return written_files(analyze_command(argv), "/repo", home);
}

} // namespace

TEST_SUITE("policy.written_files") {
  TEST_CASE("BR-006 the files that redirections write are named as they really are") {
    CHECK(written("wc -l README.md > ~/outside.txt") == files{"/home/u/outside.txt"});
    CHECK(written("make > log 2>> ../errors") == files{"/repo/log", "/errors"});
    CHECK(written("> /etc/../srv/x") == files{"/srv/x"});
    CHECK(written("a > one && (b > two; c > one)") == files{"/repo/one", "/repo/two"});
    CHECK(written("ls 2>&1 < in").empty());
  }

  TEST_CASE("BR-006 a target that is not known before it runs stands as it was written") {
    CHECK(written("make > $HOME/x") == files{"$HOME/x"});
    CHECK(written("cd below && make > log") == files{"log"});
    CHECK(written("make > ~/x", "") == files{"~/x"});
    CHECK(written("make > ~root/x") == files{"~root/x"});
  }

  TEST_CASE("BR-006 a quoted tilde is a folder of that name") {
    CHECK(written("make > '~/x'") == files{"/repo/~/x"});
    CHECK(written("make > \\~/x") == files{"/repo/~/x"});
  }
}
