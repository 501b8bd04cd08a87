#include "protocol/attempt.hpp"
#include "protocol/exec_policy.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/tool_call.hpp"

#include <doctest/doctest.h>
#include <type_traits>

using namespace gatehouse;

TEST_SUITE("protocol.authority") {
  TEST_CASE(
      "§2a intent, command, file, network and approval authority never convert into one another") {
    CHECK_FALSE(std::is_convertible_v<proposal, attempt>);
    CHECK_FALSE(std::is_convertible_v<proposal, approved>);
    CHECK_FALSE(std::is_convertible_v<exec_requirement, approved>);
    CHECK_FALSE(std::is_convertible_v<network_policy, gatehouse::access>);
    CHECK_FALSE(std::is_convertible_v<gatehouse::access, network_policy>);
    CHECK_FALSE(std::is_convertible_v<decision, gatehouse::access>);
    CHECK_FALSE(std::is_convertible_v<file_system_policy, permission_profile>);
  }

  TEST_CASE("§2a §93 only the two-attempt machine can make an approval or an attempt") {
    CHECK_FALSE(std::is_default_constructible_v<authority_key>);
    CHECK_FALSE(std::is_default_constructible_v<attempt>);
    CHECK_FALSE(std::is_default_constructible_v<approved>);
    CHECK_FALSE(std::is_constructible_v<attempt, attempt_terms>);
    CHECK_FALSE(std::is_constructible_v<approved, std::string, std::string>);
  }
}
