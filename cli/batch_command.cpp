#include "cli/batch_command.hpp"

#include "cli/audit_setup.hpp"
#include "cli/batch_engine.hpp"
#include "cli/batch_journal.hpp"
#include "cli/batch_options.hpp"
#include "cli/batch_run.hpp"
#include "cli/batch_slurm.hpp"
#include "cli/batch_summary.hpp"
#include "cli/follow_settings.hpp"
#include "cli/output.hpp"
#include "cli/thread_setup.hpp"
#include "config/locations.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/profile_json.hpp"
#include "reactor/signals.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

constexpr int exit_stopped = 120;
constexpr std::size_t most_bytes = std::size_t{1} << 30U;

result<std::string> read_input(const std::string& name) {
  const int fd = name == "-" ? ::dup(0) : ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  const auto failed = [&] {
    return error{errno == ENOENT ? errc::not_found : errc::io,
                 "cannot read " + name + ": " + std::strerror(errno),
                 "Name a file with one call a line (`gatehouse man batch` shows one), or - for "
                 "standard input."};
  };
  if (fd < 0) return failed();
  std::string text;
  char bytes[65536];
  ssize_t count = 0;
  while ((count = ::read(fd, bytes, sizeof bytes)) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || text.size() > most_bytes) break;
    text.append(bytes, static_cast<std::size_t>(count));
  }
  const auto failure = failed();
  ::close(fd);
  if (count < 0) return failure;
  if (text.size() > most_bytes)
    return error{errc::too_large, name + " is larger than 1 GiB", "Split it."};
  return text;
}

/// How far the batch is: a bar on a terminal, else a line at every tenth.
class progress_bar {
public:
  explicit progress_bar(std::size_t all) : all_{all}, terminal_{::isatty(2) == 1} {}
  void show(std::size_t done) {
    if (all_ == 0) return;
    const auto text = std::to_string(done) + "/" + std::to_string(all_);
    if (terminal_) {
      const auto full = done * 30 / all_;
      print_error("\r[" + std::string(full, '#') + std::string(30 - full, ' ') + "] " + text);
    } else if (done * 10 / all_ != tenths_) {
      tenths_ = done * 10 / all_;
      print_error("batch: " + text + "\n");
    }
  }
  void end() {
    if (terminal_ && all_ > 0) print_error("\n");
  }

private:
  std::size_t all_;
  bool terminal_;
  std::size_t tenths_ = 0;
};

/// Tells how a batch that had begun ended.
/// @param failure why it could not go on
int conclude(const batch_counts& counts, const std::optional<error>& failure, bool json,
             int status) {
  if (json) {
    if (!print(batch_summary_json(counts, failure, status) + "\n")) return exit_failed;
  } else {
    print_error(batch_summary(counts));
  }
  if (failure) complain(*failure);
  return status;
}

int run_slurm(const batch_input& input, const slurm_terms& terms, bool json) {
  bool stop = false;
  reactor::event_loop loop; // for the signals only
  const auto signals =
      reactor::signal_watch::open(loop, {SIGINT, SIGTERM, SIGHUP}, [&](int) { stop = true; });
  const auto counts = run_on_slurm(
      input, terms, [](const std::string& line) { return print(line + "\n"); },
      [&] {
        loop.poll();
        return stop;
      });
  if (!counts)
    return fail(counts.error(), stop                                           ? exit_stopped
                                : counts.error().code == errc::invalid_request ? exit_wrong_usage
                                                                               : exit_failed);
  return conclude(*counts, {}, json, exit_status(*counts));
}

/// A batch whose engine stands, to its end; the status to exit with.
int run_with(batch_engine& engine, const batch_input& input, batch_journal* journal,
             const batch_terms& terms, bool json) {
  bool stop = false;
  const auto signals = reactor::signal_watch::open(engine.loop(), {SIGINT, SIGTERM, SIGHUP},
                                                   [&](int) { stop = true; });
  if (!signals) return fail(signals.error(), exit_wrong_usage);
  bool lost = false;
  progress_bar bar{input.items.size()};
  batch_run run{engine,
                input,
                journal,
                terms,
                [&](const std::string& line) {
                  lost = lost || !print(line + "\n");
                  return !lost;
                },
                [&](std::size_t done) { bar.show(done); }};
  const auto ended = run.run([&] { return stop; });
  bar.end();
  std::optional<error> failure;
  if (!ended) failure = ended.error();
  if (lost && !failure)
    failure = error{errc::io, "the results cannot be written",
                    journal ? "The journal has them: give the same command again."
                            : "Write them where there is room and a reader; without --journal the "
                              "same command runs every call again."};
  return conclude(run.counts(), failure, json,
                  failure ? exit_failed
                  : stop  ? exit_stopped
                          : exit_status(run.counts()));
}

struct batch_session {
  thread_setup setup;
  std::string profile; ///< its name, or itself where it has none
};

result<batch_session> session_for(const options& given,
                                  std::optional<std::chrono::milliseconds> limit,
                                  reactor::event_loop& loop) {
  const auto start = load_for_place(given);
  if (!start) return start.error();
  auto setup = set_up_thread(*start, given.values("--rules"), loop, "batch");
  if (!setup) return setup.error();
  auto& terms = setup->terms;
  // A call that could write there would forge the results of others, or have them run twice.
  for (const auto* option : {"--work", "--journal"})
    if (const auto path = given.value(option))
      for (auto& name : names_of_place(*path))
        terms.shell.hidden_paths.push_back(std::move(name));
  if (const auto moved = move_session(terms, setup->places, given, loop); !moved)
    return moved.error();
  terms.nobody_reason = "nobody is asked in a batch: add a rule, a hook or an automatic reviewer, "
                        "or change the approval policy";
  if (limit) terms.shell.default_timeout = *limit;
  follow_settings(*setup, [given, limit, &loop]() -> result<thread_setup> {
    auto again = session_for(given, limit, loop);
    if (!again) return again.error();
    return std::move(again->setup);
  });
  auto profile = start->given_profile ? encode_profile(*start->given_profile)
                                      : start->loaded.settings.default_permissions.value;
  return batch_session{*std::move(setup), std::move(profile)};
}

} // namespace

int batch_command(arguments given) {
  const auto words = open_command_line("batch", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (read->rest().size() != 1)
    return wrong_usage_of("batch", "name one file with calls, or - for standard input");
  const auto terms = read_batch_terms(*read);
  if (!terms) return wrong_usage_of("batch", terms.error());
  const auto refuse = [](const error& why) { return fail(why, exit_wrong_usage); };
  const bool json = read->has("--json");
  const auto& name = read->rest().front();
  const auto text = read_input(name);
  if (!text) return refuse(text.error());
  const auto input = read_batch_input(*text, name == "-" ? "standard input" : name);
  if (!input) return refuse(input.error());
  // Last of all, so that nothing is left behind by a command line that was wrong.
  std::unique_ptr<batch_journal> journal;
  const auto open_journal = [&](rpc::batch::journal_place place) -> result<void> {
    const auto path = read->value("--journal");
    if (!path) return {};
    const auto wish = read->has("--resume") ? journal_wish::go_on : journal_wish::begin_or_go_on;
    auto opened = batch_journal::open(*path, wish,
                                      {input->fingerprint, input->items.size(), std::move(place)});
    if (!opened) return opened.error();
    journal = *std::move(opened);
    return {};
  };
  const auto engine_name = read->value("--engine").value_or("local");
  if (engine_name != "local" && engine_name != "slurm")
    return wrong_usage_of("batch", "--engine is local or slurm, not '" + engine_name + "'");
  if (engine_name == "slurm") {
    const auto slurm = read_slurm_terms(*read);
    if (!slurm) return wrong_usage_of("batch", slurm.error());
    return run_slurm(*input, *slurm, json);
  }
  // A task of Slurm is given both: what is in the work folder is kept from its calls.
  if (read->has("--work") && (!read->has("--journal") || read->has("--url")))
    return wrong_usage_of("batch", "--work needs --engine slurm");
  if (read->has("--tasks")) return wrong_usage_of("batch", "--tasks needs --engine slurm");
  if (read->has("--url")) {
    auto remote = read_remote_terms(*read);
    if (!remote) return wrong_usage_of("batch", remote.error());
    const auto environment = remote->environment.value_or(std::string{local_environment});
    const bool here = environment == local_environment;
    std::vector<std::string> written{remote->cwd};
    if (here) {
      const char* temporary = std::getenv("TMPDIR");
      written.insert(written.end(), {"/tmp", temporary ? temporary : ""});
    }
    if (const auto apart = journal_outside(*read, written); !apart) return refuse(apart.error());
    const auto ready =
        open_journal({"daemon", environment, here ? real_folder(remote->cwd) : remote->cwd,
                      remote->profile.value_or(""), remote->approval_policy.value_or("")});
    if (!ready) return refuse(ready.error());
    reactor::event_loop loop;
    remote_engine engine{loop, *std::move(remote)};
    return run_with(engine, *input, journal.get(), *terms, json);
  }
  if (read->has("--token-file")) return wrong_usage_of("batch", "--token-file needs --url");
  const auto limit = time_limit_of(*read);
  if (!limit) return wrong_usage_of("batch", limit.error());
  actors::thread_host host;
  auto made = session_for(*read, *limit, host.loop());
  if (!made) return refuse(made.error());
  auto& setup = made->setup;
  if (const auto audit = begin_audit(config::locations_from_environment(), host, "batch"); !audit)
    return refuse(audit.error());
  const auto& session = setup.terms.session;
  const bool here = !setup.terms.shell.remote;
  if (const auto apart = here ? result<void>{} : journal_outside(*read, {session.cwd}); !apart)
    return refuse(apart.error());
  if (const auto work = read->value("--work"))
    if (const auto apart = calls_outside(*work, session.cwd); !apart) return refuse(apart.error());
  const auto ready =
      open_journal({"local", session.environment_id, here ? real_folder(session.cwd) : session.cwd,
                    made->profile, encode_approval_policy(session.approval)});
  if (!ready) return refuse(ready.error());
  warn(setup.warnings);

  setup.terms.shell.max_running = terms->jobs;
  setup.terms.shell.slots = std::make_shared<actors::attempt_slots>(terms->jobs);
  const auto thread = host.open(std::move(setup.terms));
  local_engine engine{host, thread};
  return run_with(engine, *input, journal.get(), *terms, json);
}

} // namespace gatehouse::cli
