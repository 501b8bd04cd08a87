#include "actors/endpoint/call_book.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

/// A thread of which only the calls that it is sent are seen.
struct silent_thread {
  std::vector<thread_messages::begin_call> begun;
  thread_entry entry{thread_handle{"thread-1",
                                   [this](thread_message message) {
                                     begun.push_back(
                                         std::get<thread_messages::begin_call>(message));
                                   }},
                     "session-1",
                     {},
                     nullptr};

  void end(std::size_t call, std::size_t output_bytes = 0) {
    call_report report;
    report.call_id = begun.at(call).request.call_id;
    report.ending = call_ending::completed;
    report.output.aggregated = std::string(output_bytes, 'x');
    begun.at(call).done(std::make_shared<const call_report>(std::move(report)));
  }
};

rpc::app::tool_call_params call_of(const std::string& id, const std::string& command = "ls") {
  auto read = rpc::read_message(
      R"({"id":1,"method":"m","params":{"threadId":"thread-1","callId":")" + id +
      R"(","tool":"shell_command","arguments":{"command":")" + command + R"("}}})");
  const auto& message = std::get<rpc::message>(read);
  return *rpc::codec<rpc::app::tool_call_params>::decode(message.params());
}

struct answers {
  std::vector<rpc_outcome> all;
  rpc_reply hear() {
    return [this](const rpc_outcome& what) { all.push_back(what); };
  }
  [[nodiscard]] std::string kind(std::size_t i) const {
    const auto* why = std::get_if<rpc::failure>(&all.at(i));
    return why ? why->kind : "result";
  }
};

} // namespace

TEST_SUITE("actors.call_book") {
  TEST_CASE("§201 a call id that comes again is the same call, running and ended") {
    const endpoint_limits limits;
    const auto book = std::make_shared<call_book>(limits);
    silent_thread thread;
    answers heard;
    book->begin(thread.entry, call_of("a"), heard.hear());
    book->begin(thread.entry, call_of("a"), heard.hear());
    CHECK(thread.begun.size() == 1);
    CHECK(heard.all.empty());
    thread.end(0);
    REQUIRE(heard.all.size() == 2);
    CHECK(std::get<std::string>(heard.all[0]) == std::get<std::string>(heard.all[1]));
    book->begin(thread.entry, call_of("a"), heard.hear());
    CHECK(heard.all.size() == 3);
    CHECK(thread.begun.size() == 1);
    book->begin(thread.entry, call_of("a", "rm"), heard.hear());
    CHECK(heard.kind(3) == "callIdReused");
    CHECK(thread.begun.size() == 1);
  }

  TEST_CASE("§201 too many calls are refused at once, and there is room when one has ended") {
    endpoint_limits limits;
    limits.in_flight = 2;
    const auto book = std::make_shared<call_book>(limits);
    silent_thread thread;
    answers heard;
    for (const auto* id : {"a", "b", "c"})
      book->begin(thread.entry, call_of(id), heard.hear());
    REQUIRE(heard.all.size() == 1);
    CHECK(heard.kind(0) == "overloaded");
    thread.end(0);
    book->begin(thread.entry, call_of("c"), heard.hear());
    CHECK(thread.begun.size() == 3);
  }

  TEST_CASE("BR-197 what is kept of results is bounded in bytes; the newest is always kept") {
    endpoint_limits limits;
    limits.remembered_bytes = 100'000;
    const auto book = std::make_shared<call_book>(limits);
    silent_thread thread;
    answers heard;
    for (const auto* id : {"a", "b", "c"})
      book->begin(thread.entry, call_of(id), heard.hear());
    thread.end(0, 40'000);
    thread.end(1, 40'000);
    thread.end(2, 150'000);
    heard.all.clear();
    book->begin(thread.entry, call_of("c"), heard.hear());
    CHECK(heard.all.size() == 1);
    book->begin(thread.entry, call_of("a"), heard.hear()); // the thread says that it was used
    CHECK(thread.begun.size() == 4);
  }

  TEST_CASE("a call that the thread does not begin is none, and its id is free") {
    const endpoint_limits limits;
    const auto book = std::make_shared<call_book>(limits);
    silent_thread thread;
    answers heard;
    book->begin(thread.entry, call_of("a"), heard.hear());
    thread.begun[0].done(error{errc::invalid_request, "the turn is not open", {}});
    REQUIRE(heard.all.size() == 1);
    CHECK(heard.kind(0) == "invalid_request");
    book->begin(thread.entry, call_of("a"), heard.hear());
    CHECK(thread.begun.size() == 2);
  }
}
