#pragma once

#include "protocol/result.hpp"
#include "protocol/rpc/app_types.hpp"
#include "protocol/rpc/batch_types.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::cli {

/// How an item stands that a journal knows.
struct journal_entry {
  bool finished = false; ///< false: it had started when the run was cut
  std::string call_id;
  rpc::app::call_status status = rpc::app::call_status::failed;
  std::string result; ///< JSON
};

/// Whether a batch may begin: a run that was cut must not begin again because a name was mistyped.
enum class journal_wish : std::uint8_t { begin_or_go_on, go_on };

/// What a journal belongs to.
struct journal_owner {
  std::string input; ///< fingerprint
  std::size_t items = 0;
  rpc::batch::journal_place place;
};

/// Where links lead, but for the last component of `path`, which must be none; absolute.
std::string real_place(const std::string& path);

/// The names by which calls must not reach a journal or work folder: `real_place`, and `path` as it
/// is given, whose links must not come to lead elsewhere.
std::vector<std::string> names_of_place(const std::string& path);

/// What a batch has done, on disk before the effect (a start) or before it is told (an end), so
/// that a run that was cut at any moment can go on without running a finished item again (§202).
class batch_journal {
public:
  /// Opens or makes `path` for this run. A journal of another input or of calls elsewhere, a file
  /// that is none, and no file where one is to be gone on with, are errc::invalid_request and left
  /// as they are; one that another run holds, or that cannot be read or written, errc::io. A last
  /// line that was cut is dropped.
  static result<std::unique_ptr<batch_journal>> open(const std::string& path, journal_wish wish,
                                                     const journal_owner& owner);
  ~batch_journal();
  batch_journal(const batch_journal&) = delete;
  batch_journal& operator=(const batch_journal&) = delete;

  /// By index.
  [[nodiscard]] const std::map<std::int64_t, journal_entry>& entries() const noexcept {
    return entries_;
  }
  /// errc::io when the file is not the one any more that this run has opened, is not as this run
  /// left it, or has a second name: whatever did that could also forge results.
  [[nodiscard]] result<void> unchanged() const;
  /// On disk when it returns; errors are errc::io, also those of `unchanged`, and leave no half
  /// line.
  result<void> started(std::int64_t index);
  result<void> finished(std::int64_t index, const std::string& call_id,
                        rpc::app::call_status status, const std::string& result_json);

private:
  batch_journal(std::string path, int fd) : path_{std::move(path)}, fd_{fd} {}
  result<void> read(const journal_owner& owner);
  result<void> append(const std::string& line);
  [[nodiscard]] error not_a_journal(std::size_t line) const;

  std::string path_;
  int fd_;
  std::int64_t size_ = 0; ///< of the lines that stand, in bytes
  bool whole_ = true;     ///< false: half a line stands after them and cannot be taken away
  std::map<std::int64_t, journal_entry> entries_;
};

} // namespace gatehouse::cli
