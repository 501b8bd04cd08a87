#pragma once

#include "cli/batch_engine.hpp"
#include "cli/batch_run.hpp"
#include "cli/batch_slurm.hpp"
#include "cli/option_reader.hpp"

#include <string>
#include <vector>

/// What the command line of `gatehouse batch` says (§202). Errors are errc::invalid_request unless
/// said otherwise, and name the option.
namespace gatehouse::cli {

/// How items are run, whatever runs them.
result<batch_terms> read_batch_terms(const options& given);
/// `--url` and what belongs to it; errc::not_found, errc::io: the token file.
result<remote_terms> read_remote_terms(const options& given);
/// `--engine slurm` and what belongs to it; the rest is for the tasks.
result<slurm_terms> read_slurm_terms(const options& given);

/// Without links, as far as it exists; `path` itself where that cannot be told.
std::string real_folder(const std::string& path);
/// No call sees the work folder of Slurm, so none can work there.
result<void> calls_outside(const std::string& work, const std::string& cwd);
/// Where this program does not make the boundary it cannot keep a journal from the calls: it must
/// lie in none of the folders that they may write.
result<void> journal_outside(const options& given, const std::vector<std::string>& folders);

} // namespace gatehouse::cli
