#pragma once

#include "actors/audit/audit_chain.hpp"
#include "actors/audit/audit_files.hpp"
#include "actors/audit/audit_store.hpp"
#include "actors/audit/sqlite_statement.hpp"
#include "config/private_file.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace gatehouse::actors {

struct chain_head {
  std::int64_t seq = 0;
  chain_hash hash{};
};

/// What a store has open, for the files that make up audit_store and for nobody else: audit_store
/// (opens, writes, reads, verifies), audit_pruning and audit_renewal.
struct audit_store::impl {
  std::string path;
  sqlite3* db = nullptr;
  std::optional<bool> flushes;
  std::int64_t prune_to = 0; ///< what is beyond the size is taken out up to here; 0: not begun
  statement begin, commit, rollback, read_head, insert, move_head;
  audit_files files;    ///< what was opened for writing
  renewal left;         ///< what is to be told of it when it was given up
  bool cleared = false; ///< then, of what stands beside it
  // Of the database and its -shm. O_PATH: the end of any other descriptor would end SQLite's locks.
  std::optional<config::descriptor> database_open, shm_open;

  ~impl() { close(); }
  void close();

  // When files are moved (audit_renewal.cpp).
  void remember_files();
  [[nodiscard]] bool shm_is_cut() const;
  std::string save(const audit_files& now);
  void leave();

  [[nodiscard]] error damaged(const std::string& what) const;
  [[nodiscard]] error failed(const std::string& what, int code) const;
  int execute(const char* sql) { return sqlite3_exec(db, sql, nullptr, nullptr, nullptr); }
  std::int64_t value(const char* sql, int& code) {
    statement ask{db, sql};
    code = ask.step();
    if (code != SQLITE_ROW) return 0;
    code = SQLITE_OK;
    return ask.number(0);
  }

  result<void> prepare(mode how);
  int flush_commits(bool wanted);
  result<void> make_tables();
  result<chain_head> current_head();
  result<void> write(std::span<const draft> entries);
  struct step_of_pruning {
    std::int64_t from = 0, to = 0; ///< `to` is 0: nothing is beyond the limits
    bool last = true;
  };
  result<step_of_pruning> next_step(const audit_retention& keep, audit_time now);
  void read_entry(const statement& row, audit_entry& out) const;
};

} // namespace gatehouse::actors
