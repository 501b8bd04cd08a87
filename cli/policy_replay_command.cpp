#include "cli/commands.hpp"
#include "cli/explainer.hpp"
#include "cli/line_reader.hpp"
#include "cli/output.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

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
  const auto words = open_command_line("policy replay", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (!read->has("--rules")) return wrong_usage_of("policy replay", "--rules is missing");
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
