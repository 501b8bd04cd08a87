#include "actors/sha256.hpp"
#include "protocol/hex.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::actors;

TEST_SUITE("actors.sha256") {
  TEST_CASE("the hash is that of sha256sum") { // FIPS 180-4's own examples
    CHECK(to_hex(sha256_of("")) ==
          "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(to_hex(sha256_of("abc")) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  }
}
