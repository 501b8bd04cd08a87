#include "cli/batch_slurm.hpp"

#include "config/private_file.hpp"
#include "config/text_file.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/rpc/batch_types.hpp"
#include "protocol/shell_quote.hpp"
#include "reactor/event_loop.hpp"
#include "reactor/program_exchange.hpp"
#include "reactor/timer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gatehouse::cli {
namespace {

using config::existing_file;

constexpr std::chrono::hours longest_job{24 * 30};
constexpr std::size_t most_output = std::size_t{1} << 30U;

std::string part(const slurm_terms& terms, std::size_t number, const char* kind) {
  return terms.work + "/part-" + std::to_string(number) + "." + kind;
}

std::string line_of(const batch_item& item) {
  json_writer out;
  out.open('{');
  out.field("callId", item.call_id);
  out.field("tool", item.tool);
  out.key("arguments");
  out.raw(item.json);
  out.close('}');
  return std::move(out).take() + "\n";
}

/// The parts, and the script of a task. A folder of another input is refused: its journals would
/// tell of other calls.
result<void> prepare(const batch_input& input, const slurm_terms& terms, std::size_t tasks) {
  const auto mark = input.fingerprint + " " + std::to_string(tasks) + " " + terms.cwd + "\n";
  const auto known = config::read_text_file(terms.work + "/input");
  if (!known) return known.error();
  if (*known && **known != mark)
    return error{errc::invalid_request, terms.work + " belongs to another batch",
                 "Name another --work folder, or give the same input, --tasks and --cwd again."};
  if (!*known && terms.resume)
    return error{errc::invalid_request, terms.work + " has no batch, so nothing to go on with",
                 "Name the folder of the run that was cut. Without --resume every call runs."};
  if (auto made = config::make_folders_above(terms.work + "/x"); !made) return made;
  for (std::size_t n = 0; n < tasks; ++n) {
    std::string lines;
    for (auto i = input.items.size() * n / tasks; i < input.items.size() * (n + 1) / tasks; ++i)
      lines += line_of(input.items[i]);
    if (auto written =
            config::write_whole_file(part(terms, n, "jsonl"), lines, 0600, existing_file::replace);
        !written)
      return written;
  }
  std::vector<std::string> words = {terms.program, "batch",  "--order",
                                    "input",       "--work", terms.work};
  words.insert(words.end(), terms.options.begin(), terms.options.end());
  const auto base = shell_quote(terms.work + "/part-") + "\"$SLURM_ARRAY_TASK_ID\"";
  // Statuses 1 and 3 tell of calls, which the results do too; only others are the task's own.
  const auto script = "#!/bin/sh\n" + shell_join(words) + " --journal " + base + ".journal " +
                      base + ".jsonl > " + base + ".new 2> " + base +
                      ".err\ncase $? in 0 | 1 | 3) ;; *) exit 1 ;; esac\nmv " + base + ".new " +
                      base + ".out\n";
  if (auto written =
          config::write_whole_file(terms.work + "/task.sh", script, 0700, existing_file::replace);
      !written)
    return written;
  return config::write_whole_file(terms.work + "/input", mark, 0600, existing_file::replace);
}

/// Submits the array and waits for its end.
result<void> submit(const slurm_terms& terms, std::size_t tasks,
                    const std::function<bool()>& stop) {
  reactor::exchange_request order;
  order.spawn.argv = {"sbatch",
                      "--wait",
                      "--parsable",
                      "--array=0-" + std::to_string(tasks - 1),
                      "--job-name=gatehouse-batch",
                      "--output=/dev/null",
                      "--chdir=" + terms.work};
  order.spawn.argv.push_back(terms.work + "/task.sh");
  order.spawn.env = terms.environment;
  order.limit = longest_job;
  reactor::event_loop loop;
  std::optional<reactor::exchange_end> end;
  const reactor::program_exchange running{loop, std::move(order),
                                          [&](reactor::exchange_end e) { end = std::move(e); }};
  // Whether to stop is looked up now and then: a signal is no event of this loop.
  reactor::timer wake{loop};
  const std::function<void()> again = [&] { wake.start(std::chrono::milliseconds{200}, again); };
  again();
  loop.run_until([&] { return end.has_value() || stop(); });
  if (!end)
    return error{errc::cancelled, "the batch was stopped; its job may still run",
                 "`scancel --name gatehouse-batch` ends it; the same command goes on later."};
  using ending = reactor::exchange_end::ending;
  if (end->how == ending::not_started)
    return error{errc::not_found, "sbatch cannot be started: " + end->why,
                 "--engine slurm needs the client programs of Slurm."};
  if (end->how == ending::exited && end->code == 0) return {};
  std::string why = end->err;
  for (std::size_t n = 0; n < tasks && why.empty(); ++n)
    if (const auto said = config::read_text_file(part(terms, n, "err")); said && *said)
      why = (*said)->substr(0, 2000);
  return error{errc::io, "the job failed: " + (why.empty() ? "a task failed" : why),
               "What each task said stands in " + terms.work + "/part-N.err."};
}

result<void> tell_part(const batch_input& input, const slurm_terms& terms, std::size_t number,
                       std::size_t first, std::size_t last,
                       const std::function<bool(const std::string&)>& tell, batch_counts& counts) {
  const auto path = part(terms, number, "out");
  const auto text = config::read_text_file(path, most_output);
  if (!text) return text.error();
  std::string_view rest = *text ? std::string_view{**text} : std::string_view{};
  auto next = first;
  for (; !rest.empty(); ++next) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const json_source source{path, errc::io, "", std::size_t{64} << 20U};
    const auto tree = parse_json(line, source);
    if (!tree) return tree.error();
    auto read = rpc::codec<rpc::batch::result_line>::decode(json_node{*tree, source});
    if (!read) return read.error();
    if (next >= last || read->call_id != input.items[next].call_id)
      return error{errc::io, path + " holds other results than its part asks for", {}};
    const auto told = parse_json(read->result.text, source);
    if (!told) return told.error();
    auto result_read = rpc::codec<rpc::app::tool_call_result>::decode(json_node{*told, source});
    if (!result_read) return result_read.error();
    result_read->call_id = read->call_id;
    counts.add(*result_read);
    read->index = static_cast<std::int64_t>(next);
    if (!tell(rpc::to_json(*read)))
      return error{errc::io, "the results cannot be written", "The work folder has them."};
  }
  counts.not_run += last - next;
  return {};
}

} // namespace

result<batch_counts> run_on_slurm(const batch_input& input, const slurm_terms& terms,
                                  const std::function<bool(const std::string&)>& tell,
                                  const std::function<bool()>& stop) {
  batch_counts counts;
  const auto tasks = std::min(terms.tasks, input.items.size());
  if (tasks == 0) return counts;
  if (const auto ready = prepare(input, terms, tasks); !ready) return ready.error();
  if (const auto ended = submit(terms, tasks, stop); !ended) return ended.error();
  for (std::size_t n = 0; n < tasks; ++n)
    if (const auto told = tell_part(input, terms, n, input.items.size() * n / tasks,
                                    input.items.size() * (n + 1) / tasks, tell, counts);
        !told)
      return told.error();
  return counts;
}

} // namespace gatehouse::cli
