#include "actors/endpoint/call_book.hpp"
#include "protocol/rpc/app_events.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

/// A thread of which only the calls that it is sent are seen.
struct silent_thread {
  std::vector<thread_messages::begin_call> begun;
  thread_handle handle{"thread-1", [this](thread_message message) {
                         begun.push_back(std::get<thread_messages::begin_call>(message));
                       }};

  void end(std::size_t call, std::size_t output_bytes = 0) {
    call_report report;
    report.call_id = begun.at(call).request.call_id;
    report.ending = call_ending::completed;
    attempt_record attempt;
    attempt.ending = attempt_ending::exited;
    attempt.exit_code = 3;
    report.attempts.push_back(attempt);
    report.output.stdout_text = report.output.aggregated = std::string(output_bytes, 'x');
    report.output.total_bytes = output_bytes;
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
  [[nodiscard]] bool says(std::size_t i, std::string_view part) const {
    const auto* report = std::get_if<call_report_ptr>(&all.at(i));
    const auto* text = std::get_if<std::string>(&all.at(i));
    return (report ? rpc::to_json(rpc::app::result_of(**report))
            : text ? *text
                   : "")
               .find(part) != std::string::npos;
  }
};

/// One thread, and a session that asks for calls in it.
struct asked_thread {
  endpoint_limits limits;
  silent_thread thread;
  std::shared_ptr<call_share> session = std::make_shared<call_share>(limits);
  std::shared_ptr<call_book> book = std::make_shared<call_book>(limits.remembered_calls);
  answers heard;

  explicit asked_thread(const endpoint_limits& with = {}) : limits{with} {}
  void call(const std::string& id, const std::string& command = "ls") {
    book->begin(thread.handle, call_of(id, command), session, heard.hear());
  }
};

} // namespace

TEST_SUITE("actors.call_book") {
  TEST_CASE("§201 a call id that comes again is the same call, running and ended") {
    asked_thread s;
    s.call("a");
    s.call("a");
    CHECK(s.thread.begun.size() == 1);
    CHECK(s.heard.all.empty());
    s.thread.end(0);
    REQUIRE(s.heard.all.size() == 2);
    CHECK(std::get<call_report_ptr>(s.heard.all[0]) == std::get<call_report_ptr>(s.heard.all[1]));
    s.call("a");
    CHECK(s.heard.all.size() == 3);
    CHECK(s.thread.begun.size() == 1);
    s.call("a", "rm");
    CHECK(s.heard.kind(3) == "callIdReused");
    CHECK(s.thread.begun.size() == 1);
  }

  TEST_CASE("§201 the call of a session that is over was told to be used by nobody knew what") {
    asked_thread s;
    s.call("a");
    s.call("b");
    s.thread.end(0);
    s.session = std::make_shared<call_share>(s.limits); // another session of this credential
    s.thread.end(1);
    s.call("a");
    s.call("b");
    CHECK(s.thread.begun.size() == 2);
    CHECK(s.heard.says(2, R"("exitCode":3)"));
    CHECK(s.heard.says(3, R"("exitCode":3)"));
  }

  TEST_CASE("§201 too many calls are refused at once, and there is room when one has ended") {
    endpoint_limits limits;
    limits.in_flight = 2;
    asked_thread s{limits};
    for (const auto* id : {"a", "b", "c"})
      s.call(id);
    REQUIRE(s.heard.all.size() == 1);
    CHECK(s.heard.kind(0) == "overloaded");
    s.thread.end(0);
    s.call("c");
    CHECK(s.thread.begun.size() == 3);
  }

  TEST_CASE(
      "BR-197 a call was advised another id, and so a second run, since its output was gone") {
    endpoint_limits limits;
    limits.remembered_bytes = 100'000;
    asked_thread s{limits};
    for (const auto* id : {"a", "b", "c"})
      s.call(id);
    s.thread.end(0, 40'000); // each output counts once
    s.thread.end(1, 40'000);
    s.heard.all.clear();
    s.call("a");
    CHECK_FALSE(s.heard.says(0, "outputDropped"));
    s.thread.end(2, 150'000); // the newest is kept, however large
    s.heard.all.clear();
    s.call("c");
    CHECK_FALSE(s.heard.says(0, "outputDropped"));
    for (const auto* id : {"a", "b"})
      s.call(id);
    CHECK(s.thread.begun.size() == 3);
    for (const std::size_t i : {1, 2}) {
      CHECK(s.heard.says(i, R"("status":"completed","exitCode":3,"output":"")"));
      CHECK(s.heard.says(i, R"("outputOmittedBytes":40000,"outputDropped":true)"));
    }
  }

  TEST_CASE("§201 outputs and outcomes are bounded by their number, the oldest first") {
    endpoint_limits limits;
    limits.remembered_outputs = 1;
    limits.remembered_calls = 2;
    asked_thread s{limits};
    for (const auto* id : {"a", "b", "c"})
      s.call(id);
    for (const std::size_t i : {0, 1, 2})
      s.thread.end(i);
    CHECK_FALSE(s.book->knows("a"));
    CHECK(s.book->knows("b"));
    s.heard.all.clear();
    s.call("b");
    CHECK(s.heard.says(0, R"("outputDropped":true)"));
    s.call("c");
    CHECK_FALSE(s.heard.says(1, "outputDropped"));
    s.call("a"); // the thread says that it was used
    CHECK(s.thread.begun.size() == 4);
  }

  TEST_CASE("a call that the thread does not begin is none, and its id is free") {
    asked_thread s;
    s.call("a");
    CHECK(s.book->knows("a"));
    s.thread.begun[0].done(error{errc::not_found, "the turn is not open", {}});
    REQUIRE(s.heard.all.size() == 1);
    CHECK(s.heard.kind(0) == "unknownTurn");
    CHECK_FALSE(s.book->knows("a"));
    s.call("a");
    CHECK(s.thread.begun.size() == 2);
  }
}
