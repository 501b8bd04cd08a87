#pragma once

#include "protocol/exec_client.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gatehouse::actors {

/// The events of one remote process in their order, each once, whatever the connection did: those
/// that come early wait, those that come again are dropped, and what a cut line lost is taken from
/// the answers to reads (§120). Pure.
class remote_stream {
public:
  using event = exec_client::process_event;

  /// @param most_early events that may wait for what comes before them, and no more than 16 MiB
  /// with what each takes
  explicit remote_stream(std::size_t most_early = 65'536) : most_early_{most_early} {}

  /// One that came by itself. @return what may be told now
  std::vector<event> take(event one);
  /// What the server has kept. @return what may be told now
  std::vector<event> take(exec_client::read_result kept);

  /// A read goes out. @return the number after which it is to read
  std::uint64_t ask();

  /// Something is missing, and reading after `last` may bring it.
  [[nodiscard]] bool wants_read() const noexcept {
    return wants_read_ || is_behind() || (ended_ && !closed_);
  }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  /// The server went on without a number behind last(): asked for it, it had nothing of it, and
  /// did not say that it was lost.
  [[nodiscard]] bool left_out() const noexcept { return left_out_; }
  /// The server contradicts itself: an event without a number, or an answer to a read that goes
  /// back before what was asked for, is not in order, goes beyond its own nextSeq, ends before what
  /// came already, or has lost more than its numbers can hold (16 MiB each, 1 EiB in all).
  [[nodiscard]] bool contradicts() const noexcept { return contradicts_; }
  /// Bytes of output that the server no longer had when we came back for them, since the last time
  /// that this was asked.
  [[nodiscard]] std::uint64_t take_lost() noexcept { return std::exchange(lost_, 0); }

private:
  /// Something came that is behind a number which did not.
  [[nodiscard]] bool is_behind() const noexcept { return !early_.empty() || dropped_ > last_; }
  void tell(event one, std::vector<event>& out);
  void tell_named(event one, std::vector<event>& out);
  void tell_early(std::uint64_t to, std::vector<event>& out);
  [[nodiscard]] std::uint64_t lost_of(const exec_client::read_result& kept) const;
  /// Counts the numbers that an answer passes over. @return false: something must have been left
  /// out
  bool account_for_missing(const exec_client::read_result& kept);
  [[nodiscard]] bool is_contradictory(const exec_client::read_result& kept) const;

  std::map<std::uint64_t, event> early_; ///< by seq
  std::size_t early_bytes_ = 0;
  std::size_t most_early_;
  /// The last one that came when no more could wait: where the line is long, a server is far ahead
  /// of what it is asked. A read brings it again.
  std::uint64_t dropped_ = 0;
  std::optional<std::uint64_t> asked_after_; ///< by the read that is under way
  std::uint64_t told_since_asked_ = 0;       ///< bytes of output
  bool left_out_ = false;
  bool contradicts_ = false;
  std::uint64_t last_ = 0; ///< everything up to it was told
  bool exited_ = false;
  bool exit_named_ = false;        ///< it came with a number of its own
  std::uint64_t exits_passed_ = 0; ///< numbers for which there was nothing but an exit
  bool end_passed_ = false;        ///< the same of `closed`
  bool ended_ = false;             ///< `closed` has come
  bool closed_ = false;            ///< and was told, behind its exit
  bool wants_read_ = false;
  std::uint64_t lost_ = 0;
  std::uint64_t lost_in_all_ = 0;
};

} // namespace gatehouse::actors
