#include "actors/endpoint/client_writer.hpp"

#include "protocol/rpc/app_events.hpp"
#include "reactor/clock.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace std::chrono_literals;

namespace {

/// A client that reads when it is told to.
struct slow_port : client_port {
  void send(std::string text) override {
    queue.push_back(std::move(text));
    bytes += queue.back().size();
  }
  [[nodiscard]] std::size_t queued_bytes() const override { return bytes; }
  void close(int code, const std::string&) override { closed = code; }
  bool read_one() {
    if (queue.empty()) return false;
    bytes -= queue.front().size();
    read.push_back(std::move(queue.front()));
    queue.pop_front();
    return true;
  }

  std::deque<std::string> queue;
  std::size_t bytes = 0;
  std::vector<std::string> read;
  int closed = 0;
};

struct written {
  std::shared_ptr<reactor::manual_clock> time = std::make_shared<reactor::manual_clock>();
  thread_host host{time};
  endpoint_limits limits;
  std::optional<thread_book> threads;
  std::optional<endpoint_services> services;
  std::optional<client_writer> out;
  std::shared_ptr<slow_port> port = std::make_shared<slow_port>();

  explicit written(std::size_t queued_bytes = 1000, std::size_t frame_bytes = 1U << 20U) {
    limits.queued_bytes = queued_bytes;
    limits.frame_bytes = frame_bytes;
    threads.emplace(host, thread_book::opener{}, limits);
    services.emplace(
        endpoint_services{*threads, limits, {}, {}, {}, {}, [] { return -1; }, host.loop()});
    out.emplace(*services);
    out->attach(port, false);
  }
  void answer(std::int64_t id, std::size_t bytes) {
    out->answer(rpc::request_id{id}, '"' + std::string(bytes, 'x') + '"');
  }
  void read_all() {
    while (port->read_one())
      out->drained();
  }
};

call_report_ptr report_of(std::string output) {
  call_report report;
  report.call_id = "a";
  report.ending = call_ending::completed;
  report.output.stdout_text = report.output.aggregated = std::move(output);
  return std::make_shared<const call_report>(std::move(report));
}

} // namespace

TEST_SUITE("actors.client_writer") {
  TEST_CASE("§201 a client that reads was cut off by answers that came at the same moment") {
    written s;
    for (int id = 1; id <= 40; ++id)
      s.answer(id, 600);
    CHECK(s.port->closed == 0);
    CHECK(s.port->queued_bytes() < 2000);
    CHECK(s.out->is_behind());
    s.read_all();
    CHECK(s.port->closed == 0);
    CHECK_FALSE(s.out->is_behind());
    REQUIRE(s.port->read.size() == 40);
    for (std::size_t i = 0; i < 40; ++i)
      CHECK(s.port->read[i].starts_with(R"({"id":)" + std::to_string(i + 1)));
    s.time->advance(5min);
    CHECK(s.port->closed == 0);
  }

  TEST_CASE("§201 a client that takes nothing is disconnected, one that takes a little is not") {
    written s;
    for (int id = 1; id <= 10; ++id)
      s.answer(id, 600);
    for (int i = 0; i < 5; ++i) {
      s.time->advance(29s);
      CHECK(s.port->read_one());
      s.out->drained();
    }
    CHECK(s.port->closed == 0);
    s.time->advance(61s);
    CHECK(s.port->closed == 1013);
    CHECK_FALSE(s.out->attached());
  }

  TEST_CASE("§50 a question that is answered while it waits for the client is not asked") {
    written s;
    bool stands = true;
    const auto ask = [&] {
      s.out->ask([&]() -> std::optional<client_writer::question> {
        if (!stands) return std::nullopt;
        return client_writer::question{"q", "ask", "{}"};
      });
    };
    ask();
    for (int id = 1; id <= 3; ++id)
      s.answer(id, 600);
    ask();
    stands = false;
    s.read_all();
    CHECK(s.port->read.size() == 4);
  }

  TEST_CASE("BR-197 an answer above the announced size was sent all the same") {
    written s{1U << 20U, 100'000};
    const auto sent = [&](std::string output) {
      s.out->answer(rpc::request_id{std::int64_t{1}}, report_of(std::move(output)));
      CHECK(s.port->queue.back().size() <= 100'000);
      return s.port->queue.back();
    };
    CHECK(sent(std::string(20'000, 'x')).find("outputDropped") == std::string::npos);
    const auto without_copies = sent(std::string(15'000, '\1')); // six bytes each in JSON
    CHECK(without_copies.find(R"("output":"\u0001\u0001)") != std::string::npos);
    CHECK(without_copies.find(R"("output_dropped":true)") != std::string::npos);
    const auto outcome = sent(std::string(60'000, '\1'));
    CHECK(outcome.find(R"("outputDropped":true)") != std::string::npos);
  }
}
