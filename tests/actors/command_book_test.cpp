#include "actors/endpoint/command_book.hpp"
#include "actors/endpoint/file_calls.hpp"
#include "protocol/base64.hpp"
#include "reactor/clock.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace gatehouse;
using namespace gatehouse::actors;
namespace app = gatehouse::rpc::app;
namespace say = gatehouse::actors::thread_messages;

namespace {

struct memory_port : client_port {
  void send(std::string text) override { sent.push_back(std::move(text)); }
  [[nodiscard]] std::size_t queued_bytes() const override { return behind; }
  void close(int, const std::string&) override {}
  std::vector<std::string> sent;
  std::size_t behind = 0;
};

/// One session in front of a thread of which only its messages are seen.
struct commands {
  std::shared_ptr<reactor::manual_clock> time = std::make_shared<reactor::manual_clock>();
  thread_host host{time};
  endpoint_limits limits;
  thread_book threads{host, thread_book::opener{}, limits};
  endpoint_services services{threads, limits, {}, {}, {}, {}, [] { return -1; }, host.loop()};
  client_writer out{services};
  std::shared_ptr<memory_port> port = std::make_shared<memory_port>();
  std::vector<thread_message> sent;
  std::vector<say::begin_call> begun;
  std::shared_ptr<thread_subscriber> ear;
  std::shared_ptr<thread_entry> entry;
  std::shared_ptr<call_share> share = std::make_shared<call_share>(limits);
  std::shared_ptr<command_book> book;
  std::vector<rpc_outcome> heard;

  commands() {
    thread_handle handle{"thread-1", [this](thread_message m) {
                           if (auto* call = std::get_if<say::begin_call>(&m))
                             begun.push_back(*call);
                           else if (auto* one = std::get_if<say::subscribe>(&m))
                             ear = one->subscriber;
                           sent.push_back(std::move(m));
                         }};
    entry = std::make_shared<thread_entry>(
        thread_entry{handle,
                     "session",
                     {},
                     {},
                     std::make_shared<thread_watch>(),
                     std::make_shared<call_book>(limits.remembered_calls)});
    out.attach(port, false);
    book = std::make_shared<command_book>(out, share);
  }
  ~commands() { entry->calls.reset(); } // the end of a thread ends its calls; here some never end
  rpc_reply hear() {
    return [this](const rpc_outcome& what) { heard.push_back(what); };
  }
  void exec(const std::string& more) {
    auto read = rpc::read_message(
        R"({"id":1,"method":"m","params":{"threadId":"thread-1","command":["ls"])" + more + "}}");
    const auto& message = std::get<rpc::message>(read);
    book->exec(entry, *rpc::codec<app::command_exec_params>::decode(message.params()), hear());
  }
  void write(const std::string& process, const std::string& text) {
    book->write({process, encode_base64(text), {}}, hear());
  }
  void answer(std::size_t call, std::optional<int> session, const std::string& output = {},
              std::optional<error> failure = {}) {
    call_report report;
    report.call_id = begun.at(call).request.call_id;
    report.ending = failure ? call_ending::failed : call_ending::completed;
    report.failure = std::move(failure);
    report.session_id = session;
    report.output.aggregated = report.output.stdout_text = output;
    report.output.total_bytes = output.size();
    attempt_record attempt;
    attempt.ending = session ? attempt_ending::running : attempt_ending::exited;
    if (!session) attempt.exit_code = 0;
    report.attempts.push_back(attempt);
    begun.at(call).done(std::make_shared<const call_report>(std::move(report)));
  }
  void event(thread_event_body what) {
    ear->on_event(std::make_shared<const thread_event>(thread_event{1, "turn", std::move(what)}));
  }
  /// The id of the call that the command is.
  [[nodiscard]] std::string call_of(const std::string& process) const {
    for (auto one = begun.rbegin(); one != begun.rend(); ++one)
      if (const auto& id = one->request.call_id;
          id.starts_with("command:" + process + ":") && id.find('/') == std::string::npos)
        return id;
    return process;
  }
  void says(const std::string& process, const std::string& text) {
    event(thread_events::output_delta{call_of(process), 1, output_stream::standard_output, text});
  }
  void ends(const std::string& process, int status) {
    attempt_record how;
    how.ending = attempt_ending::exited;
    how.exit_code = status;
    event(thread_events::terminal_ended{call_of(process), 7, how});
  }
  [[nodiscard]] std::string told(std::size_t i) const {
    if (const auto* text = std::get_if<std::string>(&heard.at(i))) return *text;
    const auto* why = std::get_if<rpc::failure>(&heard.at(i));
    return why ? why->kind : "report";
  }
  template <class Message>
  [[nodiscard]] int count() const {
    int n = 0;
    for (const auto& m : sent)
      n += std::holds_alternative<Message>(m);
    return n;
  }
  [[nodiscard]] bool told_has(std::size_t i, std::string_view part) const {
    return told(i).find(part) != std::string::npos;
  }
};

constexpr auto tty = R"(,"processId":"p","tty":true)";

} // namespace

TEST_SUITE("actors.command_book") {
  TEST_CASE("§201 a terminal ends with its process, once, however its polls and end come") {
    for (const bool end_first : {true, false}) {
      CAPTURE(end_first);
      commands c;
      c.exec(tty);
      REQUIRE(c.begun.size() == 1);
      c.says("p", "one ");
      if (end_first) c.ends("p", 5); // told before its call was answered
      c.answer(0, 7);
      c.says("p", "two");
      if (!end_first) c.ends("p", 5);
      c.ends("p", 6);               // repeated
      REQUIRE(c.begun.size() == 2); // the last poll
      CHECK(c.heard.empty());
      c.answer(1, std::nullopt);
      REQUIRE(c.heard.size() == 1);
      CHECK(c.told_has(0, R"("exitCode":5)"));
      CHECK(c.told_has(0, R"("stdout":"one two")"));
      c.says("p", "late");
      c.ends("p", 5);
      CHECK(c.heard.size() == 1);
      CHECK(c.count<say::unsubscribe>() == 1);
    }
  }

  TEST_CASE(
      "§201 the end waits for what is being typed, and its failed poll loses no exit status") {
    commands c;
    c.exec(tty);
    c.answer(0, 7);
    c.write("p", "x");
    REQUIRE(c.begun.size() == 2);
    c.ends("p", 3);
    REQUIRE(c.begun.size() == 3);
    c.answer(2, std::nullopt, {}, error{errc::not_found, "Unknown process id 7", {}});
    CHECK(c.heard.empty());
    c.answer(1, std::nullopt, "tail");
    REQUIRE(c.heard.size() == 2);
    CHECK(c.told(0) == "{}");
    CHECK(c.told_has(1, R"("exitCode":3)"));
    CHECK(c.told_has(1, R"("stdout":"tail")")); // no deltas came: a hook withheld them
  }

  TEST_CASE("§201 what is typed before there is a terminal waits for it, in order") {
    commands c;
    c.exec(tty);
    c.write("p", "a");
    c.write("p", "b");
    CHECK(c.begun.size() == 1);
    c.answer(0, 7);
    REQUIRE(c.begun.size() == 3);
    CHECK(std::get<stdin_arguments>(c.begun[1].request.arguments).chars == "a");
    CHECK(std::get<stdin_arguments>(c.begun[2].request.arguments).chars == "b");
    CHECK(std::get<stdin_arguments>(c.begun[1].request.arguments).session_id == 7);
  }

  TEST_CASE("§201 what was typed for a command that never began is told so") {
    commands c;
    c.exec(tty);
    c.write("p", "a");
    c.answer(0, std::nullopt);
    REQUIRE(c.heard.size() == 2);
    CHECK(c.told(0) == "unknownProcess");
    c.write("p", "b");
    CHECK(c.told(2) == "unknownProcess");
    CHECK(c.begun.size() == 1);
  }

  TEST_CASE("§201 input for a command whose call the thread refused was never answered") {
    commands c;
    c.exec(tty);
    c.write("p", "a");
    c.write("p", "b");
    c.begun.at(0).done(error{errc::invalid_request, "the thread is closing", {}});
    REQUIRE(c.heard.size() == 3);
    CHECK(c.told(0) == "unknownProcess");
    CHECK(c.told(1) == "unknownProcess");
    CHECK(c.told(2) == "invalidParams");
  }

  TEST_CASE("§201 a process id that a call had was refused for ever: the ids are apart") {
    commands c;
    c.exec(R"(,"processId":"p")");
    c.exec(R"(,"processId":"q")");
    c.exec("");
    REQUIRE(c.begun.size() == 3);
    for (const auto& one : c.begun)
      CHECK(one.request.call_id.starts_with("command:"));
    CHECK(c.begun[0].request.call_id.starts_with("command:p:"));
  }

  TEST_CASE("§201 the connection's end ends its commands, also one that is just about to begin") {
    commands c;
    c.exec(R"(,"processId":"plain")");
    c.exec(R"(,"processId":"kept","detachable":true)");
    c.exec(tty);
    c.book->connection_lost();
    CHECK(c.count<say::cancel_call>() == 2);
    c.answer(2, 7); // the cancellation crossed with its start
    CHECK(c.count<say::end_terminal>() == 1);
  }

  TEST_CASE("§201 a repeated process id is refused while the command runs, and free afterwards") {
    commands c;
    c.exec(R"(,"processId":"p")");
    c.exec(R"(,"processId":"p")");
    REQUIRE(c.heard.size() == 1);
    CHECK(c.told(0) == "processIdInUse");
    c.answer(0, std::nullopt, "out");
    c.exec(R"(,"processId":"p")");
    REQUIRE(c.begun.size() == 2);
    CHECK(c.begun[0].request.call_id != c.begun[1].request.call_id); // never used twice in a thread
  }

  TEST_CASE("§201 a slow reader is told what was left out, without a gap in the numbers") {
    commands c;
    c.exec(R"(,"processId":"p","streamStdoutStderr":true)");
    c.says("p", "one");
    c.port->behind = c.limits.queued_bytes + 1;
    c.says("p", "lost");
    c.port->behind = 0;
    c.says("p", "two");
    REQUIRE(c.port->sent.size() == 2);
    CHECK(c.port->sent[0].find(R"("seq":1)") != std::string::npos);
    CHECK(c.port->sent[1].find(R"("seq":2)") != std::string::npos);
    CHECK(c.port->sent[1].find(R"("droppedBytes":4)") != std::string::npos);
    c.answer(0, std::nullopt, "onelosttwo");
    CHECK(c.told_has(0, R"("outputTruncated":true)"));
    CHECK(c.told_has(0, R"("stdout":"")"));
  }

  TEST_CASE("§201 the cap cuts no character, and is told once") {
    commands c;
    c.exec(R"(,"processId":"p","streamStdoutStderr":true,"outputBytesCap":4)");
    c.says("p", "abc\xC3\xA4"); // four bytes would end inside the last one
    c.says("p", "more");
    REQUIRE(c.port->sent.size() == 1);
    CHECK(c.port->sent[0].find(encode_base64("abc")) != std::string::npos);
    CHECK(c.port->sent[0].find(R"("capReached":true)") != std::string::npos);
  }

  TEST_CASE("§201 the end of its thread is the end of a command") {
    commands c;
    c.exec(tty);
    c.answer(0, 7);
    c.book->closed(*c.entry);
    REQUIRE(c.heard.size() == 1);
    CHECK(c.told_has(0, R"("status":"interrupted")"));
    c.ends("p", 0);
    CHECK(c.heard.size() == 1);
  }
}
