#include "cli/run_command.hpp"

#include "actors/asking_client.hpp"
#include "actors/paced_output.hpp"
#include "actors/random_id.hpp"
#include "actors/thread_host.hpp"
#include "cli/audit_setup.hpp"
#include "cli/output.hpp"
#include "cli/output_writer.hpp"
#include "cli/remote_session.hpp"
#include "cli/run_summary.hpp"
#include "cli/terminal_reviewer.hpp"
#include "cli/thread_setup.hpp"
#include "protocol/call_report_json.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/explain_json.hpp"
#include "protocol/profile_json.hpp"
#include "reactor/signals.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <poll.h>
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

using writer_ptr = std::shared_ptr<output_writer>;
constexpr auto to_stdout = output_stream::standard_output;
constexpr auto to_stderr = output_stream::standard_error;

class warning_printer : public actors::thread_subscriber {
public:
  explicit warning_printer(writer_ptr out) : out_{std::move(out)} {}

  void on_event(const thread_event_ptr& event) override {
    if (const auto* said = std::get_if<thread_events::warning>(&event->what))
      out_->write(to_stderr, message_lines("warning: " + said->text));
  }

private:
  writer_ptr out_;
};

/// Nobody reads any more, or the place is full.
bool broken(const output_writer& out) {
  return out.failure(to_stdout) || out.failure(to_stderr);
}

/// Something was to be written that is missing now; a reader that went away wants no more.
bool lost_output(const output_writer& out) {
  const auto lost = [](const std::optional<int>& reason) { return reason && *reason != EPIPE; };
  return lost(out.failure(to_stdout)) || lost(out.failure(to_stderr));
}

/// A question is read below the output that led to it, and nothing is written over it: a command
/// that runs on could draw another question there.
actors::question_asker after_output(actors::question_asker ask, const writer_ptr& out) {
  return [ask = std::move(ask), out](const review_request& question, const std::string& why,
                                     const std::atomic<bool>& withdrawn) {
    const auto quiet = out->keep_back(withdrawn);
    return ask(question, why, withdrawn);
  };
}

/// The actors may outlive the loop's last event, the writer must not go on then.
struct closed_at_the_end {
  output_writer& writer;
  ~closed_at_the_end() { writer.close(); }
};

/// A sandbox around us, which lets nobody write there, is no fault of the settings.
int status_without_audit(const error& why) {
  return why.code == errc::boundary_unavailable ? exit_no_boundary : exit_wrong_usage;
}

bool can_be_written(int fd) {
  pollfd place{fd, POLLOUT, 0};
  return ::poll(&place, 1, 0) == 1 && (place.revents & POLLOUT) != 0;
}

} // namespace

int run_command(arguments given) {
  const auto words = open_command_line("run", given);
  if (!words.given) return words.status;
  auto wish = read_wish(*words.given);
  if (!wish) return wrong_usage_of("run", wish.error());
  return run_call(*words.given, *std::move(wish), report_style::summary);
}

int run_call(const options& given, shell_request wish, report_style style) {
  const bool json = given.has("--json");
  const std::string_view name = style == report_style::summary ? "run" : "apply-patch";
  const auto limit = time_limit_of(given);
  if (!limit) return wrong_usage_of(name, limit.error());
  wish.timeout = *limit;
  const auto start = load_for_place(given);
  if (!start) return fail(start.error(), exit_wrong_usage);
  actors::thread_host host;
  auto setup = set_up_thread(*start, given.values("--rules"), host.loop(), "run");
  if (!setup) return fail(setup.error(), exit_wrong_usage);
  if (const auto audit = begin_audit(start->where, host, "run"); !audit)
    return fail(audit.error(), status_without_audit(audit.error()));
  if (const auto moved = move_session(setup->terms, setup->places, given, host.loop()); !moved)
    return wrong_usage_of(name, moved.error());
  warn(setup->warnings);
  auto& terms = setup->terms;
  // What a PostToolUse hook may still take away is not shown before it has been asked.
  const bool held =
      !terms.hooks.rules.matching(hook_event::post_tool_use, actors::hook_tool::shell_command)
           .empty() ||
      !terms.hooks.rules.matching(hook_event::post_tool_use, actors::hook_tool::apply_patch)
           .empty();
  const auto out = std::make_shared<output_writer>(host.loop());
  const closed_at_the_end closed{*out};
  if (!json && !held)
    terms.shell.on_output = actors::paced_output{
        [out](const attempt_terms&, output_stream stream, std::string_view bytes) {
          out->write(stream, std::string{bytes});
        },
        [out](std::function<void()> next) { out->when_short(std::move(next)); }};
  const auto thread = host.open(std::move(terms));
  thread.send(
      actors::thread_messages::subscribe{std::make_shared<warning_printer>(out), false, {}});
  if (auto ask = terminal_asker())
    thread.send(actors::thread_messages::subscribe{
        std::make_shared<actors::asking_client>(thread, after_output(std::move(ask), out),
                                                host.workers()),
        true,
        {}});
  int stops = 0;
  const auto signals =
      reactor::signal_watch::open(host.loop(), {SIGINT, SIGTERM, SIGHUP}, [&](int) { ++stops; });
  if (!signals) complain(signals.error());
  const auto ended =
      host.run(thread, {"call-" + actors::random_id(), {}, tool_arguments{std::move(wish)}},
               [&] { return stops > 0 || broken(*out); });
  if (!ended) return fail(ended.error(), exit_failed);
  const auto& report = **ended;
  if (json) {
    out->write(to_stdout, encode_call_report(report) + "\n");
  } else {
    if (held) {
      out->write(to_stdout, report.output.stdout_text);
      out->write(to_stderr, report.output.stderr_text);
    }
    out->write(to_stderr, style == report_style::summary ? run_summary(report)
                                                         : message_lines(report.message));
  }
  // The command has ended; what is left may wait for its reader, until somebody is tired of it.
  host.loop().run_until([&, before = stops] { return out->idle() || stops > before; });
  const bool unread = !out->idle();
  if (unread || lost_output(*out)) {
    if (can_be_written(STDERR_FILENO))
      complain(
          {errc::io, "the command's output cannot be written; what was not written is lost", {}});
    return exit_failed;
  }
  return json && out->failure(to_stdout) ? exit_failed : exit_status(report);
}

} // namespace gatehouse::cli
