#include "actors/event_log.hpp"

#include <doctest/doctest.h>

using namespace gatehouse;
using actors::event_log;

namespace {

thread_event_body piece(std::size_t bytes) {
  return thread_events::output_delta{"call", 1, output_stream::standard_output,
                                     std::string(bytes, 'x')};
}

thread_event_body end_of(const std::string& id, std::size_t bytes) {
  call_report report;
  report.call_id = id;
  report.output.aggregated = std::string(bytes, 'y');
  report.output.total_bytes = bytes;
  return thread_events::item_ended{std::make_shared<const call_report>(std::move(report))};
}

std::vector<std::uint64_t> kept_after(const event_log& log, std::uint64_t seq) {
  std::vector<std::uint64_t> numbers;
  for (const auto& event : log.after(seq))
    numbers.push_back(event->seq);
  return numbers;
}

using seqs = std::vector<std::uint64_t>;

} // namespace

TEST_SUITE("actors.event_log") {
  TEST_CASE("events are numbered without a gap and given again in order") {
    event_log log{1 << 20};
    log.add("t", thread_events::turn_started{});
    log.add("t", piece(10));
    log.add("t", end_of("a", 10));
    log.add("t", piece(10));
    CHECK(kept_after(log, 0) == seqs{1, 2, 3, 4});
    CHECK(kept_after(log, 2) == seqs{3, 4});
    CHECK(kept_after(log, 4).empty());
    CHECK(log.last_seq() == 4);
  }

  TEST_CASE("§201 where there is no room, pieces of output go before the ends of calls") {
    event_log log{50'000};
    log.add("t", end_of("a", 5000));
    for (int i = 0; i < 10; ++i)
      log.add("t", piece(5000));
    log.add("t", end_of("b", 15'000));
    const auto kept = kept_after(log, 0);
    CHECK(kept.front() == 1);
    CHECK(kept.back() == 12);
    CHECK(kept[1] > 2);
  }

  TEST_CASE("§201 a piece of output was dropped for ends of calls that everybody had heard") {
    event_log log{50'000};
    for (int i = 0; i < 20; ++i)
      log.add("t", end_of("old", 5000));
    log.add("t", piece(10));
    log.add("t", end_of("new", 5000));
    const auto kept = kept_after(log, 20);
    CHECK(kept == seqs{21, 22});
  }

  TEST_CASE("§201 BR-197 the end of a call went with its output: nobody learned how it ended") {
    event_log log{30'000};
    for (const auto* id : {"a", "b", "c"})
      log.add("t", end_of(id, 12'000));
    REQUIRE(kept_after(log, 0) == seqs{1, 2, 3});
    const auto report_of = [&](std::uint64_t seq) {
      return std::get<thread_events::item_ended>(log.after(seq - 1).front()->what).report;
    };
    CHECK(report_of(1)->call_id == "a");
    CHECK(report_of(1)->output.dropped);
    CHECK(report_of(1)->output.aggregated.empty());
    CHECK(report_of(1)->output.truncated_bytes == 12'000);
    CHECK_FALSE(report_of(3)->output.dropped);
    CHECK(report_of(3)->output.aggregated.size() == 12'000);
    for (int i = 0; i < 100; ++i)
      log.add("t", end_of("more", 5000));
    const auto kept = kept_after(log, 0);
    CHECK(kept.size() > 5); // of the oldest nothing is left
    CHECK(kept.front() > 1);
    CHECK(kept.back() == 103);
  }

  TEST_CASE("§201 the newest event is kept, however large it is") {
    event_log log{1000};
    log.add("t", piece(10));
    log.add("t", end_of("a", 5000));
    CHECK(kept_after(log, 0) == seqs{2});
    log.add("t", piece(5000));
    CHECK(kept_after(log, 0) == seqs{3});
  }
}
