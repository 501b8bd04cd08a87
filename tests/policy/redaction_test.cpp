#include "policy/redaction.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace gatehouse;

namespace {

std::string in_json(std::string_view text) {
  return policy::redact_document(text);
}

const std::string token = "ghp_0123456789abcdefghijABCDEFGHIJ";

} // namespace

TEST_SUITE("policy.redaction") {
  TEST_CASE("§205 secrets are found by the name before them") {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"GH_TOKEN=abc make", "GH_TOKEN=[redacted] make"},
        {"export TOKEN='a b c'; ls", "export TOKEN='[redacted]'; ls"},
        {"export TOKEN=\"a b\" x", "export TOKEN=\"[redacted]\" x"},
        {"login --password hunter2 --name me", "login --password [redacted] --name me"},
        {"login --password=hunter2", "login --password=[redacted]"},
        {"login --password 'two words' x", "login --password '[redacted]' x"},
        {"login --password --name me", "login --password --name me"},
        {"cmake -DAPI_TOKEN=x .", "cmake -DAPI_TOKEN=[redacted] ."},
        {"curl -H 'X-Api-Key: abc' u", "curl -H 'X-Api-Key: [redacted]' u"},
        {"curl -H 'Authorization: Bearer abc.def' u",
         "curl -H 'Authorization: Bearer [redacted]' u"},
        {"curl -H 'authorization: abc' u", "curl -H 'authorization: [redacted]' u"},
        {"curl -u me:secret u", "curl -u me:[redacted] u"},
        {"docker run -u 1000:1000 x", "docker run -u 1000:1000 x"},
        {"curl 'https://h/p?token=abc&x=1'", "curl 'https://h/p?token=[redacted]&x=1'"},
        {"git clone https://me:pw@h/r.git", "git clone https://me:[redacted]@h/r.git"},
        {"git clone ssh://git@h:22/r.git", "git clone ssh://git@h:22/r.git"},
        {R"(echo '{"password": "abc", "n": 1}')", R"(echo '{"password": "[redacted]", "n": 1}')"},
        {R"(echo '{"password":"abc"}')", R"(echo '{"password":"[redacted]"}')"},
        {"password: hunter2", "password: [redacted]"},
    };
    for (const auto& [text, expected] : cases)
      CHECK(policy::redact(text) == expected);
  }

  TEST_CASE("§205 secrets are found by their shape") {
    CHECK(policy::redact("echo " + token) == "echo [redacted]");
    CHECK(policy::redact("x=" + token + "/y") == "x=[redacted]/y");
    CHECK(policy::redact("AKIAABCDEFGHIJKLMNOP") == "[redacted]");
    CHECK(policy::redact("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcdefg") ==
          "[redacted]");
    CHECK(policy::redact(
              "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nx") ==
          "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\nx");
    CHECK(policy::redact("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl") ==
          "-----BEGIN OPENSSH PRIVATE KEY-----[redacted]");
    CHECK(policy::redact("-----BEGIN CERTIFICATE-----\nMII") == "-----BEGIN CERTIFICATE-----\nMII");
  }

  TEST_CASE("§205 what is no secret stays as it is, so that decisions can be judged again") {
    for (const std::string text :
         {"git status", "rg TODO src | head -20", "make -j4 CFLAGS=-O2", "python3 -c 'print(1)'",
          "KEYBOARD=us x", "sk-learn", "for i in 1 2 3; do echo $i; done", "find . -name '*.md'",
          "echo https://example.org/a:b@c", "docker -u root", "a=b:c", "say basic; say next", ""})
      CHECK(policy::redact(text) == text);
  }

  TEST_CASE("§205 every string of a document, and words of a list together") {
    CHECK(in_json(R"({"argv":["login","--password","two words","-v"],"token":"x","n":1})") ==
          R"({"argv":["login","--password","[redacted]","-v"],"token":"[redacted]","n":1})");
    CHECK(in_json(R"(["curl","-H","Authorization: Bearer abc","u"])") ==
          R"(["curl","-H","Authorization: Bearer [redacted]","u"])");
    CHECK(in_json(R"({"a":[{"b":"T_TOKEN=x"}]})") == R"({"a":[{"b":"T_TOKEN=[redacted]"}]})");
    CHECK(in_json(R"(["bash","-lc","GH_TOKEN=abc gh pr list"])") ==
          R"(["bash","-lc","GH_TOKEN=[redacted] gh pr list"])");
    CHECK(in_json(R"(["login","--password","--name","me"])") ==
          R"(["login","--password","--name","me"])");
  }

  TEST_CASE("§205 the values of the environment's secrets are found wherever they stand") {
    const std::vector<std::string> environment = {"HOME=/root",
                                                  "MY_PASSWORD=pass phrase",
                                                  "GH_TOKEN=tok-12345",
                                                  "LONG_TOKEN=tok-12345-67",
                                                  "SHORT_KEY=abc",
                                                  "EMPTY_TOKEN=",
                                                  "KEYBOARD=us-international"};
    const auto known = policy::secret_values(environment);
    CHECK(known == std::vector<std::string>{"tok-12345-67", "pass phrase", "tok-12345"});
    CHECK(
        policy::redact_document(
            R"({"argv":["echo","xtok-12345y","the pass phrase tok-12345-67"],"n":"us-international"})",
            known) ==
        R"({"argv":["echo","x[redacted]y","the [redacted] [redacted]"],"n":"us-international"})");
  }

  TEST_CASE("§205 what cannot be read is not written") {
    CHECK(policy::redact_document("{\"a\": hunter2}") == R"({"unreadable":true})");
    CHECK(policy::redact_document("") == R"({"unreadable":true})");
  }
}
