#include "actors/audit/audit_store_state.hpp"
#include "protocol/hex.hpp"

#include <cstring>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace gatehouse::actors {
namespace {

constexpr int application_id = 0x47544841; // "GTHA"
constexpr int schema_version = 1;
constexpr int retry_ms = 5;
constexpr int lock_wait_ms = 10'000;
constexpr const char* schema = R"(
CREATE TABLE entry(
  seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, kind TEXT NOT NULL, session TEXT NOT NULL,
  turn TEXT NOT NULL, call TEXT NOT NULL, attempt INTEGER NOT NULL, body TEXT NOT NULL,
  hash BLOB NOT NULL) STRICT;
CREATE INDEX entry_call ON entry(call);
CREATE TABLE chain(
  one INTEGER PRIMARY KEY CHECK(one = 1), pruned_seq INTEGER NOT NULL, pruned_hash BLOB NOT NULL,
  head_seq INTEGER NOT NULL, head_hash BLOB NOT NULL) STRICT;
INSERT INTO chain VALUES(1, 0, zeroblob(32), 0, zeroblob(32));
)";

error nothing_at(const std::string& path) {
  return {errc::not_found, "there is no audit at " + path, "Nothing has run here yet."};
}

} // namespace

void audit_store::impl::close() {
  for (auto* one : {&begin, &commit, &rollback, &read_head, &insert, &move_head})
    *one = {};
  sqlite3_close(db);
  db = nullptr;
}

error audit_store::impl::damaged(const std::string& what) const {
  return {errc::invalid_config, "the audit " + path + " is damaged: " + what,
          "Nothing was changed in it. Keep it: move it to another folder with its -wal file to "
          "begin a new one, and see docs/audit.md for what can be read of it."};
}

error audit_store::impl::failed(const std::string& what, int code) const {
  const int primary = code & 0xff;
  const std::string why = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) return damaged(why);
  auto remedy = std::string{
      "Check the folder's owner, mode and free space, and that it is mounted for writing."};
  if (primary == SQLITE_BUSY)
    remedy = "Another program holds it for long; find it with `fuser " + path + "`.";
  const auto number = db ? sqlite3_system_errno(db) : 0;
  return {errc::io,
          "the audit " + path + " cannot be " + what + ": " + why +
              (number != 0 ? std::string{" ("} + std::strerror(number) + ")" : std::string{}),
          std::move(remedy)};
}

result<void> audit_store::impl::make_tables() {
  const auto begin_making = [this] {
    return execute("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; BEGIN IMMEDIATE");
  };
  int code = begin_making();
  // Going over to the log waits for nobody, unlike all else.
  for (int waited = 0; (code & 0xff) == SQLITE_BUSY && waited < lock_wait_ms;) {
    waited += sqlite3_sleep(retry_ms);
    code = begin_making();
  }
  if (code != SQLITE_OK) return failed("made", code);
  // Another program may have come first.
  if (value("PRAGMA application_id", code) == 0 && code == SQLITE_OK) {
    code = execute(schema);
    const auto mark = "PRAGMA application_id=" + std::to_string(application_id) +
                      "; PRAGMA user_version=" + std::to_string(schema_version);
    if (code == SQLITE_OK) code = execute(mark.c_str());
  }
  if (code == SQLITE_OK) code = execute("COMMIT");
  if (code == SQLITE_OK) return {};
  const auto why = failed("made", code);
  execute("ROLLBACK");
  return why;
}

result<void> audit_store::impl::prepare(mode how) {
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, lock_wait_ms);
  // `gatehouse run` ends often and should not copy the log each time; readers need no checkpoint.
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  int code = SQLITE_OK;
  // In this order: who makes it meanwhile commits both at once.
  const auto tables = value("SELECT count(*) FROM sqlite_schema", code);
  if (code != SQLITE_OK) return failed("read", code);
  const auto id = value("PRAGMA application_id", code);
  if (code != SQLITE_OK) return failed("read", code);
  if (id == 0 && tables == 0) { // new, or whoever made it was ended before it was one
    if (how == mode::read)
      return error{errc::not_found, "the audit " + path + " is empty",
                   "Nothing was recorded in it before its program ended, or somebody has emptied "
                   "it: look for a copy, and for a file beside it whose name goes on with -wal."};
    if (auto made = make_tables(); !made) return made;
  } else if (id != application_id) {
    return error{errc::invalid_config, path + " is no audit of Gatehouse",
                 "Nothing was changed in it. Move it away to begin an audit."};
  }
  const auto version = value("PRAGMA user_version", code);
  if (code != SQLITE_OK) return failed("read", code);
  if (version != schema_version)
    return error{errc::invalid_config,
                 "the audit " + path + " has version " + std::to_string(version) +
                     ", which this program does not know",
                 "Use the program that wrote it."};
  read_head = {db, "SELECT head_seq, head_hash, ifnull((SELECT max(seq) FROM entry), pruned_seq) "
                   "FROM chain"};
  if (how == mode::read) return {};
  begin = {db, "BEGIN IMMEDIATE"};
  commit = {db, "COMMIT"};
  rollback = {db, "ROLLBACK"};
  insert = {db, "INSERT INTO entry VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"};
  move_head = {db, "UPDATE chain SET head_seq = ?1, head_hash = ?2"};
  // Nothing may run before it can be told, so a store that cannot be written is none.
  code = begin.run();
  if (code == SQLITE_OK) code = execute("UPDATE chain SET head_seq = head_seq");
  auto why = code == SQLITE_OK ? result<void>{} : failed("written", code);
  rollback.run();
  return why;
}

int audit_store::impl::flush_commits(bool wanted) {
  if (flushes == wanted) return SQLITE_OK;
  const int code = execute(wanted ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  if (code == SQLITE_OK) flushes = wanted;
  return code;
}

result<std::unique_ptr<audit_store>> audit_store::open(const std::string& path, mode how) {
  auto state = std::make_unique<impl>();
  state->path = path;
  struct stat about {};
  const bool there = ::lstat(path.c_str(), &about) == 0;
  if (!there && how == mode::read) return nothing_at(path);
  if (there && (!S_ISREG(about.st_mode) || about.st_uid != ::geteuid()))
    return error{errc::invalid_config, path + " is no regular file of this user", {}};
  if (!there) {
    auto made = begin_audit_file(path);
    if (!made) return made.error();
    state->left.put_aside = *std::move(made);
  }
  const int code = sqlite3_open_v2(
      path.c_str(), &state->db,
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW |
          (how == mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE),
      nullptr);
  auto ready = code == SQLITE_OK ? state->prepare(how) : state->failed("opened", code);
  if (!ready) return ready.error();
  if (how == mode::write) state->remember_files();
  return std::unique_ptr<audit_store>{new audit_store{std::move(state)}};
}

audit_store::audit_store(std::unique_ptr<impl> state) : impl_{std::move(state)} {}
audit_store::~audit_store() = default;

result<chain_head> audit_store::impl::current_head() {
  const int code = read_head.step();
  chain_head now;
  bool agree = false;
  if (code == SQLITE_ROW) {
    now = {read_head.number(0), read_head.hash(1)};
    agree = now.seq == read_head.number(2);
  }
  read_head.reset();
  if (code == SQLITE_DONE) return damaged("the head of its chain is missing");
  if (code != SQLITE_ROW) return failed("read", code);
  if (!agree) return damaged("its newest entries are missing");
  return now;
}

result<void> audit_store::impl::write(std::span<const draft> entries) {
  auto now = current_head();
  if (!now) return now.error();
  for (const auto& one : entries) {
    audit_entry e;
    e.seq = now->seq + 1;
    e.time = one.time;
    e.kind = to_string(one.entry.kind);
    e.session = one.entry.session;
    e.turn = one.entry.turn;
    e.call = one.entry.call;
    e.attempt = one.entry.attempt;
    e.body = one.entry.body;
    *now = {e.seq, hash_of(now->hash, e)};
    insert.bind(1, e.seq);
    insert.bind(2, static_cast<std::int64_t>(e.time.time_since_epoch().count()));
    insert.bind(3, e.kind);
    insert.bind(4, e.session);
    insert.bind(5, e.turn);
    insert.bind(6, e.call);
    insert.bind(7, std::int64_t{e.attempt});
    insert.bind(8, e.body);
    insert.bind(9, now->hash);
    if (const int code = insert.run(); code != SQLITE_OK) return failed("written", code);
  }
  move_head.bind(1, now->seq);
  move_head.bind(2, now->hash);
  if (const int code = move_head.run(); code != SQLITE_OK) return failed("written", code);
  return {};
}

result<void> audit_store::append(std::span<const draft> entries, bool flush) {
  auto& s = *impl_;
  if (const int code = s.flush_commits(flush); code != SQLITE_OK) return s.failed("written", code);
  if (const int code = s.begin.run(); code != SQLITE_OK) return s.failed("written", code);
  auto written = s.write(entries);
  if (written)
    if (const int code = s.commit.run(); code != SQLITE_OK) written = s.failed("written", code);
  if (!written && sqlite3_get_autocommit(s.db) == 0) s.rollback.run();
  return written;
}

void audit_store::impl::read_entry(const statement& row, audit_entry& out) const {
  out.seq = row.number(0);
  out.time = audit_time{std::chrono::microseconds{row.number(1)}};
  out.kind = row.text(2);
  out.session = row.text(3);
  out.turn = row.text(4);
  out.call = row.text(5);
  out.attempt = static_cast<int>(row.number(6));
  out.body = row.text(7);
  const auto hash = row.hash(8);
  out.hash = to_hex(hash);
}

result<void> audit_store::read(const audit_filter& which,
                               const std::function<bool(const audit_entry&)>& take) {
  auto& s = *impl_;
  // Conditions that are not asked for are left out, so that a call is found by its index. The
  // newest come first out of the inner query, so that a limit keeps them.
  std::string sql = "SELECT * FROM (SELECT * FROM entry WHERE time >= ?1 AND time <= ?2 "
                    "AND seq >= ?3";
  if (!which.session.empty()) sql += " AND session = ?4";
  if (!which.call.empty()) sql += " AND call = ?5";
  if (!which.kind.empty()) sql += " AND kind = ?6";
  sql += " ORDER BY seq DESC LIMIT ?7) ORDER BY seq";
  statement rows{s.db, sql.c_str()};
  const auto micros = [](const std::optional<audit_time>& at, std::int64_t other) {
    return at ? static_cast<std::int64_t>(at->time_since_epoch().count()) : other;
  };
  rows.bind(1, micros(which.since, INT64_MIN));
  rows.bind(2, micros(which.until, INT64_MAX));
  rows.bind(3, which.first);
  rows.bind(4, which.session);
  rows.bind(5, which.call);
  rows.bind(6, which.kind);
  rows.bind(7, which.limit > 0 ? which.limit : std::int64_t{-1});
  audit_entry entry;
  for (;;) {
    const int code = rows.step();
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return s.failed("read", code);
    s.read_entry(rows, entry);
    if (!take(entry)) return {};
  }
}

result<audit_verdict> audit_store::verify(const std::string& known) {
  auto& s = *impl_;
  audit_verdict out;
  const auto fault = [&](std::string what) {
    if (out.faults.size() < 20) out.faults.push_back(std::move(what));
  };
  if (const int code = s.execute("BEGIN"); code != SQLITE_OK) return s.failed("read", code);
  const auto looked = [&]() -> result<void> {
    statement check{s.db, "PRAGMA quick_check(5)"};
    int code = SQLITE_OK;
    while ((code = check.step()) == SQLITE_ROW)
      if (const auto said = check.text(0); said != "ok") fault("the file: " + said);
    if (code != SQLITE_DONE) return s.failed("read", code);
    statement chain{s.db, "SELECT pruned_seq, pruned_hash, head_seq, head_hash FROM chain"};
    if (chain.step() != SQLITE_ROW) return s.damaged("the head of its chain is missing");
    auto seq = chain.number(0);
    auto hash = chain.hash(1);
    bool met = known.empty() || known == std::to_string(seq) + ":" + to_hex(hash);
    statement rows{s.db, "SELECT * FROM entry ORDER BY seq"};
    audit_entry e;
    while ((code = rows.step()) == SQLITE_ROW) {
      s.read_entry(rows, e);
      if (e.seq != ++seq) {
        fault("entries " + std::to_string(seq) + " to " + std::to_string(e.seq - 1) +
              " are missing");
        seq = e.seq;
      } else if (hash = hash_of(hash, e); to_hex(hash) != e.hash) {
        fault("entry " + std::to_string(e.seq) + " is not what was written");
      }
      hash = rows.hash(8); // from here on what stands, so that one fault is told once
      if (out.first == 0) out.first = e.seq;
      met = met || known == std::to_string(e.seq) + ":" + e.hash;
    }
    if (code != SQLITE_DONE) return s.failed("read", code);
    if (seq != chain.number(2) || hash != chain.hash(3))
      fault("the newest entries are missing: " + std::to_string(chain.number(2)) +
            " were written, " + std::to_string(seq) + " is the last");
    if (!met) fault("the known entry " + known + " does not stand");
    out.last = out.first == 0 ? 0 : seq;
    out.head = to_hex(hash);
    return {};
  }();
  s.execute("COMMIT");
  if (!looked) return looked.error();
  return out;
}

} // namespace gatehouse::actors
