#include "protocol/exec_client.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;

namespace {

json_tree params_of(std::string_view text) {
  return *parse_json(text, {"a test", errc::invalid_request, {}, 1 << 20});
}

} // namespace

TEST_SUITE("protocol.exec_client") {
  TEST_CASE("§120 what the client asks, the server of the same protocol reads") {
    exec_server::process_start start;
    start.process_id = "p-1";
    start.argv = {"/bin/sh", "-c", "echo \"ä\""};
    start.cwd = "/srv/a b";
    start.env = {{"PATH", "/bin"}, {"X", ""}};
    start.tty = true;
    auto profile = workspace_write_profile();
    profile.file_system.entries.push_back({literal_path{"/srv/x y"}, access::write, false});
    start.sandbox = exec_server::sandbox_terms{profile, "/srv/a b", {"/srv/a b"}, false};
    const auto read =
        exec_server::decode_process_start(params_of(exec_client::start_params(start)));
    REQUIRE(read.has_value());
    CHECK(read->process_id == "p-1");
    CHECK(read->argv == start.argv);
    CHECK(read->cwd == start.cwd);
    CHECK(read->env == start.env);
    CHECK(read->tty);
    REQUIRE(read->sandbox);
    CHECK(read->sandbox->profile == profile);
    CHECK(read->sandbox->workspace_roots == start.sandbox->workspace_roots);

    start.sandbox.reset();
    const auto bare =
        exec_server::decode_process_start(params_of(exec_client::start_params(start)));
    REQUIRE(bare.has_value());
    CHECK(!bare->sandbox);

    const auto write = exec_server::decode_process_write(
        params_of(exec_client::write_params("p", std::string{"\0\xff", 2}, "w")));
    REQUIRE(write.has_value());
    CHECK(write->bytes == std::string{"\0\xff", 2});
    const auto from = exec_server::decode_process_read(params_of(exec_client::read_params("p", 7)));
    REQUIRE(from.has_value());
    CHECK(from->after_seq == 7);
    const auto hello =
        exec_server::decode_initialize(params_of(exec_client::initialize_params("c", "s")));
    REQUIRE(hello.has_value());
    CHECK(hello->resume_session_id == "s");
  }

  TEST_CASE("§120 what the server says, the client reads") {
    using exec_client::process_event;
    const auto event = [](const std::string& text) {
      return std::get<process_event>(*exec_client::decode_message(text));
    };
    const auto out = event(exec_server::encode_output("p", 4, "stderr", "a\xff"));
    CHECK(out.seq == 4);
    CHECK(std::get<process_event::output>(out.what).bytes == "a\xff");
    const auto exit = event(exec_server::encode_exited("p", 5, 137, true));
    CHECK(std::get<process_event::exited>(exit.what).exit_code == 137);
    CHECK(std::get<process_event::exited>(exit.what).sandbox_denied);
    for (const int code : {256, -1073741819}) { // another system's
      const auto odd = event(exec_server::encode_exited("p", 5, code, false));
      CHECK(std::get<process_event::exited>(odd.what).exit_code == code);
    }
    CHECK(std::holds_alternative<process_event::closed>(
        event(exec_server::encode_closed("p", 6)).what));

    const auto said = exec_client::decode_message(exec_server::encode_failure(
        "9", {exec_server::code::internal, "no such program", "spawnNotFound", "/x"}));
    const auto& failed = std::get<exec_client::answer>(*said);
    CHECK(failed.id == 9);
    REQUIRE(failed.failed);
    CHECK(failed.failed->kind == "spawnNotFound");

    exec_server::read_answer kept;
    kept.chunks = {{3, "stdout", "x"}, {4, "stdout", "y"}};
    kept.next_seq = 6;
    kept.exited = true;
    kept.exit_code = 1;
    kept.dropped_bytes = 5;
    const auto read =
        exec_client::decode_read("p", params_of(exec_server::encode_read_answer(kept)));
    REQUIRE(read.has_value());
    CHECK(read->chunks.size() == 2);
    CHECK(read->exit_code == 1);
    CHECK(read->lost_bytes == 5);
  }

  TEST_CASE("§120 a broken message is an error, a strange one is nothing") {
    for (const auto* text : {"", "[]", "{}", R"({"id":"x"})", R"({"method":"process/output"})",
                             R"({"method":"process/output","params":{"processId":"p","seq":-1}})",
                             R"({"id":-1,"error":{"code":-32600,"message":"?"}})"})
      CHECK(!exec_client::decode_message(text));
    const auto strange =
        exec_client::decode_message(R"({"method":"fs/missingChanged","params":{}})");
    REQUIRE(strange.has_value());
    CHECK(std::holds_alternative<exec_client::other>(*strange));
  }
}
