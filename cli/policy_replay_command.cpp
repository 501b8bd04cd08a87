#include "cli/audit_reading.hpp"
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
  std::string_view unit = "line";
  std::size_t records = 0;
  std::size_t skipped = 0;
  std::size_t changed = 0;
  std::size_t unreadable = 0;
};

void judge_again(explainer& judge, std::string_view line, std::int64_t place, tally& count,
                 std::string& out) {
  ++count.records;
  const auto number = std::to_string(place);
  const auto at = "{\"" + std::string{count.unit} + "\":" + number;
  auto recorded = decode_recorded_decision(line);
  if (recorded) recorded->request.rules.reset(); // the other rules are the point
  const auto answer =
      recorded ? judge.explain(recorded->request) : result<explanation>{recorded.error()};
  if (!answer) {
    ++count.unreadable;
    out += at + "," + encode_explain_error(answer.error()).substr(1) + "\n";
    return;
  }
  const auto& now = answer->evaluation.requirement;
  if (now.kind == recorded->kind && now.bypass_sandbox == recorded->bypass_sandbox) return;
  ++count.changed;
  ((((((((out += at + ",\"before\":\"") += to_string(recorded->kind)) += "\",\"after\":\"") +=
       to_string(now.kind)) += "\",\"bypass_before\":") += truth(recorded->bypass_sandbox)) +=
    ",\"bypass_after\":") += truth(now.bypass_sandbox)) += "}\n";
}

/// Standard input, a record a line. exit_ok: all of it was read.
int replay_input(explainer& judge, tally& count) {
  line_reader input{STDIN_FILENO};
  for (std::string_view line;;) {
    std::string out;
    const auto status = input.next(line);
    if (status == line_reader::status::failed)
      return fail(
          {errc::io, std::string{"cannot read standard input: "} + std::strerror(errno), {}},
          exit_wrong_usage);
    if (status == line_reader::status::end) return exit_ok;
    judge_again(judge, status == line_reader::status::line ? line : std::string_view{},
                static_cast<std::int64_t>(count.records + 1), count, out);
    if (!print(out)) return exit_failed;
    warn(judge.take_warnings());
  }
}

int replay_audit(explainer& judge, const options& given, tally& count) {
  count.unit = "entry";
  const auto which = audit_filter_of(given, 0);
  if (!which) return wrong_usage_of("policy replay", which.error());
  const auto store = open_named_audit(given);
  bool written = true;
  const auto done = store ? read_decisions(**store, *which,
                                           [&](const recorded_line& one) {
                                             if (!one.replays) return ++count.skipped, true;
                                             std::string out;
                                             judge_again(judge, one.text, one.seq, count, out);
                                             warn(judge.take_warnings());
                                             return written = print(out);
                                           })
                          : result<void>{store.error()};
  if (!done) return fail(done.error(), exit_wrong_usage);
  return written ? exit_ok : exit_failed;
}

} // namespace

int policy_replay_command(arguments given) {
  const auto words = open_command_line("policy replay", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (!read->has("--audit"))
    for (const auto* option : {"--file", "--since", "--until", "--session", "--call", "--limit"})
      if (read->has(option))
        return wrong_usage_of("policy replay", std::string{option} + " needs --audit");
  if (!read->has("--rules")) return wrong_usage_of("policy replay", "--rules is missing");
  auto start = load_for(*read);
  if (!start) return fail(start.error(), exit_wrong_usage);
  config::rule_load_options rules;
  rules.files = read->values("--rules");
  rules.configured = read->has("--add");
  rules.cwd = start->cwd;
  auto judge = explainer::make(std::move(*start), rules);
  if (!judge) return fail(judge.error(), exit_wrong_usage);
  warn(judge->take_warnings());
  tally count;
  const int status =
      read->has("--audit") ? replay_audit(*judge, *read, count) : replay_input(*judge, count);
  if (status != exit_ok) return status;
  const bool good = print(
      "{\"records\":" + std::to_string(count.records) + ",\"changed\":" +
      std::to_string(count.changed) + ",\"unreadable\":" + std::to_string(count.unreadable) +
      (read->has("--audit") ? ",\"skipped\":" + std::to_string(count.skipped) : std::string{}) +
      "}\n");
  if (!good) return exit_failed;
  return count.unreadable == 0 ? exit_ok : exit_wrong_usage;
}

} // namespace gatehouse::cli
