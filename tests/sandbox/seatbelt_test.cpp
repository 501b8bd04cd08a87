#include "sandbox/seatbelt/seatbelt.hpp"

#include "policy/glob.hpp"
#include "tests/sandbox/pretended_host.hpp"
#include "tests/sandbox/seatbelt_model.hpp"

#include <random>

using namespace gatehouse;
using namespace gatehouse::tests;

namespace {

const profile_entry root_read = special(special_kind::root, access::read);

result<seatbelt_policy> policy_of(const pretended_host& host, seatbelt_network network = {}) {
  return make_seatbelt_policy(host.profile, host.context, host.facts, network);
}

seatbelt_policy made(const pretended_host& host, seatbelt_network network = {}) {
  auto policy = policy_of(host, std::move(network));
  REQUIRE_MESSAGE(policy, (policy ? "" : policy.error().message));
  return *std::move(policy);
}

/// What stands behind the part that every policy has.
std::string own_part(const seatbelt_policy& policy) {
  const auto at = policy.text.find("\n; the way");
  return at == std::string::npos ? policy.text : policy.text.substr(at);
}

bool fits(const std::string& expression, const std::string& text) {
  regex_t compiled;
  REQUIRE(::regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NOSUB) == 0);
  const bool hit = ::regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  ::regfree(&compiled);
  return hit;
}

} // namespace

TEST_SUITE("sandbox.seatbelt") {
  TEST_CASE("§70 §71 a policy refuses by default and names every path by parameter or regex") {
    pretended_host host{{root_read, path("/w", access::write), path("/w/docs", access::read),
                         path("/w/secret", access::deny)}};
    host.context.protected_names = {".git"};
    const auto policy = made(host);
    CHECK(own_part(policy) == R"(
; the way to what can be read
(allow file-read-metadata (literal (param "PATH_0")))
(allow file-read-metadata (literal (param "PATH_1")))

; what the profile grants, from the root down
(allow file-read* (subpath (param "PATH_0")))
(deny file-write* (subpath (param "PATH_0")))
(allow file-read* file-write* (subpath (param "PATH_1")))
(allow file-read* (subpath (param "PATH_2")))
(deny file-write* (subpath (param "PATH_2")))
(deny file-read* file-write* (regex "^(/[wW]/[sS][eE][cC][rR][eE][tT])(/[^/]*)*$"))
(deny file-write* (regex "^(/[wW]/\\.[gG][iI][tT])(/[^/]*)*$"))

; folders that may not be moved or removed
(deny file-write-unlink (literal (param "PATH_1")))

; no network
)");
    CHECK(policy.parameters == std::vector<std::pair<std::string, std::string>>{
                                   {"PATH_0", "/"}, {"PATH_1", "/w"}, {"PATH_2", "/w/docs"}});
    CHECK(policy.text.starts_with("(version 1)\n(deny default)\n"));
  }

  TEST_CASE("§70 the argv is always that of the system's own program") {
    const seatbelt_policy policy{"(version 1)", {{"PATH_0", "/a=b c"}}, {}};
    CHECK(seatbelt_argv(policy, {"ls", "-l"}) ==
          std::vector<std::string>{"/usr/bin/sandbox-exec", "-p", "(version 1)", "-DPATH_0=/a=b c",
                                   "--", "ls", "-l"});
  }

  TEST_CASE("§71 §72 the model answers as the entries say") {
    pretended_host host{{root_read, path("/w", access::write), path("/w/docs", access::read),
                         path("/w/docs/out", access::write), path("/s", access::deny),
                         path("/s/open", access::read), glob("**/*.env")}};
    host.context.protected_names = {".git", ".github/hooks"};
    const seatbelt_model mac{made(host)};
    struct row {
      const char* path;
      bool read, write;
    };
    for (const auto& [p, read, write] :
         std::initializer_list<row>{{"/etc/passwd", true, false},
                                    {"/w/a", true, true},
                                    {"/w/docs/a", true, false},
                                    {"/w/docs/out/a", true, true},
                                    {"/s", false, false},
                                    {"/s/a", false, false},
                                    {"/s/open/a", true, false},
                                    {"/sa", true, false},
                                    {"/w/x.env", false, false},
                                    {"/w/a/x.env/y", false, false},
                                    {"/w/X.ENV", false, false},
                                    {"/w/.git", true, false},
                                    {"/w/.GIT/config", true, false},
                                    {"/w/.gitignore", true, true},
                                    {"/w/.github/a", true, true},
                                    {"/w/.github/hooks/h", true, false},
                                    {"/w/a/.git/config", true, true}}) {
      const auto& path = p; // clang 14 captures no structured binding
      CAPTURE(path);
      CHECK(mac.may_read(p) == read);
      CHECK(mac.may_write(p) == write);
    }
  }

  TEST_CASE("§73 what is denied or protected cannot be moved out of its place, nor removed") {
    pretended_host host{
        {root_read, path("/w", access::write), path("/w/a/b/secret", access::deny)}};
    host.context.protected_names = {".github/hooks"};
    const seatbelt_model mac{made(host)};
    for (const auto* kept :
         {"/w", "/w/a", "/w/a/b", "/w/a/b/secret", "/w/.github", "/w/.github/hooks"})
      CHECK_FALSE(mac.may("file-write-unlink", kept));
    for (const auto* free : {"/w/c", "/w/a/c", "/w/a/b/c"})
      CHECK(mac.may("file-write-unlink", free));
    CHECK(mac.may_write("/w/a/b/c"));
  }

  TEST_CASE("§74 the network is what the profile says, and nothing where there is no proxy") {
    const pretended_host host{{root_read}};
    const seatbelt_model off{made(host)};
    CHECK_FALSE(off.may_connect("localhost:3128"));
    CHECK_FALSE(off.may_listen("localhost:1"));
    const seatbelt_model proxied{made(host, {network_mode::proxy_only, {3128, 1080}})};
    CHECK(proxied.may_connect("localhost:3128"));
    CHECK(proxied.may_connect("localhost:1080"));
    CHECK_FALSE(proxied.may_connect("localhost:22"));
    CHECK_FALSE(proxied.may_connect("example.org:3128"));
    CHECK_FALSE(proxied.may_listen("localhost:3128"));
    const seatbelt_model full{made(host, {network_mode::full, {}})};
    CHECK(full.may_connect("example.org:443"));
    CHECK(full.may_listen("localhost:8080"));
    for (const auto* mac : {&off, &proxied, &full})
      CHECK_FALSE(mac->may_connect_to_socket("/var/run/docker.sock"));

    const auto closed = policy_of(host, {network_mode::proxy_only, {}});
    REQUIRE_FALSE(closed);
    CHECK(closed.error().message ==
          "refusing to run unsandboxed: the network is managed, and there is no proxy");
  }

  TEST_CASE("§70 a path of quotes, brackets and line feeds adds no rule") {
    const std::string nasty = "/w/\")(allow default)\n(allow file-write* (subpath \"/\"))\\";
    pretended_host host{{root_read, path(nasty, access::write), path(nasty + "/s", access::deny)}};
    host.facts.paths[nasty] = pretended_host::folder(nasty);
    const auto policy = made(host);
    const seatbelt_model mac{policy};
    CHECK(mac.may_write(nasty + "/a"));
    CHECK_FALSE(mac.may_read(nasty + "/s/a"));
    CHECK_FALSE(mac.may_write("/etc/passwd"));
    // Of the whole policy only the argv and one escaped regex know the path.
    CHECK(seatbelt_argv(policy, {"ls"})[4] == "-DPATH_1=/w");
    CHECK(policy.text.find(nasty) == std::string::npos);
  }

  TEST_CASE("§64 a deny that cannot be placed for sure is refused") {
    struct row {
      const char* name;
      profile_entry entry;
    };
    const row table[] = {{"a glob that does not compile", glob("/w/{a")},
                         {"a path with two spellings", path("/w/caf\xc3\xa9", access::deny)},
                         {"a glob with two spellings", glob("**/\xc3\xa9*")},
                         {"a device", path("/dev/disk0", access::write)}};
    for (const auto& r : table) {
      CAPTURE(r.name);
      CHECK_FALSE(policy_of(pretended_host{{root_read, r.entry}}));
    }
    CHECK(policy_of(pretended_host{{root_read, path("/w/caf\xc3\xa9", access::write)}}));
  }

  TEST_CASE("§72 the regex of a deny glob matches what the glob matches, in any case") {
    const std::vector<std::string> patterns{"/w/*.env",   "/w/**/*.env", "/w/a?c",  "/w/[a-c]x",
                                            "/w/[!a-c]x", "/w/**",       "/w/*/k",  "/w/{a,b/c}",
                                            "/**/.git",   "/w/a.b+c$",   "/w/\\*",  "/w/a[",
                                            "/w/[]]",     "/w/(x|y)",    "/w/*a*b*"};
    std::mt19937 random{20241129};
    const std::vector<std::string> parts{"w",
                                         "a",
                                         "b",
                                         "c",
                                         "k",
                                         "x",
                                         ".env",
                                         "a.env",
                                         "abc",
                                         "a.b+c$",
                                         "*",
                                         "a[",
                                         "]",
                                         "(x|y)",
                                         ".git",
                                         "axb",
                                         "ax",
                                         "dx",
                                         "\xc3\xa9x",
                                         "a\xc3\xa9"
                                         "c",
                                         "",
                                         "a\nb"};
    std::size_t hits = 0;
    for (const auto& pattern : patterns) {
      const auto compiled = policy::path_glob::compile(pattern);
      REQUIRE(compiled);
      const auto expression = compiled->as_regex();
      for (int i = 0; i < 400; ++i) {
        std::string text;
        const auto depth = 1 + random() % 4;
        for (std::size_t d = 0; d < depth; ++d)
          if (const auto& part = d == 0 ? parts[0] : parts[random() % parts.size()]; !part.empty())
            text += "/" + part;
        CAPTURE(pattern);
        CAPTURE(expression);
        CAPTURE(text);
        // Whatever stands outside of a class does so in one case only.
        if (pattern.find("[!") == std::string::npos)
          CHECK(fits(expression, text) == compiled->matches_at_or_above(text));
        else if (compiled->matches_at_or_above(text))
          CHECK(fits(expression, text));
        hits += compiled->matches_at_or_above(text) ? 1 : 0;
        std::string other = text;
        for (char& c : other)
          c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
        if (compiled->matches_at_or_above(text)) CHECK(fits(expression, other));
      }
    }
    CHECK(hits > 500);
  }
}
