#pragma once

#include "actors/audit/audit_chain.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

namespace gatehouse::actors {

/// One prepared statement, finalized at its end; reused by `run` and `reset`. One thread at a time.
class statement {
public:
  statement() = default;
  statement(sqlite3* db, const char* sql) {
    code_ = sqlite3_prepare_v2(db, sql, -1, &handle_, nullptr);
  }
  statement(statement&& other) noexcept
      : handle_{std::exchange(other.handle_, nullptr)}, code_{other.code_} {}
  statement& operator=(statement&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(code_, other.code_);
    return *this;
  }
  ~statement() { sqlite3_finalize(handle_); }

  void bind(int at, std::int64_t number) { sqlite3_bind_int64(handle_, at, number); }
  void bind(int at, std::string_view text) {
    sqlite3_bind_text64(handle_, at, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  void bind(int at, const chain_hash& hash) {
    sqlite3_bind_blob64(handle_, at, hash.data(), hash.size(), SQLITE_TRANSIENT);
  }
  /// SQLITE_ROW, SQLITE_DONE, or what went wrong.
  int step() { return code_ == SQLITE_OK ? sqlite3_step(handle_) : code_; }
  /// For a statement without rows: 0, or what went wrong.
  int run() {
    const int code = step();
    sqlite3_reset(handle_);
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
  }
  void reset() { sqlite3_reset(handle_); }
  [[nodiscard]] std::int64_t number(int column) const {
    return sqlite3_column_int64(handle_, column);
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(handle_, column));
    return bytes
               ? std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column)))
               : std::string{};
  }
  [[nodiscard]] chain_hash hash(int column) const {
    chain_hash out{};
    const auto bytes = text(column);
    if (bytes.size() == out.size()) std::memcpy(out.data(), bytes.data(), out.size());
    return out;
  }

private:
  sqlite3_stmt* handle_ = nullptr;
  int code_ = SQLITE_OK;
};

} // namespace gatehouse::actors
