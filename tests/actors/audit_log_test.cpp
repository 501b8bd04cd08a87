#include "actors/audit/audit_log.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::actors;

namespace {

constexpr std::chrono::seconds hang_guard{60};

audit_record entry(audit_kind kind, std::string call, std::string body = "{}") {
  return {kind, "s", "t", std::move(call), 0, std::move(body)};
}

struct world {
  tests::temp_folder folder;
  std::string path = folder / "audit.db";
  reactor::event_loop loop;
  std::vector<std::string> warned;
  std::shared_ptr<audit_log> log;
  std::function<audit_time()> wall_clock;

  void open(bool required = true, std::vector<std::string> secrets = {}) {
    audit_terms terms;
    terms.path = path;
    terms.required = required;
    terms.secrets = std::move(secrets);
    terms.warn = [this](const error& why) { warned.push_back(why.message); };
    terms.wall_clock = wall_clock;
    auto opened = audit_log::open(loop, std::move(terms));
    REQUIRE(opened);
    log = *std::move(opened);
  }
  result<void> record(audit_record what) {
    std::optional<result<void>> said;
    log->record(std::move(what), [&](const result<void>& how) { said = how; });
    CHECK_FALSE(said); // never inside the call
    REQUIRE(loop.run_until([&] { return said.has_value(); }, hang_guard));
    return *said;
  }
  /// Nothing can be added while the head is not that of the newest entry.
  void break_it() { change("UPDATE chain SET head_seq = head_seq + 1000"); }
  void mend_it() { change("UPDATE chain SET head_seq = head_seq - 1000"); }
  void change(const char* sql) {
    sqlite3* db = nullptr;
    REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    sqlite3_busy_timeout(db, 10'000);
    CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
  }
  std::vector<audit_entry> written() {
    std::vector<audit_entry> found;
    auto store = audit_store::open(path, audit_store::mode::read);
    REQUIRE(store);
    REQUIRE((*store)->read({}, [&](const audit_entry& e) {
      found.push_back(e);
      return true;
    }));
    const auto verdict = (*store)->verify();
    REQUIRE(verdict);
    CHECK(verdict->faults.empty());
    return found;
  }
  std::vector<std::string> calls() {
    std::vector<std::string> found;
    for (const auto& e : written())
      found.push_back(e.kind + " " + e.call);
    return found;
  }
};

} // namespace

TEST_SUITE("actors.audit_log") {
  TEST_CASE("§205 entries stand in the order of the calls when the last one is told") {
    world w;
    w.open();
    for (const auto* call : {"a", "b", "c"})
      w.log->record(entry(audit_kind::request, call), {});
    REQUIRE(w.record(entry(audit_kind::attempt, "d")));
    CHECK(w.calls() ==
          std::vector<std::string>{"request a", "request b", "request c", "attempt d"});
  }

  TEST_CASE("§205 what nobody waits for is written with the next entry, and soon without one") {
    world w;
    w.open();
    REQUIRE(w.record(entry(audit_kind::session, "")));
    w.log->record(entry(audit_kind::request, "a"), {});
    w.log->record(entry(audit_kind::decision, "a"), {});
    CHECK(w.calls().size() == 1); // its moment is the loop's, which does not run
    REQUIRE(w.record(entry(audit_kind::attempt, "a")));
    CHECK(w.calls().size() == 4);
    w.log->record(entry(audit_kind::attempt_end, "a"), {});
    CHECK(w.loop.run_until([&] { return w.calls().size() == 5; }, hang_guard));
  }

  TEST_CASE("§205 what waits is written before the end of the log, and nobody is told after it") {
    world w;
    w.open();
    bool told = false;
    w.log->record(entry(audit_kind::request, "a"), [&](const result<void>&) { told = true; });
    w.log.reset();
    w.loop.run_until([] { return false; }, std::chrono::milliseconds{0});
    CHECK_FALSE(told);
    CHECK(w.calls() == std::vector<std::string>{"request a"});
  }

  TEST_CASE("§205 secrets are taken out before it is written") {
    world w;
    w.open(true, {"open sesame"});
    REQUIRE(
        w.record(entry(audit_kind::request, "a", R"({"argv":["say","open sesame","TOKEN=x1"]})")));
    CHECK(w.written().front().body == R"({"argv":["say","[redacted]","TOKEN=[redacted]"]})");
  }

  TEST_CASE("§205 what was refused for want of an entry gets none later; the rest is made up for") {
    world w;
    w.open();
    REQUIRE(w.record(entry(audit_kind::session, "")));
    w.break_it();
    w.log->record(entry(audit_kind::request, "a"), {});
    const auto refused = w.record(entry(audit_kind::attempt, "a"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find(w.path) != std::string::npos);
    CHECK_FALSE(w.record(entry(audit_kind::end, "a")));
    CHECK_FALSE(w.log->record_and_wait(entry(audit_kind::amendment, "")));
    w.mend_it();
    REQUIRE(w.record(entry(audit_kind::request, "b")));
    CHECK(w.calls() == std::vector<std::string>{"session ", "request a", "end a", "request b"});
  }

  TEST_CASE("§205 where the user lets things go on, they do, each cause is told once and all is "
            "made up for") {
    world w;
    w.open(false);
    REQUIRE(w.record(entry(audit_kind::session, "")));
    w.break_it();
    CHECK(w.record(entry(audit_kind::attempt, "a")));
    CHECK(w.record(entry(audit_kind::attempt, "b")));
    w.mend_it();
    CHECK(w.record(entry(audit_kind::end, "b")));
    CHECK(w.calls() == std::vector<std::string>{"session ", "attempt a", "attempt b", "end b"});
    w.log.reset();
    CHECK(w.warned.size() == 1);
  }

  TEST_CASE("§205 more than can be kept leaves a gap that is told") {
    world w;
    w.open();
    REQUIRE(w.record(entry(audit_kind::session, "")));
    w.break_it();
    for (int i = 0; i < 10'007; ++i)
      w.log->record(entry(audit_kind::request, std::to_string(i)), {});
    CHECK_FALSE(w.record(entry(audit_kind::attempt, "x")));
    w.mend_it();
    REQUIRE(w.record(entry(audit_kind::request, "after")));
    const auto all = w.written();
    REQUIRE(all.size() == 10'003);
    CHECK(all[1].kind == "lost");
    CHECK(all[1].body == R"({"entries":7})");
    CHECK(all[2].call == "7");
    CHECK(all.back().call == "after");
  }

  TEST_CASE("§205 without an audit nothing begins, unless the user says that things go on") {
    const tests::temp_folder folder;
    reactor::event_loop loop;
    audit_terms terms;
    terms.path = folder.write("file", "") + "/audit.db";
    CHECK_FALSE(audit_log::open(loop, terms));
    std::vector<std::string> warned;
    terms.required = false;
    terms.warn = [&](const error& why) { warned.push_back(why.message); };
    const auto log = audit_log::open(loop, terms);
    REQUIRE(log);
    CHECK((*log)->record_and_wait(entry(audit_kind::attempt, "a")));
    CHECK(warned.size() == 1);
  }

  TEST_CASE("§205 what is taken out goes step by step while calls are written") {
    world w;
    {
      const auto store = audit_store::open(w.path, audit_store::mode::write);
      REQUIRE(store);
      std::vector<audit_store::draft> old(3000, {{}, entry(audit_kind::request, "old")});
      REQUIRE((*store)->append(old));
    }
    w.open();
    const auto old_left = [&] {
      std::size_t count = 0;
      const auto store = audit_store::open(w.path, audit_store::mode::read);
      REQUIRE(store);
      REQUIRE((*store)->read({.call = "old"}, [&](const audit_entry&) { return ++count, true; }));
      return count;
    };
    int calls = 0;
    const auto started = std::chrono::steady_clock::now();
    while (old_left() > 0 && std::chrono::steady_clock::now() < started + hang_guard) {
      CHECK(w.record(entry(audit_kind::attempt, "new")));
      ++calls;
    }
    w.log.reset();
    const auto all = w.calls();
    CHECK(std::ranges::count(all, "request old") == 0);
    CHECK(std::ranges::count(all, "attempt new") == calls);
  }

  TEST_CASE("§205 what was written after the audit was moved or removed was found by nobody") {
    for (const bool moved : {false, true}) {
      CAPTURE(moved);
      world w;
      w.open();
      REQUIRE(w.record(entry(audit_kind::attempt, "a")));
      for (const auto* end : {"", "-wal", "-shm"}) {
        const auto from = w.path + end;
        if (moved)
          REQUIRE(std::rename(from.c_str(), (w.folder / "kept.db" + end).c_str()) == 0);
        else
          REQUIRE(std::remove(from.c_str()) == 0);
      }
      CHECK(w.record(entry(audit_kind::attempt, "b")));
      CHECK(w.calls() == std::vector<std::string>{"attempt b"});
      w.log.reset();
      REQUIRE(w.warned.size() == 1);
      CHECK(w.warned[0].find(w.path) != std::string::npos);
      if (!moved) continue;
      w.path = w.folder / "kept.db";
      CHECK(w.calls() == std::vector<std::string>{"attempt a"});
    }
  }

  TEST_CASE("§205 what ran after a file beside the audit had gone was recorded nowhere") {
    for (const std::string gone : {"-wal", "-shm", "-wal -shm"}) {
      CAPTURE(gone);
      world w;
      w.open();
      REQUIRE(w.record(entry(audit_kind::attempt, "a")));
      for (const auto* end : {"-wal", "-shm"})
        if (gone.find(end) != std::string::npos) REQUIRE(std::remove((w.path + end).c_str()) == 0);
      CHECK(w.record(entry(audit_kind::attempt, "b")));
      CHECK(w.record(entry(audit_kind::attempt, "c")));
      CHECK(w.calls() == std::vector<std::string>{"attempt a", "attempt b", "attempt c"});
      w.log.reset();
      REQUIRE(w.warned.size() == 1);
      CHECK(w.warned[0].find("-wal") != std::string::npos);
    }
  }

  TEST_CASE("§205 what an audit knew was lost when its database alone was moved") {
    world w;
    w.open();
    REQUIRE(w.record(entry(audit_kind::attempt, "a")));
    REQUIRE(std::rename(w.path.c_str(), (w.folder / "kept.db").c_str()) == 0);
    CHECK(w.record(entry(audit_kind::attempt, "b")));
    CHECK(w.calls() == std::vector<std::string>{"attempt b"});
    w.log.reset();
    w.path = w.folder / "kept.db";
    CHECK(w.calls() == std::vector<std::string>{"attempt a"});
  }

  TEST_CASE("§205 an audit that cannot begin anew lets nothing happen unrecorded") {
    for (const bool required : {true, false}) {
      CAPTURE(required);
      world w;
      w.open(required);
      REQUIRE(w.record(entry(audit_kind::attempt, "a")));
      REQUIRE(std::rename(w.path.c_str(), (w.folder / "kept.db").c_str()) == 0);
      REQUIRE(::mkdir(w.path.c_str(), 0700) == 0); // no place for a file
      for (const auto* call : {"b", "c"})
        CHECK(w.record(entry(audit_kind::attempt, call)).has_value() != required);
      REQUIRE(::rmdir(w.path.c_str()) == 0);
      REQUIRE(w.record(entry(audit_kind::attempt, "d")));
      CHECK(w.calls() == (required
                              ? std::vector<std::string>{"attempt d"}
                              : std::vector<std::string>{"attempt b", "attempt c", "attempt d"}));
      w.log.reset();
      w.path = w.folder / "kept.db";
      CHECK(w.calls() == std::vector<std::string>{"attempt a"});
    }
  }

  TEST_CASE("§205 one entry was as long as a command made it") {
    constexpr std::size_t most = std::size_t{64} << 10U;
    const std::string text(1'000'000, '"');
    std::string escaped;
    for (std::size_t i = 0; i < text.size(); ++i)
      escaped += "\\\"";
    std::string list = "[0";
    for (int i = 0; i < 100'000; ++i)
      list += ",{\"n\":1}";
    list += "]";
    for (const auto& value : {'"' + escaped + '"', list}) {
      world w;
      w.open();
      w.log->record(entry(audit_kind::decision, std::string(5'000, 'c'),
                          R"({"replay":true,"why":"short","said":)" + value + "}"),
                    {});
      REQUIRE(w.record(entry(audit_kind::attempt, "a", R"({"said":)" + value + "}")));
      const auto all = w.written();
      REQUIRE(all.size() == 2);
      for (const auto& one : all) {
        CHECK(one.body.size() <= most);
        CHECK(one.body.find("\"left_out_bytes\":") != std::string::npos);
        CHECK(one.call.size() <= 1'100);
      }
      // What was cut would be judged otherwise.
      CHECK(all[0].body.starts_with(R"({"replay":false,"why":"short","said":)"));
    }
  }

  TEST_CASE("§205 the connections of one command pushed older entries out") {
    world w;
    w.open();
    const auto denial = R"({"host":")" + std::string(10'000, 'h') + "\"}";
    for (int i = 0; i < 200; ++i)
      w.log->record(entry(audit_kind::denial, "a", denial), {});
    w.log->record(entry(audit_kind::denial, "other", "{}"), {});
    w.log->record(entry(audit_kind::attempt_end, "a"), {});
    REQUIRE(w.record(entry(audit_kind::end, "a")));
    std::size_t bytes = 0;
    std::size_t denials = 0;
    const auto all = w.written();
    for (const auto& one : all)
      if (one.kind == "denial" && one.call == "a") {
        bytes += one.body.size();
        ++denials;
      }
    CHECK(bytes <= (std::size_t{256} << 10U) + 100);
    REQUIRE(all.size() == denials + 3);
    CHECK(all[all.size() - 3].body ==
          "{\"left_out_denials\":" + std::to_string(201 - denials) + "}");
    CHECK(all[all.size() - 2].kind == "attempt_end");
  }

  TEST_CASE("§205 what waits for an answer was copied and ended on the writer's thread") {
    struct witness {
      std::thread::id home = std::this_thread::get_id();
      std::atomic<int>* elsewhere;
      explicit witness(std::atomic<int>& count) : elsewhere{&count} {}
      witness(const witness& other) : home{other.home}, elsewhere{other.elsewhere} { look(); }
      ~witness() { look(); }
      witness& operator=(const witness&) = delete;
      void look() const {
        if (std::this_thread::get_id() != home) ++*elsewhere;
      }
    };
    std::atomic<int> elsewhere{0};
    world w;
    w.open();
    int told = 0;
    for (int i = 0; i < 20; ++i)
      w.log->record(entry(audit_kind::attempt, "a"),
                    [seen = witness{elsewhere}, &told](const result<void>&) { ++told; });
    CHECK(w.loop.run_until([&] { return told == 20; }, hang_guard));
    w.log.reset();
    CHECK(elsewhere == 0);
  }

  TEST_CASE("§205 a clock that was set forward made every entry too old") {
    using std::chrono::days;
    std::atomic<audit_time> time{audit_time{days{20'000}}};
    world w;
    w.wall_clock = [&] { return time.load(); };
    w.open();
    REQUIRE(w.record(entry(audit_kind::request, "a")));
    w.log.reset();
    time = audit_time{days{20'001}};
    w.open();
    REQUIRE(w.record(entry(audit_kind::request, "b")));
    time = audit_time{days{30'000}};
    for (int i = 0; i < 2'500; ++i) // what is too old is looked for after so many
      w.log->record(entry(audit_kind::request, "c"), {});
    REQUIRE(w.record(entry(audit_kind::attempt, "d")));
    w.log.reset();
    CHECK(w.calls().size() == 2'503);
    CHECK(w.calls().front() == "request a");
  }
}
