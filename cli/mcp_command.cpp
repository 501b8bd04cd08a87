#include "cli/mcp_command.hpp"

#include "actors/thread_host.hpp"
#include "cli/audit_setup.hpp"
#include "cli/mcp_server.hpp"
#include "cli/output.hpp"
#include "cli/thread_setup.hpp"
#include "reactor/line_reader.hpp"
#include "reactor/line_writer.hpp"
#include "reactor/signals.hpp"

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>

namespace gatehouse::cli {
namespace {

constexpr std::size_t most_line = std::size_t{16} << 20U;

reactor::unique_fd own(int fd) {
  return reactor::unique_fd{::fcntl(fd, F_DUPFD_CLOEXEC, 3)};
}

} // namespace

int mcp_command(arguments given) {
  const auto words = open_command_line("mcp", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  const auto start = load_for(*read);
  if (!start) {
    complain(start.error());
    return exit_wrong_usage;
  }
  actors::thread_host host;
  auto setup = set_up_thread(*start, read->values("--rules"), host.loop(), "mcp");
  if (!setup) {
    complain(setup.error());
    return exit_wrong_usage;
  }
  if (const auto audit = begin_audit(start->where, host, "mcp"); !audit) {
    complain(audit.error());
    return exit_wrong_usage;
  }
  warn(setup->warnings);
  setup->terms.session_approvals = true;
  setup->terms.review_limit = std::chrono::minutes{10};
  setup->terms.nobody_reason =
      "the client cannot ask its user (it has no elicitation): add a rule, "
      "or change the approval policy";
  const auto thread = host.open(std::move(setup->terms));
  bool stop = false;
  std::optional<error> why;
  const std::shared_ptr<reactor::line_writer> writer =
      reactor::line_writer::open(host.loop(), own(1), {[] {}, [&stop] { stop = true; }});
  // Calls that the end of the thread cuts off are told to nobody: the host outlives the writer.
  const auto server = std::make_shared<mcp_server>(thread, GATEHOUSE_VERSION,
                                                   [to = std::weak_ptr{writer}](std::string line) {
                                                     if (const auto alive = to.lock())
                                                       alive->write(std::move(line));
                                                   });
  server->begin();
  const auto reader =
      reactor::line_reader::open(host.loop(), own(0),
                                 {[&server](std::string_view line) { server->received(line); },
                                  [&](const result<void>& end) {
                                    if (!end) why = end.error();
                                    stop = true;
                                  }},
                                 most_line);
  const auto signals = reactor::signal_watch::open(host.loop(), {SIGINT, SIGTERM, SIGHUP},
                                                   [&](int) { stop = true; });
  if (!signals) {
    complain(signals.error());
    return exit_failed;
  }
  host.loop().run_until([&] { return stop; });
  server->lost();
  if (!why) return exit_ok;
  complain(*why);
  return exit_failed;
}

} // namespace gatehouse::cli
