#pragma once

#include "cli/batch_input.hpp"
#include "cli/batch_run.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gatehouse::cli {

struct slurm_terms {
  std::string work;                 ///< absolute; a folder that every node sees, and no call
  std::string cwd;                  ///< absolute; where the calls run
  bool resume = false;              ///< true: nothing begins that has not begun in `work` before
  std::size_t tasks = 2;            ///< of the job array; fewer when there are fewer items
  std::string program;              ///< `gatehouse`, where every node has it
  std::vector<std::string> options; ///< of `gatehouse batch`, for each task
  std::vector<std::string> environment;
};

/// Splits a batch into a job array of an existing Slurm cluster, one part a task, waits for it and
/// tells all results in the order of the input. Each task runs the same program with a journal in
/// `work`: after a crash the same call goes on, and no finished item runs again.
/// Errors: `work` cannot be used, belongs to another input, or has no run to go on with, sbatch
/// cannot be run or fails, a part has no result.
/// @param tell one result as a line of JSON; false ends it
result<batch_counts> run_on_slurm(const batch_input& input, const slurm_terms& terms,
                                  const std::function<bool(const std::string&)>& tell,
                                  const std::function<bool()>& stop);

} // namespace gatehouse::cli
