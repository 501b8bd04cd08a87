#include "protocol/tool_request.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace gatehouse;

TEST_SUITE("protocol.tool_request") {
  TEST_CASE("§4 the arguments of shell_command, all of them") {
    const auto read = decode_tool_arguments("shell_command", R"({
      "command": "make test", "workdir": "sub", "timeout_ms": 2500, "login": true,
      "sandbox_permissions": "with_additional_permissions",
      "additional_permissions": {"network": {"enabled": true}},
      "justification": "why", "prefix_rule": ["make"]})");
    REQUIRE(read);
    const auto& request = std::get<shell_request>(*read);
    CHECK(std::get<std::string>(request.command) == "make test");
    CHECK(request.workdir == "sub");
    CHECK(request.timeout == std::chrono::milliseconds{2500});
    CHECK(request.login);
    CHECK(request.sandbox_permissions == sandbox_permissions::with_additional_permissions);
    CHECK(request.additional_permissions->network_enabled == true);
    CHECK(request.justification == "why");
    CHECK(request.prefix_rule == std::vector<std::string>{"make"});
  }

  TEST_CASE("an argv is taken as it is, and null is as good as left out") {
    const auto read =
        decode_tool_arguments("shell_command", R"({"argv": ["a", "b c"], "timeout_ms": null})");
    REQUIRE(read);
    CHECK(std::get<1>(std::get<shell_request>(*read).command) ==
          std::vector<std::string>{"a", "b c"});
    CHECK(tool_name(*read) == "shell_command");
  }

  TEST_CASE("§16a the arguments of request_permissions") {
    const auto read = decode_tool_arguments(
        "request_permissions",
        R"({"reason": "build", "permissions": {"file_system": {"write": ["/srv/x"]}}})");
    REQUIRE(read);
    const auto& wish = std::get<permissions_request>(*read);
    CHECK(wish.reason == "build");
    CHECK(wish.permissions.entries.size() == 1);
    CHECK(tool_name(*read) == "request_permissions");
  }

  TEST_CASE("§118 §122 the arguments of exec_command, all of them") {
    const auto read = decode_tool_arguments("exec_command", R"({
      "cmd": "make test", "workdir": "sub", "tty": true, "yield_time_ms": 0,
      "max_output_tokens": 7, "justification": "why"})");
    REQUIRE(read);
    CHECK(tool_name(*read) == "exec_command");
    const auto& request = std::get<terminal_request>(*read);
    CHECK(std::get<std::string>(request.command.command) == "make test");
    CHECK(request.command.workdir == "sub");
    CHECK(request.command.justification == "why");
    CHECK(!request.command.timeout);
    CHECK(request.tty);
    CHECK(request.yield == std::chrono::milliseconds{0});
    CHECK(request.max_output_tokens == 7);
  }

  TEST_CASE("§123 the arguments of write_stdin: without chars it polls") {
    const auto write = decode_tool_arguments(
        "write_stdin", R"({"session_id": 12, "chars": "\u0003", "yield_time_ms": 250})");
    REQUIRE(write);
    CHECK(tool_name(*write) == "write_stdin");
    const auto expected = stdin_arguments{12, "\x03", std::chrono::milliseconds{250}, {}};
    CHECK((std::get<stdin_arguments>(*write) == expected));
    const auto poll = decode_tool_arguments("write_stdin", R"({"session_id": 12, "chars": null})");
    REQUIRE(poll);
    CHECK((std::get<stdin_arguments>(*poll) == stdin_arguments{12, {}, {}, {}}));
  }

  TEST_CASE("what is not understood is an error that names its place") {
    struct row {
      std::string tool, json, part;
    };
    for (const auto& r :
         {row{"shell", "{}", "no tool `shell`"},
          row{"shell_command", "{}", "either `command`"},
          row{"shell_command", R"({"command":"a","argv":["b"]})", "either"},
          row{"shell_command", R"({"command":""})", "/command"},
          row{"shell_command", R"({"argv":[]})", "/argv"},
          row{"shell_command", R"({"argv":["a"],"login":true})", "/login"},
          row{"shell_command", R"({"command":"a","timeout_ms":0})", "/timeout_ms"},
          row{"shell_command", R"({"command":"a","timeout_ms":1.5})", "/timeout_ms"},
          row{"shell_command", R"({"command":"a","timout_ms":5})", "unknown field"},
          row{"shell_command", R"({"command":"a","sandbox_permissions":"all"})",
              "/sandbox_permissions"},
          row{"shell_command",
              R"({"command":"a","additional_permissions":{"network":{"on":true}}})",
              "/additional_permissions"},
          row{"shell_command", R"({"command":"a"} x)", "after the JSON value"},
          row{"exec_command", "{}", "either `cmd`"},
          row{"exec_command", R"({"command":"a"})", "unknown field"},
          row{"exec_command", R"({"cmd":"a","timeout_ms":5})", "unknown field"},
          row{"exec_command", R"({"cmd":"a","tty":1})", "/tty"},
          row{"exec_command", R"({"cmd":"a","yield_time_ms":-1})", "/yield_time_ms"},
          row{"write_stdin", "{}", "session_id"},
          row{"write_stdin", R"({"session_id":-1})", "/session_id"},
          row{"write_stdin", R"({"session_id":4294967297})", "/session_id"},
          row{"write_stdin", R"({"session_id":1,"chars":["a"]})", "/chars"},
          row{"request_permissions", "{}", "permissions"}}) {
      CAPTURE(r.json);
      const auto read = decode_tool_arguments(r.tool, r.json);
      REQUIRE_FALSE(read);
      CAPTURE(read.error().message);
      CHECK(read.error().message.find(r.part) != std::string::npos);
    }
  }

  TEST_CASE(
      "§95 a client's time limit is kept apart from the call's own, so that it only shortens") {
    using namespace std::chrono_literals;
    auto command = decode_tool_arguments("shell_command", R"({"command":"ls","timeout_ms":5000})");
    REQUIRE(command);
    REQUIRE(limit_time(*command, 60s));
    CHECK(std::get<shell_request>(*command).timeout == 5s);
    CHECK(std::get<shell_request>(*command).time_cap == 60s);
    auto terminal = decode_tool_arguments("exec_command", R"({"cmd":"ls"})");
    REQUIRE(limit_time(*terminal, 1ms));
    CHECK(std::get<terminal_request>(*terminal).yield_cap == 1ms);
    CHECK_FALSE(std::get<terminal_request>(*terminal).command.time_cap);
    auto input = decode_tool_arguments("write_stdin", R"({"session_id":1})");
    REQUIRE(limit_time(*input, 2s));
    CHECK(std::get<stdin_arguments>(*input).yield_cap == 2s);
    for (const auto wrong : {0ms, -1ms, 86'400'001ms})
      CHECK_FALSE(limit_time(*command, wrong));
    auto wish = decode_tool_arguments("request_permissions",
                                      R"({"permissions":{"network":{"enabled":true}}})");
    REQUIRE(wish);
    CHECK_FALSE(limit_time(*wish, 1s));
  }

  TEST_CASE(
      "BR-197 one call of a few MB took the daemon forty times as much, and could not be shown") {
    const auto padded = [](std::size_t bytes) {
      return R"({"command":")" + std::string(bytes, 'x') + R"("})";
    };
    CHECK(decode_tool_arguments("shell_command", padded(1U << 20U)));
    const auto read = decode_tool_arguments("shell_command", padded(2U << 20U));
    REQUIRE_FALSE(read);
    CHECK(read.error().message.find("2097152") != std::string::npos);
  }
}
