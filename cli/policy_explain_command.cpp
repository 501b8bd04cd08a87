#include "cli/commands.hpp"
#include "cli/explainer.hpp"
#include "cli/line_reader.hpp"
#include "cli/output.hpp"
#include "protocol/explain_text.hpp"
#include "protocol/profile_json.hpp"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

constexpr std::size_t flush_above = 64u << 10;

error of_option(const std::string& name, error why) {
  why.message = name + ": " + why.message;
  return why;
}

result<explain_request> request_from(const options& given) {
  explain_request request;
  if (const auto text = given.value("--shell"))
    request.command = *text;
  else
    request.command = given.rest();
  request.login = given.has("--login");
  if (const auto word = given.value("--sandbox-permissions")) {
    const auto known = sandbox_permissions_from(*word);
    if (!known)
      return error{errc::invalid_request, "`" + *word + "` is not a value of --sandbox-permissions",
                   "Give use_default, require_escalated or with_additional_permissions."};
    request.sandbox_permissions = *known;
  }
  if (const auto json = given.value("--additional-permissions")) {
    auto overlay = decode_additional_permissions(*json);
    if (!overlay) return of_option("--additional-permissions", overlay.error());
    request.additional_permissions = std::move(*overlay);
  }
  if (const auto json = given.value("--prefix-rule")) {
    auto words = decode_words(*json);
    if (!words) return of_option("--prefix-rule", words.error());
    request.prefix_rule = std::move(*words);
  }
  return request;
}

std::string answer_line(explainer& judge, std::string_view line, bool& all_read) {
  auto request = decode_explain_request(line);
  auto answer = request ? judge.explain(*request) : result<explanation>{request.error()};
  if (answer) return encode_explain_answer(answer->evaluation, answer->sandbox) + "\n";
  all_read = false;
  return encode_explain_error(answer.error()) + "\n";
}

int explain_lines(explainer& judge) {
  line_reader input{STDIN_FILENO};
  std::string answers;
  bool all_read = true;
  const auto flush = [&] {
    const bool good = print(answers);
    answers.clear();
    return good;
  };
  for (;;) {
    const bool waits = input.would_wait();
    if ((waits || answers.size() > flush_above) && !flush()) return exit_failed;
    std::string_view line;
    const auto status = input.next(line);
    if (waits) judge.look_again(); // time has passed
    switch (status) {
    case line_reader::status::line: answers += answer_line(judge, line, all_read); break;
    case line_reader::status::too_long:
      all_read = false;
      answers +=
          encode_explain_error({errc::too_large, "the line is longer than 8 MiB", {}}) + "\n";
      break;
    case line_reader::status::end:
      if (!flush()) return exit_failed;
      return all_read ? exit_ok : exit_wrong_usage;
    case line_reader::status::failed:
      if (!flush()) return exit_failed;
      return fail(
          {errc::io, std::string{"cannot read standard input: "} + std::strerror(errno), {}},
          exit_wrong_usage);
    }
    warn(judge.take_warnings());
  }
}

int explain_one(explainer& judge, const options& given) {
  const auto request = request_from(given);
  auto answer = request ? judge.explain(*request) : result<explanation>{request.error()};
  if (!answer) return fail(answer.error(), exit_wrong_usage);
  const bool printed =
      given.has("--json") ? print(encode_explain_answer(answer->evaluation, answer->sandbox) + "\n")
                          : print_for_people(explain_text(answer->argv, answer->approval,
                                                          answer->evaluation, answer->sandbox));
  return printed ? exit_ok : exit_failed;
}

} // namespace

int policy_explain_command(arguments given) {
  const auto words = open_command_line("policy explain", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  const int commands =
      int{read->has("--shell")} + int{read->has("--jsonl")} + int{!read->rest().empty()};
  if (commands != 1)
    return wrong_usage_of("policy explain", commands == 0
                                                ? "the command is missing"
                                                : "give one of --shell, --jsonl and a command");
  auto start = load_for(*read);
  if (!start) return fail(start.error(), exit_wrong_usage);
  config::rule_load_options rules;
  rules.files = read->values("--rules");
  rules.user_and_project = !read->has("--ignore-rules");
  rules.cwd = start->cwd;
  auto judge = explainer::make(std::move(*start), rules);
  if (!judge) return fail(judge.error(), exit_wrong_usage);
  warn(judge->take_warnings());
  return read->has("--jsonl") ? explain_lines(*judge) : explain_one(*judge, *read);
}

} // namespace gatehouse::cli
