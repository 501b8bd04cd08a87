#include "sandbox/bwrap_failure.hpp"
#include "sandbox/command_environment.hpp"
#include "sandbox/find_bwrap.hpp"
#include "sandbox/outer_options.hpp"

#include "tests/support/temp_folder.hpp"

#include "policy/path_text.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include <filesystem>

#include <sys/stat.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::sandbox;

namespace {

result<outer_options> parse(std::vector<const char*> words) {
  return parse_outer_options(words, "/from-environment");
}

} // namespace

TEST_SUITE("sandbox.helper_options") {
  TEST_CASE("§76 what is left out has its meaning") {
    const auto read =
        parse({"--sandbox-policy-cwd", "/w", "--permission-profile", "{}", "--", "ls", "--", "-l"});
    REQUIRE(read);
    CHECK(read->command_cwd == "/w");
    CHECK(read->workspace_roots == std::vector<std::string>{"/w"});
    CHECK(read->tmpdir == "/from-environment");
    CHECK(read->report_fd == -1);
    CHECK(read->command == std::vector<std::string>{"ls", "--", "-l"});
  }

  TEST_CASE("§76 whatever is not understood is refused and named") {
    const std::vector<std::pair<std::vector<const char*>, const char*>> wrong = {
        {{"--permission-profile", "{}", "--", "ls"}, "--sandbox-policy-cwd is missing"},
        {{"--sandbox-policy-cwd", "/w", "--", "ls"}, "--permission-profile"},
        {{"--sandbox-policy-cwd", "/w", "--permission-profile", "{}"}, "command is missing"},
        {{"--sandbox-policy-cwd", "/w", "--permission-profile", "{}", "--"}, "command is missing"},
        {{"--sandbox-policy-cwd", "w", "--permission-profile", "{}", "--", "ls"}, "absolute"},
        {{"--workspace-root", "", "--", "ls"}, "absolute"},
        {{"--sandbox-policy-cwd", "/w", "--sandbox-policy-cwd", "/x", "--", "ls"}, "twice"},
        {{"--permission-profile", "{}", "--permission-profile", "{}", "--", "ls"}, "twice"},
        {{"--report-fd", "2", "--", "ls"}, "above 2"},
        {{"--report-fd", "9x", "--", "ls"}, "9x"},
        {{"--report-fd"}, "needs a value"},
        {{"--protected-name", "a/../b", "--", "ls"}, "a name"},
        {{"--protected-name", "/b", "--", "ls"}, "a name"},
        {{"ls"}, "'ls'"},
    };
    for (const auto& [words, message] : wrong) {
      const auto read = parse(words);
      REQUIRE_FALSE(read);
      CHECK(read.error().code == errc::invalid_request);
      CHECK_MESSAGE(read.error().message.find(message) != std::string::npos, read.error().message);
    }
  }

  TEST_CASE("§76 a profile may come through a descriptor") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], "{\"a\":1}", 7) == 7);
    close(ends[1]);
    const auto number = std::to_string(ends[0]);
    const auto read = parse(
        {"--sandbox-policy-cwd", "/w", "--permission-profile-fd", number.c_str(), "--", "ls"});
    close(ends[0]);
    REQUIRE(read);
    CHECK(read->profile_json == "{\"a\":1}");
  }

  TEST_CASE("BR-058 variables that lead to agents outside are dropped, ours are ours to set") {
    const std::vector<const char*> given = {"A=1", "SSH_AUTH_SOCK=/x", "DOCKER_HOST=x",
                                            "GATEHOUSE_SANDBOX=none", "SSH_AUTH_SOCKET=kept"};
    CHECK(confined_environment(given, network_mode::full, sandbox_backend::linux_bubblewrap) ==
          std::vector<std::string>{"A=1", "SSH_AUTH_SOCKET=kept", "GATEHOUSE_SANDBOX=linux"});
    CHECK(confined_environment(given, network_mode::isolated, sandbox_backend::landlock).back() ==
          "GATEHOUSE_SANDBOX_NETWORK_DISABLED=1");
  }

  TEST_CASE("§143 BR-084 BR-085 behind the proxy every client finds it, and no other one") {
    const std::vector<const char*> given = {"A=1",
                                            "http_proxy=http://corp:8080",
                                            "NO_PROXY=*",
                                            "JAVA_TOOL_OPTIONS=-Xmx1g",
                                            "npm_config_noproxy=*",
                                            "NODE_USE_ENV_PROXY=0"};
    for (const bool binding : {false, true}) {
      const auto made = confined_environment(given, network_mode::proxy_only,
                                             sandbox_backend::linux_bubblewrap, binding);
      std::map<std::string, std::string> variables;
      for (const auto& entry : made) {
        const auto equals = entry.find('=');
        CHECK(variables.emplace(entry.substr(0, equals), entry.substr(equals + 1)).second);
      }
      CHECK(variables.at("A") == "1");
      for (const char* name : {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY",
                               "all_proxy", "ALL_PROXY", "npm_config_https_proxy", "PIP_PROXY"})
        CHECK(variables.at(name) == "http://127.0.0.1:3128");
      CHECK(variables.at("NODE_USE_ENV_PROXY") == "1");
      CHECK(variables.at("GATEHOUSE_NETWORK_PROXY_ACTIVE") == "1");
      CHECK(variables.at("JAVA_TOOL_OPTIONS")
                .starts_with("-Xmx1g -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 "));
      // BR-081: with servers of its own a command asks them directly, else everything is explained.
      for (const char* name : {"no_proxy", "NO_PROXY", "npm_config_noproxy"})
        CHECK(variables.at(name) == (binding ? "localhost,127.0.0.1,::1" : ""));
      CHECK_FALSE(variables.contains("GATEHOUSE_SANDBOX_NETWORK_DISABLED"));
    }
    // No proxy listens: nothing is promised.
    CHECK(confined_environment(given, network_mode::proxy_only, sandbox_backend::linux_bubblewrap)
              .back() == "GATEHOUSE_SANDBOX_NETWORK_DISABLED=1");
  }

  TEST_CASE("§75 BR-098 what bubblewrap says becomes a cause and a fix") {
    const auto denied = explain_bwrap_failure(
        "bwrap: No permissions to create a new namespace, likely because …\n");
    CHECK(denied.code == errc::boundary_unavailable);
    CHECK(denied.message.find("bwrap: No permissions") != std::string::npos);
    CHECK(denied.remedy.find("max_user_namespaces") != std::string::npos);
    CHECK(
        explain_bwrap_failure("bwrap: Can't mount proc on /newroot/proc: …").remedy.find("/proc") !=
        std::string::npos);
    // A full process table is no missing right.
    CHECK(explain_bwrap_failure(
              "bwrap: Creating new namespace failed: Resource temporarily unavailable")
              .remedy.find("ulimit -u") != std::string::npos);
    CHECK(explain_bwrap_failure("").message.find("without saying why") != std::string::npos);
    CHECK(explain_bwrap_failure("bwrap: Can't bind mount").code == errc::boundary_failed);
  }

  TEST_CASE("§75 a bubblewrap that a command could have put there is passed over") {
    const tests::temp_folder base;
    base.write("bin/bwrap", "#!/bin/sh\n");
    const std::string program = base / "bin/bwrap";
    REQUIRE(chmod(program.c_str(), 0755) == 0);
    const std::string path = (base / "bin") + ":bin:";
    const auto found = find_bwrap(path, {});
    if (found) CHECK(found->path != program);
    // Even the system's own does not count below a writable root.
    const std::vector<std::string> writable = {"/usr", "/bin", base.path()};
    const auto none = find_bwrap(path, writable);
    REQUIRE_FALSE(none);
    CHECK(none.error().remedy.find("apt-get install bubblewrap") != std::string::npos);
  }

  TEST_CASE("a path is below a root only at a slash") {
    CHECK(policy::is_at_or_below("/a/b", "/a"));
    CHECK(policy::is_at_or_below("/a", "/a"));
    CHECK(policy::is_at_or_below("/a", "/"));
    CHECK_FALSE(policy::is_at_or_below("/ab", "/a"));
    CHECK_FALSE(policy::is_at_or_below("/", "/a"));
  }
}
