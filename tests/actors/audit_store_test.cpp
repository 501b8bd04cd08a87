#include "actors/audit/audit_store.hpp"

#include "tests/support/temp_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gatehouse;
using namespace gatehouse::actors;
using namespace std::chrono_literals;

namespace {

using mode = audit_store::mode;

audit_time at(int seconds) {
  return audit_time{std::chrono::seconds{seconds}};
}

audit_store::draft entry(std::string call, std::string body = "{}", int seconds = 1) {
  return {at(seconds), {audit_kind::request, "s", "t", std::move(call), 0, std::move(body)}};
}

std::unique_ptr<audit_store> opened(const std::string& path, mode how = mode::write) {
  auto store = audit_store::open(path, how);
  if (!store) FAIL(to_string(store.error()));
  return *std::move(store);
}

std::vector<audit_entry> all_of(audit_store& store, const audit_filter& which = {}) {
  std::vector<audit_entry> found;
  REQUIRE(store.read(which, [&](const audit_entry& e) {
    found.push_back(e);
    return true;
  }));
  return found;
}

/// Somebody changes the file behind our back.
void tamper(const std::string& path, const char* sql) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(db);
}

std::vector<std::string> faults_of(const std::string& path, const std::string& known = {}) {
  const auto verdict = opened(path, mode::read)->verify(known);
  REQUIRE(verdict);
  return verdict->faults;
}

/// Another program, which does `step` (a number that counts from 0) whenever it is told. Made
/// before this one opens anything: SQLite's connections do not outlive a fork.
class other_program {
public:
  template <class F>
  explicit other_program(F step) {
    REQUIRE(::pipe(to_) == 0);
    REQUIRE(::pipe(from_) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ != 0) return;
    ::close(to_[1]);
    char byte = 0;
    for (int i = 0; ::read(to_[0], &byte, 1) == 1; ++i) {
      byte = step(i) ? 'y' : 'n';
      if (::write(from_[1], &byte, 1) != 1) break;
    }
    ::_exit(0);
  }
  ~other_program() {
    for (const int fd : {to_[0], to_[1], from_[0], from_[1]})
      ::close(fd);
    ::waitpid(pid_, nullptr, 0);
  }
  other_program(const other_program&) = delete;
  other_program& operator=(const other_program&) = delete;
  bool does_step() {
    char byte = 0;
    return ::write(to_[1], "x", 1) == 1 && ::read(from_[0], &byte, 1) == 1 && byte == 'y';
  }

private:
  int to_[2] = {-1, -1};
  int from_[2] = {-1, -1};
  pid_t pid_ = -1;
};

} // namespace

TEST_SUITE("actors.audit_store") {
  TEST_CASE("§205 entries stand in order, chained, and for this user alone") {
    const tests::temp_folder folder;
    const auto path = folder / "state/audit/audit.db";
    {
      const auto store = opened(path);
      const std::vector<audit_store::draft> two = {entry("a", R"({"x":1})"), entry("b")};
      REQUIRE(store->append(two));
      REQUIRE(store->append({&two[0], 1}));
    }
    struct stat about {};
    REQUIRE(::stat(path.c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0600);
    REQUIRE(::stat((folder / "state/audit").c_str(), &about) == 0);
    CHECK((about.st_mode & 0777) == 0700);
    const auto store = opened(path, mode::read);
    const auto found = all_of(*store);
    REQUIRE(found.size() == 3);
    CHECK(found[0].seq == 1);
    CHECK(found[0].call == "a");
    CHECK(found[0].kind == "request");
    CHECK(found[0].body == R"({"x":1})");
    CHECK(found[2].seq == 3);
    CHECK(found[0].hash != found[2].hash);
    CHECK(all_of(*store, {.call = "a"}).size() == 2);
    CHECK(all_of(*store, {.kind = "review"}).empty());
    CHECK(all_of(*store, {.limit = 1})[0].seq == 3);
    const auto verdict = store->verify();
    REQUIRE(verdict);
    CHECK(verdict->faults.empty());
    CHECK(verdict->last == 3);
    CHECK(verdict->head == found[2].hash);
    CHECK(faults_of(path, "2:" + found[1].hash).empty());
    CHECK_FALSE(faults_of(path, "2:" + found[0].hash).empty());
  }

  TEST_CASE("§205 the chain shows a changed, a removed and a cut entry") {
    for (const auto* sql :
         {"UPDATE entry SET body = '{}' WHERE seq = 2", "UPDATE entry SET time = 5 WHERE seq = 1",
          "DELETE FROM entry WHERE seq = 2", "DELETE FROM entry WHERE seq = 4",
          "DELETE FROM entry WHERE seq = 1", "UPDATE chain SET head_seq = 3",
          "UPDATE entry SET call = 'c' , session = '' WHERE seq = 3"}) {
      const tests::temp_folder folder;
      const auto path = folder / "a.db";
      const std::vector<audit_store::draft> four = {
          entry("a", R"({"x":1})"), entry("b", R"({"x":2})"), entry("c"), entry("d")};
      REQUIRE(opened(path)->append(four));
      CHECK(faults_of(path).empty());
      tamper(path, sql);
      CHECK_MESSAGE(faults_of(path).size() == 1, sql);
    }
  }

  TEST_CASE("§205 nothing is added to an audit whose newest entries are missing") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    const auto one = entry("a");
    REQUIRE(opened(path)->append({&one, 1}));
    tamper(path, "DELETE FROM entry");
    const auto added = opened(path)->append({&one, 1});
    REQUIRE_FALSE(added);
    CHECK(added.error().code == errc::invalid_config);
  }

  TEST_CASE("§205 a reader ended the program whose audit had been moved") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    other_program reader{[&](int) {
      const auto other = audit_store::open(path, mode::read);
      return other && (*other)->read({}, [](const audit_entry&) { return true; });
    }};
    const auto store = opened(path);
    const std::vector<audit_store::draft> first = {entry("a"), entry("b")};
    REQUIRE(store->append(first));
    CHECK_FALSE(store->is_moved());
    std::filesystem::rename(path, folder / "kept.db");
    REQUIRE(store->is_moved());
    const auto told = store->renew();
    if (!told) FAIL(to_string(told.error()));
    CHECK(told->what.find("was moved or removed") != std::string::npos);
    CHECK(told->next == "What it knew stands in the file that was moved.");
    for (int i = 0; i < 5; ++i) {
      const std::vector<audit_store::draft> one = {entry("new")};
      REQUIRE(store->append(one));
      // The end of another program's use cut the -shm that was mapped here.
      CHECK(reader.does_step());
    }
    CHECK_FALSE(store->is_moved());
    CHECK(all_of(*store).size() == 5);
    // The database alone, without any file beside it.
    CHECK(all_of(*opened(folder / "kept.db", mode::read)).size() == 2);
    CHECK(faults_of(folder / "kept.db").empty());
    CHECK(faults_of(path).empty());
  }

  TEST_CASE("§205 a -shm that was cut ended the program that had it open") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    const auto store = opened(path);
    const std::vector<audit_store::draft> one = {entry("a")};
    REQUIRE(store->append(one));
    std::filesystem::resize_file(path + "-shm", 0);
    REQUIRE(store->is_moved());
    REQUIRE(store->renew());
    REQUIRE(store->append(one));
    CHECK(all_of(*store).size() == 2);
    CHECK(faults_of(path).empty());
  }

  TEST_CASE("§205 an older -wal that was put back took back what was written since") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    const auto store = opened(path);
    const std::vector<audit_store::draft> one = {entry("a")};
    REQUIRE(store->append(one));
    std::filesystem::copy_file(path + "-wal", folder / "older");
    REQUIRE(store->append(one));
    std::filesystem::rename(folder / "older", path + "-wal");
    REQUIRE(store->is_moved());
    const auto told = store->renew();
    REQUIRE(told);
    CHECK(told->put_aside == path + "-wal.left");
    CHECK(std::filesystem::file_size(told->put_aside) > 0);
    REQUIRE(store->append(one));
    CHECK(all_of(*store).size() == 3);
    CHECK(faults_of(path).empty());
  }

  TEST_CASE("§205 the newest entries of an audit that was moved alone were thrown away") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    const std::vector<audit_store::draft> one = {entry("a")};
    REQUIRE(opened(path)->append(one));
    std::filesystem::rename(path, folder / "kept.db");
    REQUIRE(opened(path)->append(one));
    CHECK(std::filesystem::exists(path + "-wal.left"));
    std::filesystem::rename(path + "-wal.left", folder / "kept.db-wal");
    CHECK(all_of(*opened(folder / "kept.db", mode::read)).size() == 1);
    CHECK(all_of(*opened(path, mode::read)).size() == 1);
  }

  TEST_CASE("§205 two programs lost what either knew when the files beside their audit went") {
    for (const std::string gone : {"-wal", "-shm", "both"}) {
      CAPTURE(gone);
      const tests::temp_folder folder;
      const auto path = folder / "a.db";
      const std::vector<audit_store::draft> one = {entry("a")};
      std::unique_ptr<audit_store> theirs;
      other_program other{[&](int step) {
        if (step == 0) theirs = opened(path);
        if (theirs->is_moved() && !theirs->renew()) return false;
        return theirs->append(one).has_value();
      }};
      const auto store = opened(path);
      const auto append = [&] {
        if (store->is_moved()) REQUIRE(store->renew());
        REQUIRE(store->append(one));
      };
      append();
      REQUIRE(other.does_step());
      for (const std::string end : {"-wal", "-shm"})
        if (gone == end || gone == "both") std::filesystem::remove(path + end);
      REQUIRE(store->is_moved());
      for (int i = 0; i < 3; ++i) {
        append();
        CHECK(other.does_step());
      }
      CHECK(all_of(*store).size() == 8);
      CHECK(faults_of(path).empty());
    }
  }

  TEST_CASE("§205 a damaged file is told and left as it is") {
    const tests::temp_folder folder;
    const auto path = folder.write("a.db", "this is no database, but it is what somebody has\n" +
                                               std::string(5000, 'x'));
    const auto before = folder.read("a.db");
    for (const auto how : {mode::write, mode::read}) {
      const auto store = audit_store::open(path, how);
      REQUIRE_FALSE(store);
      CHECK(store.error().code == errc::invalid_config);
      CHECK(store.error().message.find("damaged") != std::string::npos);
      CHECK(store.error().message.find(path) != std::string::npos);
    }
    CHECK(folder.read("a.db") == before);
    tamper(folder / "other.db", "CREATE TABLE mine(x)");
    const auto other = audit_store::open(folder / "other.db", mode::write);
    REQUIRE_FALSE(other);
    CHECK(other.error().message.find("no audit of Gatehouse") != std::string::npos);
  }

  TEST_CASE("§205 pages that were overwritten are found, not read over") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    std::vector<audit_store::draft> many;
    for (int i = 0; i < 500; ++i)
      many.push_back(
          entry("call-" + std::to_string(i), "{\"x\":\"" + std::string(200, 'y') + "\"}"));
    REQUIRE(opened(path)->append(many));
    tamper(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    auto bytes = folder.read("a.db");
    for (std::size_t at = 4096 * 6; at < bytes.size() && at < 4096 * 20; ++at)
      bytes[at] = static_cast<char>(at * 7);
    folder.write("a.db", bytes);
    auto store = audit_store::open(path, mode::read);
    const auto verdict = store ? (*store)->verify() : result<audit_verdict>{store.error()};
    CHECK((!verdict || !verdict->faults.empty()));
  }

  TEST_CASE("§205 a folder that cannot be written is an error before anything runs") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    tests::temp_folder unused;
    folder.write("file", "");
    const auto below_a_file = audit_store::open(folder / "file/audit.db", mode::write);
    REQUIRE_FALSE(below_a_file);
    CHECK(below_a_file.error().code == errc::io);
    const auto missing = audit_store::open(path, mode::read);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == errc::not_found);
    // Whoever made the file was ended before it was an audit.
    const auto cut = audit_store::open(folder.write("cut.db", ""), mode::read);
    REQUIRE_FALSE(cut);
    CHECK(cut.error().code == errc::not_found);
    // An emptied one was told as if nothing had ever run.
    CHECK(cut.error().message.ends_with("cut.db is empty"));
    REQUIRE(opened(folder / "cut.db")->append({}));
    CHECK(faults_of(folder / "cut.db").empty());
  }

  TEST_CASE("§205 a full disk fails the whole commit and the audit stays whole") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    // A limit on the size of files, in a child, is as good as a full disk.
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const auto store = opened(path);
      const rlimit limit{200'000, 200'000};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      const auto big = entry("big", "{\"x\":\"" + std::string(50'000, 'y') + "\"}");
      int written = 0;
      while (written < 100 && store->append({&big, 1}))
        ++written;
      const auto again = store->append({&big, 1});
      ::_exit(written > 0 && written < 100 && !again && again.error().code == errc::io ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(faults_of(path).empty());
    const auto one = entry("after");
    CHECK(opened(path)->append({&one, 1}));
    CHECK(faults_of(path).empty());
  }

  TEST_CASE("§205 kill -9 at any moment loses nothing that was acknowledged") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    std::int64_t least = 0;
    for (int round = 0; round < 20; ++round) {
      int told[2];
      REQUIRE(::pipe(told) == 0);
      const pid_t child = ::fork();
      if (child == 0) {
        ::close(told[0]);
        const auto store = opened(path);
        for (;;) {
          const auto one = entry("x", "{\"x\":\"" + std::string(300, 'y') + "\"}");
          if (!store->append({&one, 1})) ::_exit(1);
          if (::write(told[1], "x", 1) != 1) ::_exit(1);
        }
      }
      ::close(told[1]);
      const int wanted = 1 + round * 3;
      char c = 0;
      for (int i = 0; i < wanted; ++i)
        REQUIRE(::read(told[0], &c, 1) == 1);
      ::kill(child, SIGKILL);
      int status = 0;
      ::waitpid(child, &status, 0);
      CHECK(WIFSIGNALED(status));
      while (::read(told[0], &c, 1) == 1)
        ++least;
      ::close(told[0]);
      least += wanted;
    }
    const auto verdict = opened(path, mode::read)->verify();
    REQUIRE(verdict);
    CHECK(verdict->faults.empty());
    CHECK(verdict->last >= least);
    CHECK(verdict->last <= least + 20); // one may have been written and not told, each time
  }

  TEST_CASE("§205 several programs write one chain") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        const auto store = opened(path); // also made by one of them, whoever comes first
        for (int n = 0; n < 50; ++n) {
          const auto one = entry("c" + std::to_string(i));
          if (!store->append({&one, 1})) ::_exit(1);
        }
        ::_exit(0);
      }
      children.push_back(child);
    }
    for (const auto child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      CHECK(status == 0);
    }
    const auto verdict = opened(path, mode::read)->verify();
    REQUIRE(verdict);
    CHECK(verdict->faults.empty());
    CHECK(verdict->last == 200);
  }

  TEST_CASE("§205 the second of two that made one audit at once took it for another file") {
    const tests::temp_folder folder;
    for (int round = 0; round < 60; ++round) {
      const auto path = folder / (std::to_string(round) + ".db");
      int start[2];
      REQUIRE(::pipe(start) == 0);
      std::vector<pid_t> children;
      for (int i = 0; i < 4; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
          ::close(start[1]);
          char c = 0;
          (void)!::read(start[0], &c, 1); // ends for all of them at once
          const auto made = audit_store::open(path, mode::write);
          if (!made) ::dprintf(STDERR_FILENO, "%s\n", to_string(made.error()).c_str());
          ::_exit(made ? 0 : 1);
        }
        children.push_back(child);
      }
      ::close(start[0]);
      ::close(start[1]);
      for (const auto child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
      }
    }
  }

  TEST_CASE("§205 programs that take out the oldest at once were in each other's way") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    (void)opened(path);
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        const auto store = opened(path);
        const audit_retention keep{std::chrono::days{1}, 100'000};
        for (int n = 1; n < 60; ++n) {
          const auto one = entry("c", "{\"x\":\"" + std::string(5000, 'y') + "\"}", n * 40'000);
          if (!store->append({&one, 1})) ::_exit(1);
          if (!store->prune(keep, at(n * 40'000))) ::_exit(2);
        }
        ::_exit(0);
      }
      children.push_back(child);
    }
    for (const auto child : children) {
      int status = 0;
      ::waitpid(child, &status, 0);
      CHECK(status == 0);
    }
    CHECK(faults_of(path).empty());
    CHECK(std::filesystem::file_size(path) < 1'000'000);
  }

  TEST_CASE("§205 retention takes out the oldest and the chain still holds") {
    const tests::temp_folder folder;
    const auto path = folder / "a.db";
    const auto store = opened(path);
    std::vector<audit_store::draft> many;
    for (int i = 0; i < 100; ++i)
      many.push_back(entry("c", "{\"x\":\"" + std::string(2000, 'y') + "\"}", i * 86'400));
    REQUIRE(store->append(many));
    audit_retention keep{std::chrono::days{10}, 0};
    REQUIRE(store->prune(keep, at(99 * 86'400)));
    auto left = all_of(*store);
    REQUIRE(left.size() == 12);
    CHECK(left.front().seq == 90);
    CHECK(left.back().kind == "pruned");
    CHECK(left.back().body == R"({"from":1,"to":89})");
    CHECK(faults_of(path).empty());
    keep = {std::chrono::days{0}, 20'000};
    REQUIRE(store->prune(keep, at(99 * 86'400)));
    CHECK(all_of(*store).size() < 12);
    CHECK(faults_of(path).empty());
    keep = {std::chrono::days{0}, 0};
    const auto before = all_of(*store).size();
    REQUIRE(store->prune(keep, at(999 * 86'400)));
    CHECK(all_of(*store).size() == before);
    keep = {std::chrono::days{1}, 0};
    REQUIRE(store->prune(keep, at(9999 * 86'400)));
    CHECK(all_of(*store).size() == 1);
    CHECK(faults_of(path).empty());
    tamper(path, "UPDATE chain SET pruned_hash = zeroblob(32)");
    CHECK_FALSE(faults_of(path).empty());
  }

  TEST_CASE("§205 a long history was taken out in one go, and every call waited for it") {
    const tests::temp_folder folder;
    const auto store = opened(folder / "a.db");
    std::vector<audit_store::draft> many;
    for (int i = 0; i < 3500; ++i)
      many.push_back(entry("c", "{}", i < 2500 ? 1 : 9 * 86'400));
    REQUIRE(store->append(many));
    const audit_retention a_day{std::chrono::days{1}, 0};
    std::vector<std::size_t> left;
    for (bool more = true; more;) {
      const auto done = store->prune(a_day, at(9 * 86'400));
      REQUIRE(done);
      more = *done;
      left.push_back(all_of(*store).size());
    }
    CHECK(left == std::vector<std::size_t>{3001, 2502, 2003, 1504, 1005,
                                           1005}); // each step leaves an entry
    const auto again = store->prune(a_day, at(9 * 86'400));
    REQUIRE(again);
    CHECK_FALSE(*again);
    CHECK(faults_of(folder / "a.db").empty());
  }

  TEST_CASE("§205 above its size the oldest quarter goes, in steps, however small the limit") {
    const tests::temp_folder folder;
    const auto store = opened(folder / "a.db");
    std::vector<audit_store::draft> many;
    for (int i = 0; i < 8000; ++i)
      many.push_back(entry("c", "{\"x\":\"" + std::string(300, 'y') + "\"}"));
    REQUIRE(store->append(many));
    int steps = 0;
    for (bool more = true; more; ++steps) {
      const auto done = store->prune({std::chrono::days{0}, 1}, at(2));
      REQUIRE(done);
      more = *done;
    }
    CHECK(steps == 4);
    const auto left = all_of(*store);
    CHECK(left.front().seq == 2001);
    CHECK(left.back().kind == "pruned");
    CHECK(left.back().body == R"({"from":1501,"to":2000})");
    CHECK(faults_of(folder / "a.db").empty());
  }
}
