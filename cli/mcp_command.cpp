#include "cli/mcp_command.hpp"

#include "actors/thread_host.hpp"
#include "cli/audit_setup.hpp"
#include "cli/follow_settings.hpp"
#include "cli/mcp_server.hpp"
#include "cli/output.hpp"
#include "cli/stdio_lines.hpp"
#include "cli/thread_setup.hpp"
#include "reactor/signals.hpp"

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gatehouse::cli {
namespace {

result<thread_setup> session_for_client(const options& given, reactor::event_loop& loop) {
  const auto start = load_for_place(given);
  if (!start) return start.error();
  auto setup = set_up_thread(*start, given.values("--rules"), loop, "mcp");
  if (!setup) return setup;
  auto& terms = setup->terms;
  if (const auto moved = move_session(terms, setup->places, given, loop); !moved)
    return moved.error();
  terms.session_approvals = true;
  terms.review_limit = std::chrono::minutes{10};
  terms.nobody_reason = "the client cannot ask its user (it has no elicitation): add a rule, "
                        "or change the approval policy";
  follow_settings(*setup, [given, &loop] { return session_for_client(given, loop); });
  return setup;
}

} // namespace

int mcp_command(arguments given) {
  const auto words = open_command_line("mcp", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  actors::thread_host host;
  auto setup = session_for_client(*read, host.loop());
  if (!setup) return fail(setup.error(), exit_wrong_usage);
  if (const auto audit = begin_audit(config::locations_from_environment(), host, "mcp"); !audit)
    return fail(audit.error(), exit_wrong_usage);
  warn(setup->warnings);
  const auto thread = host.open(std::move(setup->terms));
  bool stop = false;
  std::optional<error> why;
  std::shared_ptr<mcp_server> server;
  const auto lines = std::make_shared<stdio_lines>(
      host.loop(), stdio_events{[&server](std::string_view line) { server->received(line); },
                                {},
                                [&server] { server->lost(); },
                                [&](const result<void>& end) {
                                  if (!end) why = end.error();
                                  stop = true;
                                }});
  // Calls that the end of the thread cuts off are told to nobody: the host outlives the lines.
  server = std::make_shared<mcp_server>(thread, GATEHOUSE_VERSION,
                                        [to = std::weak_ptr{lines}](std::string line) {
                                          if (const auto alive = to.lock())
                                            alive->send(std::move(line));
                                        });
  server->begin();
  const auto signals = reactor::signal_watch::open(host.loop(), {SIGINT, SIGTERM, SIGHUP},
                                                   [&](int) { stop = true; });
  if (!signals) return fail(signals.error(), exit_failed);
  host.loop().run_until([&] { return stop; });
  server->lost();
  if (!why) return exit_ok;
  return fail(*why, exit_failed);
}

} // namespace gatehouse::cli
