#pragma once

#include "cli/batch_engine.hpp"
#include "cli/batch_input.hpp"
#include "cli/batch_journal.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace gatehouse::cli {

struct batch_terms {
  std::size_t jobs = 1;
  bool input_order = false;   ///< results in the order of the input, not of their ends
  bool fail_fast = false;     ///< after the first that is not fine nothing more starts
  std::size_t retries = 0;    ///< times that a call which failed or ran out of time runs again
  bool retry_started = false; ///< items that had started when an earlier run was cut run again
};

/// Calls that ended alike.
struct batch_ending {
  std::size_t calls = 0;
  std::vector<std::string> first; ///< ids of the first three
};

struct batch_counts {
  std::size_t fine = 0;    ///< ended by themselves with exit code 0
  std::size_t failed = 0;  ///< ran and failed, ran out of time, or could not be started
  std::size_t refused = 0; ///< by policy, hook, handler or reviewer
  std::size_t interrupted =
      0; ///< stopped, or had started when an earlier run was cut or the engine failed
  std::size_t remembered = 0; ///< of all those: finished in an earlier run
  std::size_t not_run = 0;

  std::map<std::string, batch_ending> not_fine{}; ///< by how they ended: "exit status 1", …

  void add(const rpc::app::tool_call_result& told);
};

/// 0 all fine, 1 some failed or did not run, 3 some were refused and nothing else was wrong.
int exit_status(const batch_counts& counts) noexcept;

/// Runs the items of a batch, at most `jobs` at a time, and tells their results.
class batch_run {
public:
  /// @param journal may be null
  /// @param tell one result as a line of JSON; false ends the run
  /// @param progress after each end: how many of all are done
  batch_run(batch_engine& engine, const batch_input& input, batch_journal* journal,
            batch_terms terms, std::function<bool(const std::string&)> tell,
            std::function<void(std::size_t done)> progress);

  /// To the end, on the loop. `stop` is asked at every event: true ends what runs. Whatever ended
  /// is told, also when an error is returned; so is each call that a failed engine has left
  /// without an end, as interrupted.
  /// Errors: the journal cannot be written or was changed by others, and what ran was ended; or the
  /// engine failed.
  result<void> run(const std::function<bool()>& stop);
  [[nodiscard]] const batch_counts& counts() const noexcept { return counts_; }

private:
  [[nodiscard]] const journal_entry* known(std::int64_t index) const;
  void take_up(std::int64_t index, const journal_entry& entry);
  [[nodiscard]] bool is_all_begun() const;
  void start_more();
  void start(std::int64_t index);
  void begin(std::int64_t index);
  void ended(std::int64_t index, rpc::app::tool_call_result told);
  void have(std::int64_t index, const std::string& call_id, const std::string& result_json);
  void tell_next();
  void lose_running();
  void end_all();

  batch_engine& engine_;
  const batch_input& input_;
  batch_journal* journal_;
  batch_terms terms_;
  std::function<bool(const std::string&)> tell_;
  std::function<void(std::size_t)> progress_;
  batch_counts counts_;
  std::int64_t next_ = 0;      ///< to start
  std::int64_t next_told_ = 0; ///< in input order
  std::map<std::int64_t, std::string> untold_;
  std::map<std::int64_t, std::size_t> tries_; ///< of calls that ran more than once
  std::set<std::int64_t> running_;
  std::size_t done_ = 0;
  bool stopping_ = false;
  std::optional<error> failure_;
};

} // namespace gatehouse::cli
