#include "tests/actors/remote_stream_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace gatehouse::test;

TEST_SUITE("actors.remote_stream") {
  TEST_CASE("§120 events are told in their order, each once, however they come") {
    std::mt19937 random{7};
    for (int round = 0; round < 200; ++round) {
      std::vector<event> all;
      for (std::uint64_t seq = 1; seq <= 20; ++seq)
        all.push_back(said(seq));
      all.push_back(exited(21));
      all.push_back(closed(22));
      auto sent = all;
      sent.insert(sent.end(), all.begin(), all.end()); // every one twice
      std::shuffle(sent.begin(), sent.end(), random);
      remote_stream stream;
      listener l;
      for (const auto& one : sent)
        l.take(stream.take(one));
      CHECK(l.heard == "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 exit end ");
      CHECK(stream.closed());
      CHECK(!stream.wants_read());
    }
  }

  TEST_CASE("§120 what a cut line lost is read, and comes neither twice nor late") {
    // Whatever was on its way when the line was cut, and however much an answer holds.
    for (std::uint64_t cut = 0; cut <= 12; ++cut)
      for (std::size_t most = 1; most <= 12; ++most) {
        remote_stream stream;
        listener l;
        for (std::uint64_t seq = 1; seq <= cut; ++seq)
          l.take(stream.take(seq <= 10 ? said(seq) : seq == 11 ? exited(11) : closed(12)));
        do {
          exec_client::read_result kept;
          kept.exited = kept.closed = true;
          kept.exit_code = 3;
          kept.next_seq = 13;
          for (auto seq = stream.last() + 1; seq <= 10; ++seq) {
            if (kept.chunks.size() == most) {
              kept.next_seq = seq;
              break;
            }
            kept.chunks.push_back(said(seq));
          }
          l.take(stream.take(std::move(kept)));
        } while (stream.wants_read());
        CHECK(l.heard == "1 2 3 4 5 6 7 8 9 10 exit end ");
        CHECK(stream.closed());
      }
  }

  TEST_CASE("§120 an event that comes while its read is under way is not told twice") {
    remote_stream stream;
    listener l;
    l.take(stream.take(said(1)));
    l.take(stream.take(said(3))); // 2 was lost
    CHECK(stream.wants_read());
    exec_client::read_result kept;
    kept.chunks = {said(2), said(3), said(4)};
    kept.next_seq = 5;
    l.take(stream.take(std::move(kept)));
    l.take(stream.take(said(4)));
    l.take(stream.take(said(5)));
    CHECK(l.heard == "1 2 3 4 5 ");
  }

  TEST_CASE("§120 output that is no longer kept is said to be lost") {
    remote_stream stream;
    exec_client::read_result kept;
    kept.chunks = {said(7)};
    kept.next_seq = 8;
    kept.lost_bytes = 7;
    listener l;
    l.take(stream.take(std::move(kept)));
    CHECK(l.heard == "7 ");
    CHECK(stream.take_lost() == 7);
    CHECK(stream.take_lost() == 0);
  }

  TEST_CASE("§120 a server that goes on beyond what is missing cannot fill the memory") {
    remote_stream big;
    const std::string mib(1024 * 1024, 'x');
    for (std::uint64_t seq = 2; seq <= 17; ++seq)
      CHECK(big.take({"p", seq, event::output{"stdout", mib}}).empty());
    (void)big.take(said(1));
    CHECK(big.last() == 16);
    CHECK(big.wants_read()); // the last one has come, and could not wait
    remote_stream many;
    for (std::uint64_t seq = 2; seq < 65'540; ++seq)
      (void)many.take(said(seq));
    (void)many.take(said(1));
    CHECK(many.last() == 65'537);
    CHECK(many.wants_read());
  }

  TEST_CASE("§120 a truthful server was called a liar since it was a long line ahead of our read") {
    remote_stream stream{4};
    listener l;
    for (std::uint64_t seq = 2; seq <= 8; ++seq)
      l.take(stream.take(said(seq)));
    l.take(stream.take(exited(9)));
    l.take(stream.take(closed(10)));
    CHECK(stream.ask() == 0);
    exec_client::read_result kept;
    for (std::uint64_t seq = 1; seq <= 7; ++seq)
      kept.chunks.push_back(said(seq));
    kept.next_seq = 8;
    l.take(stream.take(std::move(kept)));
    CHECK(l.heard == "1 2 3 4 5 6 7 ");
    CHECK(stream.wants_read()); // what came and could not wait
    CHECK(stream.ask() == 7);
    exec_client::read_result rest;
    rest.chunks = {said(8)};
    rest.next_seq = 11;
    rest.exited = rest.closed = true;
    rest.exit_code = 3;
    l.take(stream.take(std::move(rest)));
    CHECK(stream.ask() == 10);
    exec_client::read_result end;
    end.next_seq = 11;
    end.exited = end.closed = true;
    end.exit_code = 3;
    l.take(stream.take(std::move(end)));
    CHECK(l.heard == "1 2 3 4 5 6 7 8 exit end ");
    CHECK_FALSE(stream.left_out());
    CHECK_FALSE(stream.contradicts());
  }

  TEST_CASE("§120 what has been told no longer counts as early") {
    remote_stream stream;
    listener l;
    const std::string mib(1024 * 1024, 'x');
    for (std::uint64_t seq = 1; seq < 200; seq += 2) {
      l.take(stream.take({"p", seq + 1, event::output{"stdout", mib}}));
      l.take(stream.take({"p", seq, event::output{"stdout", "."}}));
      l.heard.clear();
    }
    CHECK(stream.last() == 200);
  }

  TEST_CASE("§120 early events of few bytes took more memory than may wait") {
    remote_stream stream;
    const std::string some(150, 'x');
    for (std::uint64_t seq = 2; seq < 65'538; ++seq)
      (void)stream.take({"p", seq, event::output{"stdout", some}});
    (void)stream.take(said(1));
    CHECK(stream.last() < 65'537);
    CHECK(stream.last() * (some.size() + sizeof(event)) <= std::size_t{16} * 1024 * 1024);
  }

  TEST_CASE("§120 a server that leaves out a number was asked for it again and again") {
    remote_stream stream;
    listener l;
    l.take(stream.take(said(1)));
    l.take(stream.take(said(3)));
    CHECK(stream.ask() == 1);
    exec_client::read_result nothing;
    nothing.next_seq = 2;
    l.take(stream.take(std::move(nothing)));
    CHECK(stream.left_out());
    CHECK(stream.last() == 1);
    CHECK(l.heard == "1 ");
  }

  TEST_CASE("§120 a server that left out what it had said passed, since its answer to a read "
            "went on behind it") {
    const auto answer_of = [](std::vector<event> chunks, std::uint64_t next, std::uint64_t lost,
                              bool ended) {
      exec_client::read_result kept;
      kept.chunks = std::move(chunks);
      kept.next_seq = next;
      kept.lost_bytes = lost;
      kept.exited = kept.closed = ended;
      return kept;
    };
    const auto leaves_out = [](exec_client::read_result kept) {
      remote_stream stream;
      (void)stream.take(said(1));
      (void)stream.take(said(9));
      CHECK(stream.ask() == 1);
      (void)stream.take(std::move(kept));
      return stream.left_out();
    };
    CHECK(leaves_out(answer_of({said(6)}, 7, 0, false)));
    CHECK(leaves_out(answer_of({said(2), said(6)}, 7, 0, false)));
    CHECK(leaves_out(answer_of({said(2)}, 9, 0, false)));
    CHECK(leaves_out(answer_of({}, 9, 0, true)));
    CHECK(leaves_out(answer_of({}, 1'000'000, 7, true)));
    CHECK_FALSE(leaves_out(answer_of({said(6)}, 7, 8, false))); // four pieces of two bytes
    // 4 is its exit, but only where it has exited.
    CHECK_FALSE(leaves_out(answer_of({said(2), said(3), said(5)}, 6, 0, true)));
    CHECK(leaves_out(answer_of({said(2), said(3), said(5)}, 6, 0, false)));
    CHECK_FALSE(leaves_out(answer_of({}, 9, 14, false)));
  }

  TEST_CASE("§120 the numbers of a process's ends are no output that was left out") {
    remote_stream stream;
    listener l;
    l.take(stream.take(said(1)));
    CHECK(stream.ask() == 1);
    exec_client::read_result ended;
    ended.next_seq = 4;
    ended.exited = ended.closed = true;
    l.take(stream.take(std::move(ended)));
    CHECK(!stream.left_out());
    CHECK(l.heard == "1 exit end ");
  }

  TEST_CASE("§120 a server that answered with the same again was asked for ever") {
    remote_stream stream;
    (void)stream.take(said(1));
    (void)stream.take(said(2));
    CHECK(stream.ask() == 2);
    exec_client::read_result again;
    again.chunks = {said(2)};
    again.next_seq = 3;
    CHECK(stream.take(std::move(again)).empty());
    CHECK(stream.contradicts());
  }

  TEST_CASE("§120 a number that was left out passed for an exit that came with another") {
    remote_stream stream;
    (void)stream.take(said(1));
    (void)stream.take(said(3));
    (void)stream.take(exited(4));
    CHECK(stream.ask() == 1);
    exec_client::read_result kept; // 2 is neither output, nor lost, nor its exit
    kept.next_seq = 5;
    kept.exited = true;
    CHECK(stream.take(std::move(kept)).empty());
    CHECK(stream.left_out());

    remote_stream later;
    (void)later.take(said(1));
    CHECK(later.ask() == 1);
    exec_client::read_result cut;
    cut.chunks = {said(3)};
    cut.next_seq = 4;
    cut.exited = true; // 2, as it seems
    (void)later.take(std::move(cut));
    CHECK_FALSE(later.left_out());
    (void)later.take(exited(4));
    CHECK(later.left_out());
  }

  TEST_CASE("§120 answers that contradict themselves passed, and output was lost with them") {
    struct row {
      const char* what;
      std::vector<event> before;
      std::vector<std::uint64_t> chunks;
      std::uint64_t next, lost;
      bool ended;
    };
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    for (const auto& one : std::vector<row>{
             {"an end before what came", {said(1), said(9)}, {}, 3, 0, true},
             {"a piece beyond nextSeq", {said(1), said(9)}, {500}, 2, 0, false},
             {"back before what was asked for", {said(1), said(2), said(3)}, {}, 2, 0, false},
             {"not in order", {said(1)}, {3, 2}, 4, 0, false},
             {"twice", {said(1)}, {2, 2}, 3, 0, false},
             {"more lost than nine numbers hold", {said(1)}, {}, 10, most, true},
             {"more lost than anybody says", {said(1)}, {}, most, most, true},
         }) {
      CAPTURE(one.what);
      remote_stream stream;
      for (const auto& event : one.before)
        (void)stream.take(event);
      (void)stream.ask();
      exec_client::read_result kept;
      for (const auto seq : one.chunks)
        kept.chunks.push_back(said(seq));
      kept.next_seq = one.next;
      kept.lost_bytes = one.lost;
      kept.exited = kept.closed = one.ended;
      CHECK(stream.take(std::move(kept)).empty());
      CHECK(stream.contradicts());
      CHECK(stream.take_lost() == 0);
    }
    remote_stream stream;
    CHECK(stream.take(said(0)).empty());
    CHECK(stream.contradicts());
  }

  TEST_CASE("§120 what a server has lost never adds up to a number that is none") {
    remote_stream stream;
    std::uint64_t all = 0;
    for (std::uint64_t next = 1ULL << 40U; !stream.contradicts(); next += 1ULL << 36U) {
      (void)stream.ask();
      exec_client::read_result kept;
      kept.next_seq = next;
      kept.lost_bytes = 1ULL << 59U;
      (void)stream.take(std::move(kept));
      all += stream.take_lost();
    }
    CHECK(all == 1ULL << 60U);
  }

  TEST_CASE("§120 a number that comes while its read is under way is not left out") {
    remote_stream stream;
    listener l;
    l.take(stream.take(said(2)));
    CHECK(stream.ask() == 0);
    l.take(stream.take(said(1)));
    l.take(stream.take(said(4)));
    exec_client::read_result nothing;
    l.take(stream.take(std::move(nothing)));
    CHECK(!stream.left_out());
    CHECK(stream.ask() == 2);
    exec_client::read_result kept;
    kept.chunks = {said(3)};
    kept.next_seq = 4;
    l.take(stream.take(std::move(kept)));
    CHECK(!stream.left_out());
    CHECK(l.heard == "1 2 3 4 ");
  }

  TEST_CASE("§120 output that had come early was dropped when the server kept it no longer") {
    remote_stream stream;
    listener l;
    l.take(stream.take(said(1)));
    l.take(stream.take(said(3)));
    CHECK(stream.ask() == 1);
    exec_client::read_result kept;
    kept.chunks = {said(4)};
    kept.next_seq = 5;
    kept.lost_bytes = 4;
    l.take(stream.take(std::move(kept)));
    CHECK(l.heard == "1 3 4 ");
  }

  TEST_CASE("§120 output that had come early was counted as lost, too") {
    remote_stream stream;
    listener l;
    l.take(stream.take(said(1)));
    l.take(stream.take(said(3)));
    CHECK(stream.ask() == 1);
    exec_client::read_result kept; // it had 2, 3 and 4 no longer, each of 2 bytes
    kept.chunks = {said(5)};
    kept.next_seq = 6;
    kept.lost_bytes = 6;
    l.take(stream.take(std::move(kept)));
    CHECK(l.heard == "1 3 5 ");
    CHECK(stream.take_lost() == 4);
  }

  TEST_CASE("§120 output that came while its read was under way was counted as lost, too") {
    remote_stream stream;
    listener l;
    CHECK(stream.ask() == 0);
    l.take(stream.take(said(1)));
    exec_client::read_result kept;
    kept.next_seq = 3;
    kept.lost_bytes = 4;
    l.take(stream.take(std::move(kept)));
    CHECK(l.heard == "1 ");
    CHECK(stream.take_lost() == 2);
  }
}
