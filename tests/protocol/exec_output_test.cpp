#include "protocol/exec_output.hpp"

#include "protocol/exec_client.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using namespace gatehouse::exec_server;
using namespace std::string_literals;

namespace {

json_tree tree_of(std::string_view text) {
  return *parse_json(text, {"a test", errc::invalid_request, {}, 1 << 20});
}

std::string why_not(const std::string& message) {
  const auto read = decode_binary_output(message);
  return read ? "read" : read.error().message;
}

std::string with(std::string message, std::size_t at, char byte) {
  message[at] = byte;
  return message;
}

} // namespace

TEST_SUITE("protocol.exec_output") {
  TEST_CASE("§120 output as a binary message has its head and its bytes as they are") {
    const auto head = encode_output_head("p-1", 0x0102030405060708, "stderr");
    CHECK(head == "\x01\x01\x00\x00\x00\x00\x00\x03\x01\x02\x03\x04\x05\x06\x07\x08p-1"s);
    const auto message = head + "\x00\xff\n"s;
    const auto read = decode_binary_output(message);
    REQUIRE(read);
    CHECK(read->process_id == "p-1");
    CHECK(read->seq == 0x0102030405060708);
    CHECK(read->stream == "stderr");
    CHECK(read->bytes == "\x00\xff\n"s);
  }

  TEST_CASE("§120 every stream, the largest number and ids of any length come back") {
    for (const auto* stream : {"stdout", "stderr", "pty"})
      for (const auto& id : {""s, "p"s, "ä\0b"s, std::string(70'000, 'i')}) {
        const auto message = encode_output_head(id, UINT64_MAX, stream) + "x";
        const auto read = decode_binary_output(message);
        REQUIRE(read);
        CHECK(read->process_id == id);
        CHECK(read->seq == UINT64_MAX);
        CHECK(read->stream == stream);
        CHECK(read->bytes == "x");
      }
  }

  TEST_CASE("§120 a binary message that is cut, or says what is not known, is not read in part") {
    const auto whole = encode_output_head("p-1", 7, "stdout") + "x";
    for (std::size_t size = 0; size < whole.size(); ++size)
      CHECK(why_not(whole.substr(0, size)) != "read");
    CHECK(why_not("") == "a binary message is empty");
    CHECK(why_not(with(whole, 0, 2)) == "a binary message has version 2, and only 1 is known");
    CHECK(why_not("{\"id\":1}") == "a binary message has version 123, and only 1 is known");
    CHECK(why_not(with(whole, 1, 3)) == "a binary message names stream 3");
    CHECK(why_not(with(whole, 2, 1)) == "a binary message has flags that are not known: 256");
    CHECK(why_not(with(whole, 3, 1)) == "a binary message has flags that are not known: 1");
    CHECK(why_not(with(whole, 4, '\xff')) == "a binary message ends before its process id does");
    CHECK(why_not(with(whole, 7, 5)) == "a binary message ends before its process id does");
    CHECK(why_not(with(whole, 15, 0)) == "a binary message has number 0, and numbers begin with 1");
    CHECK(why_not(whole.substr(0, whole.size() - 1)) == "a binary message holds no output");
  }

  TEST_CASE("§120 a client that does not ask for binary output is answered as before") {
    const environment_info info{"sh", "/bin/sh", "1", "/", "/", "/tmp"};
    const auto plain = tree_of(encode_initialized("s", info));
    CHECK(encode_initialized("s", info).find("binaryOutput") == std::string::npos);
    CHECK_FALSE(exec_client::decode_greeting(plain)->binary_output);
    const auto binary = exec_client::decode_greeting(tree_of(encode_initialized("s", info, true)));
    REQUIRE(binary);
    CHECK(binary->binary_output);
    CHECK(binary->session_id == "s");
  }

  TEST_CASE("§120 a version of binary output that is not known is refused by both sides") {
    const auto asked = [](const std::string& version) {
      return decode_initialize(tree_of(R"({"clientName":"c","binaryOutput":)" + version +
                                       R"(,"resumeSessionId":null})"));
    };
    CHECK(asked("1")->binary_output);
    CHECK_FALSE(asked("null")->binary_output);
    CHECK(asked("2").error().message.find("has version 2, and only 1 is known") !=
          std::string::npos);
    for (const auto* wrong : {"0", "-1", "true", "\"1\"", "1.5", "[]"})
      CHECK_MESSAGE(!asked(wrong), wrong);
    CHECK(decode_initialize(tree_of(exec_client::initialize_params("c", "")))->binary_output);
    for (const auto* wrong : {"2", "0", "true", "\"1\""})
      CHECK_MESSAGE(!exec_client::decode_greeting(
                        tree_of(R"({"sessionId":"s","binaryOutput":)" + std::string{wrong} + "}")),
                    wrong);
  }
}
