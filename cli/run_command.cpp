#include "cli/run_command.hpp"

#include "actors/asking_client.hpp"
#include "actors/random_id.hpp"
#include "actors/thread_host.hpp"
#include "cli/audit_setup.hpp"
#include "cli/output.hpp"
#include "cli/remote_session.hpp"
#include "cli/run_summary.hpp"
#include "cli/terminal_reviewer.hpp"
#include "cli/thread_setup.hpp"
#include "protocol/call_report_json.hpp"
#include "protocol/explain_json.hpp"
#include "protocol/profile_json.hpp"
#include "reactor/signals.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <unistd.h>

namespace gatehouse::cli {
namespace {

/// The call that the options ask for; the error is one of usage.
result<shell_request> read_wish(const options& given) {
  const auto usage = [](std::string what) {
    return error{errc::invalid_request, std::move(what), {}};
  };
  shell_request wish;
  const auto text = given.value("--shell");
  wish.login = given.has("--login");
  if (text && !given.rest().empty())
    return usage("--shell and a command after -- exclude each other");
  if (!text && given.rest().empty()) return usage("the command is missing");
  if (!text && wish.login) return usage("--login needs --shell");
  if (text)
    wish.command = *text;
  else
    wish.command = given.rest();
  if (const auto word = given.value("--sandbox-permissions")) {
    const auto known = sandbox_permissions_from(*word);
    if (!known)
      return usage("--sandbox-permissions is use_default, require_escalated or "
                   "with_additional_permissions, not '" +
                   *word + "'");
    wish.sandbox_permissions = *known;
  }
  if (const auto json = given.value("--additional-permissions")) {
    auto overlay = decode_additional_permissions(*json);
    if (!overlay) return usage("--additional-permissions: " + overlay.error().message);
    wish.additional_permissions = std::move(*overlay);
  }
  if (const auto json = given.value("--prefix-rule")) {
    auto words = decode_words(*json);
    if (!words) return usage("--prefix-rule: " + words.error().message);
    wish.prefix_rule = std::move(*words);
  }
  wish.justification = given.value("--justification").value_or("");
  return wish;
}

/// Shows what comes, and notes when nobody reads any more.
class output_printer : public actors::thread_subscriber {
public:
  explicit output_printer(bool live) : live_{live} {}

  void on_event(const thread_event_ptr& event) override {
    if (const auto* said = std::get_if<thread_events::warning>(&event->what)) warn({said->text});
    const auto* delta = std::get_if<thread_events::output_delta>(&event->what);
    if (!delta || !live_) return;
    const bool written = delta->stream == output_stream::standard_error ? print_error(delta->bytes)
                                                                        : print(delta->bytes);
    lost = lost || (!written && errno != EPIPE);
    stop = stop || !written;
  }

  bool lost = false;
  bool stop = false;

private:
  bool live_;
};

} // namespace

int run_command(arguments given) {
  const auto words = open_command_line("run", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  auto wish = read_wish(*read);
  if (!wish) return wrong_usage_of("run", wish.error().message);
  return run_call(*read, *std::move(wish), report_style::summary);
}

int run_call(const options& given, shell_request wish, report_style style) {
  const auto limit = time_limit_of(given);
  if (!limit) return wrong_usage_of("run", limit.error().message);
  wish.timeout = *limit;
  const auto start = load_for(given);
  if (!start) {
    complain(start.error());
    return exit_wrong_usage;
  }
  actors::thread_host host;
  auto setup = set_up_thread(*start, given.values("--rules"), host.loop(), "run");
  if (!setup) {
    complain(setup.error());
    return exit_wrong_usage;
  }
  if (const auto audit = begin_audit(start->where, host, "run"); !audit) {
    complain(audit.error());
    return exit_wrong_usage;
  }
  if (const auto moved = move_to_exec_server(setup->terms, given, host.loop()); !moved)
    return wrong_usage_of("run", to_string(moved.error()));
  warn(setup->warnings);
  const bool json = given.has("--json");
  auto& terms = setup->terms;
  // What a PostToolUse hook may still take away is not shown before it has been asked.
  const bool held =
      !terms.hooks.rules.matching(hook_event::post_tool_use, actors::hook_tool::shell_command)
           .empty() ||
      !terms.hooks.rules.matching(hook_event::post_tool_use, actors::hook_tool::apply_patch)
           .empty();
  const auto printer = std::make_shared<output_printer>(!json && !held);
  const auto thread = host.open(std::move(terms));
  thread.send(actors::thread_messages::subscribe{printer, false, {}});
  if (auto ask = terminal_asker())
    thread.send(actors::thread_messages::subscribe{
        std::make_shared<actors::asking_client>(thread, std::move(ask), host.workers()), true, {}});
  bool stop = false;
  const auto signals = reactor::signal_watch::open(host.loop(), {SIGINT, SIGTERM, SIGHUP},
                                                   [&](int) { stop = true; });
  if (!signals) complain(signals.error());
  const auto ended =
      host.run(thread, {"call-" + actors::random_id(), {}, tool_arguments{std::move(wish)}},
               [&] { return stop || printer->stop; });
  if (!ended) {
    complain(ended.error());
    return exit_failed;
  }
  const auto& report = **ended;
  bool lost_output = printer->lost;
  if (json) {
    if (!print(encode_call_report(report) + "\n")) return exit_failed;
  } else {
    if (held)
      lost_output =
          (!print(report.output.stdout_text) || !print_error(report.output.stderr_text)) &&
          errno != EPIPE;
    print_error(style == report_style::summary ? run_summary(report)
                                               : message_lines(report.message));
  }
  if (lost_output) {
    complain("the command's output cannot be written; what was not written is lost");
    return exit_failed;
  }
  return exit_status(report);
}

} // namespace gatehouse::cli
