#include "cli/batch_command.hpp"

#include "cli/batch_run.hpp"
#include "cli/output.hpp"
#include "cli/thread_setup.hpp"
#include "reactor/signals.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

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
    return error{errc::io, "cannot read " + name + ": " + std::strerror(errno), {}};
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

std::string summary(const batch_counts& counts) {
  std::string text;
  const auto row = [&](std::string_view name, std::size_t number) {
    if (number > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + std::string{name};
  };
  row("fine", counts.fine);
  row("failed", counts.failed);
  row("refused", counts.refused);
  row("interrupted", counts.interrupted);
  row("not run", counts.not_run);
  if (counts.remembered > 0)
    text += " (" + std::to_string(counts.remembered) + " of them in an earlier run)";
  return "batch: " + (text.empty() ? "nothing to do" : text) + "\n";
}

result<batch_terms> read_terms(const options& given) {
  batch_terms terms;
  const auto jobs = given.value("--jobs");
  if (jobs) {
    const auto end = jobs->data() + jobs->size();
    const auto read = std::from_chars(jobs->data(), end, terms.jobs);
    if (read.ec != std::errc{} || read.ptr != end || terms.jobs == 0 || terms.jobs > 1024)
      return error{
          errc::invalid_request, "--jobs takes a number from 1 to 1024, not '" + *jobs + "'", {}};
  }
  const auto order = given.value("--order").value_or("completion");
  if (order != "input" && order != "completion")
    return error{errc::invalid_request, "--order is input or completion, not '" + order + "'", {}};
  terms.input_order = order == "input";
  terms.fail_fast = given.has("--fail-fast");
  terms.retry_started = given.has("--retry-started");
  if (terms.retry_started && !given.value("--journal"))
    return error{errc::invalid_request, "--retry-started needs --journal", {}};
  return terms;
}

} // namespace

int batch_command(arguments given) {
  const auto words = open_command_line("batch", given);
  if (!words.given) return words.status;
  const auto& read = words.given;
  if (read->rest().size() != 1) return wrong_usage_of("batch", "one FILE, or - for standard input");
  const auto terms = read_terms(*read);
  if (!terms) return wrong_usage_of("batch", terms.error().message);
  const auto refuse = [](const error& why) {
    complain(why);
    return exit_wrong_usage;
  };
  const auto& name = read->rest().front();
  const auto text = read_input(name);
  if (!text) return refuse(text.error());
  const auto input = read_batch_input(*text, name == "-" ? "standard input" : name);
  if (!input) return refuse(input.error());
  const auto start = load_for(*read);
  if (!start) return refuse(start.error());
  actors::thread_host host;
  auto setup = set_up_thread(*start, read->values("--rules"), host.loop(), "batch");
  if (!setup) return refuse(setup.error());
  std::unique_ptr<batch_journal> journal;
  if (const auto path = read->value("--journal")) {
    auto opened = batch_journal::open(*path, input->fingerprint, input->items.size());
    if (!opened) return refuse(opened.error());
    journal = *std::move(opened);
  }
  warn(setup->warnings);

  setup->terms.shell.max_running = terms->jobs;
  setup->terms.shell.slots = std::make_shared<actors::attempt_slots>(terms->jobs);
  setup->terms.nobody_reason =
      "nobody is asked in a batch: add a rule, a hook or an automatic reviewer, or change the "
      "approval policy";
  const auto thread = host.open(std::move(setup->terms));
  bool stop = false;
  const auto signals = reactor::signal_watch::open(host.loop(), {SIGINT, SIGTERM, SIGHUP},
                                                   [&](int) { stop = true; });
  if (!signals) return refuse(signals.error());
  bool lost = false;
  progress_bar bar{input->items.size()};
  batch_run run{host,
                thread,
                *input,
                journal.get(),
                *terms,
                [&](const std::string& line) {
                  lost = lost || !print(line + "\n");
                  return !lost;
                },
                [&](std::size_t done) { bar.show(done); }};
  const auto counts = run.run([&] { return stop; });
  bar.end();
  if (!counts) {
    complain(counts.error());
    return exit_failed;
  }
  print_error(summary(*counts));
  if (lost) {
    complain("the results cannot be written; the journal, where there is one, has them");
    return exit_failed;
  }
  return stop ? exit_stopped : exit_status(*counts);
}

} // namespace gatehouse::cli
