#include "cli/batch_options.hpp"

#include "cli/batch_journal.hpp"
#include "cli/own_program.hpp"
#include "cli/remote_session.hpp"
#include "config/locations.hpp"
#include "config/text_file.hpp"
#include "policy/path_text.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

std::string without_slash(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  return folder;
}

std::string folder_here(const std::string& named) {
  std::error_code failed;
  return without_slash(std::filesystem::absolute(named, failed).lexically_normal().string());
}

} // namespace

result<batch_terms> read_batch_terms(const options& given) {
  batch_terms terms;
  const auto jobs = given.whole_number("--jobs", 1, 1024);
  if (!jobs) return jobs.error();
  if (*jobs) terms.jobs = **jobs;
  const auto retries = given.whole_number("--retries", 0, 100);
  if (!retries) return retries.error();
  if (*retries) terms.retries = **retries;
  const auto order = given.value("--order").value_or("completion");
  if (order != "input" && order != "completion")
    return error{errc::invalid_request, "--order is input or completion, not '" + order + "'", {}};
  terms.input_order = order == "input";
  terms.fail_fast = given.has("--fail-fast");
  terms.retry_started = given.has("--retry-started");
  const bool noted = given.has("--journal") || given.value("--engine") == "slurm";
  if (terms.retry_started && !noted)
    return error{errc::invalid_request, "--retry-started needs --journal", {}};
  if (given.has("--resume") && !noted)
    return error{errc::invalid_request,
                 "--resume needs --journal FILE, that of the run that was cut; what a run without "
                 "one did is told by `gatehouse audit list`",
                 {}};
  return terms;
}

std::string real_folder(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::weakly_canonical(path, failed);
  return failed ? path : real.string();
}

result<void> calls_outside(const std::string& work, const std::string& cwd) {
  if (!policy::is_at_or_below(real_folder(cwd), real_folder(work))) return {};
  return error{errc::invalid_request,
               "the calls would work in " + cwd + ", which lies in the --work folder " + work +
                   ": that is kept from them",
               "Name another --work folder."};
}

result<void> journal_outside(const options& given, const std::vector<std::string>& folders) {
  const auto path = given.value("--journal");
  if (!path) return {};
  const auto place = real_place(*path);
  for (const auto& folder : folders)
    if (!folder.empty() && policy::is_at_or_below(place, real_folder(folder)))
      return error{errc::invalid_request,
                   "the journal " + *path + " lies in " + folder +
                       ", where the calls may write: they could forge results in it",
                   "Name one outside of the calls' folder and of temporary folders, such as "
                   "--journal ~/run.journal"};
  return {};
}

result<remote_terms> read_remote_terms(const options& given) {
  for (const auto* option : {"--rules", "--timeout-ms"})
    if (given.has(option))
      return error{errc::invalid_request,
                   std::string{option} + " and --url exclude each other: the daemon has its own",
                   {}};
  remote_terms remote;
  auto target = reactor::read_websocket_address(*given.value("--url"));
  if (!target) return target.error();
  remote.target = *std::move(target);
  remote.environment = given.value("--environment");
  const bool there = remote.environment.value_or("local") != local_environment;
  if (there)
    remote.cwd = without_slash(given.value("--cwd").value_or("")); // empty: the configured one
  else
    remote.cwd = folder_here(given.value("--cwd").value_or("."));
  remote.profile = given.value("--profile");
  remote.approval_policy = given.value("--ask");
  const auto named = given.value("--token-file");
  const auto path =
      named.value_or(config::locations_from_environment().state + "/tokens/agent.token");
  const auto text = config::read_text_file(path, 4096);
  if (!text) return text.error();
  if (!*text && named)
    return error{errc::not_found, "there is no file " + path,
                 "Correct the path after --token-file."};
  remote.token = text->value_or("");
  while (!remote.token.empty() && remote.token.back() == '\n')
    remote.token.pop_back();
  return remote;
}

result<slurm_terms> read_slurm_terms(const options& given) {
  slurm_terms terms;
  for (const auto* option : {"--url", "--token-file", "--journal", "--order", "--environment"})
    if (given.has(option))
      return error{errc::invalid_request,
                   std::string{option} + " and --engine slurm exclude each other",
                   {}};
  const auto work = given.value("--work");
  if (!work) return error{errc::invalid_request, "--engine slurm needs --work DIR", {}};
  terms.resume = given.has("--resume");
  std::error_code failed;
  terms.work = folder_here(*work);
  const auto tasks = given.whole_number("--tasks", 1, 100'000);
  if (!tasks) return tasks.error();
  if (*tasks) terms.tasks = **tasks;
  for (const auto* option : {"--jobs", "--retries", "--timeout-ms", "--profile", "--ask"})
    if (const auto value = given.value(option)) {
      terms.options.emplace_back(option);
      terms.options.push_back(*value);
    }
  for (const auto& file : given.values("--rules")) {
    terms.options.emplace_back("--rules");
    terms.options.push_back(std::filesystem::absolute(file, failed).string());
  }
  for (const auto* flag : {"--fail-fast", "--retry-started"})
    if (given.has(flag)) terms.options.emplace_back(flag);
  terms.cwd = folder_here(given.value("--cwd").value_or("."));
  if (const auto apart = calls_outside(terms.work, terms.cwd); !apart) return apart.error();
  terms.options.insert(terms.options.end(), {"--cwd", terms.cwd});
  terms.program = beside_me("gatehouse");
  for (char** entry = environ; *entry; ++entry)
    terms.environment.emplace_back(*entry);
  return terms;
}

} // namespace gatehouse::cli
