#include "cli/commands.hpp"
#include "cli/explainer.hpp"
#include "cli/line_reader.hpp"
#include "cli/output.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

constexpr std::string_view example = "gatehouse policy replay --rules new.rules < decisions.jsonl";
constexpr std::string_view help =
    R"(gatehouse policy replay --rules FILE… [--add] [--cwd DIR] < JSONL
Judges recorded requests again, by other rules, and prints what would change. One record a line:
{"request": as for `policy explain --jsonl`, "decision": its answer}. Runs nothing.

  --rules FILE   the rules to judge by, instead of the configured ones (repeatable)
  --add          on top of the configured rules
  --cwd DIR      working folder where a request names none

Prints one line for each change: {"line":N,"before":…,"after":…,"bypass_before":…,"bypass_after":…}
and at the end {"records":N,"changed":N,"unreadable":N}.
Exit status: 0; 2 for wrong usage or configuration, or when a record could not be read.
)";

std::string_view truth(bool b) {
  return b ? "true" : "false";
}

struct tally {
  std::size_t records = 0;
  std::size_t changed = 0;
  std::size_t unreadable = 0;
};

void judge_again(explainer& judge, std::string_view line, tally& count, std::string& out) {
  const auto number = std::to_string(++count.records);
  auto recorded = decode_recorded_decision(line);
  if (recorded) recorded->request.rules.reset(); // the other rules are the point
  const auto answer =
      recorded ? judge.explain(recorded->request) : result<explanation>{recorded.error()};
  if (!answer) {
    ++count.unreadable;
    out += "{\"line\":" + number + "," + encode_explain_error(answer.error()).substr(1) + "\n";
    return;
  }
  const auto& now = answer->evaluation.requirement;
  if (now.kind == recorded->kind && now.bypass_sandbox == recorded->bypass_sandbox) return;
  ++count.changed;
  ((((((((out += "{\"line\":" + number + ",\"before\":\"") += to_string(recorded->kind)) +=
        "\",\"after\":\"") += to_string(now.kind)) += "\",\"bypass_before\":") +=
     truth(recorded->bypass_sandbox)) += ",\"bypass_after\":") += truth(now.bypass_sandbox)) +=
      "}\n";
}

} // namespace

int policy_replay_command(arguments given) {
  const known_option known[] = {
      {"--rules", true, true}, {"--add"}, {"--cwd", true}, {"--help"}, {"-h"}};
  const auto read = read_options(given, known);
  if (!read) return wrong_usage(read.error().message, example);
  if (read->has("--help") || read->has("-h")) return print(help) ? exit_ok : exit_failed;
  if (!read->has("--rules")) return wrong_usage("--rules is missing", example);
  if (!read->rest().empty())
    return wrong_usage("`" + read->rest().front() + "` is one word too many", example);
  auto start = load_for(*read);
  if (!start) {
    complain(start.error());
    return exit_wrong_usage;
  }
  config::rule_load_options rules;
  rules.files = read->values("--rules");
  rules.configured = read->has("--add");
  rules.cwd = start->cwd;
  auto judge = explainer::make(std::move(*start), rules);
  if (!judge) {
    complain(judge.error());
    return exit_wrong_usage;
  }
  warn(judge->take_warnings());
  line_reader input{STDIN_FILENO};
  tally count;
  for (std::string_view line;;) {
    std::string out;
    const auto status = input.next(line);
    if (status == line_reader::status::failed) {
      complain(std::string{"cannot read standard input: "} + std::strerror(errno));
      return exit_wrong_usage;
    }
    if (status == line_reader::status::end) break;
    judge_again(*judge, status == line_reader::status::line ? line : std::string_view{}, count,
                out);
    if (!print(out)) return exit_failed;
    warn(judge->take_warnings());
  }
  const bool good = print("{\"records\":" + std::to_string(count.records) +
                          ",\"changed\":" + std::to_string(count.changed) +
                          ",\"unreadable\":" + std::to_string(count.unreadable) + "}\n");
  if (!good) return exit_failed;
  return count.unreadable == 0 ? exit_ok : exit_wrong_usage;
}

} // namespace gatehouse::cli
