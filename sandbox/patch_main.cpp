// gatehouse-sandbox-patch: applies one patch, inside the boundary that its caller built (§11,
// §107).
#include "sandbox/patch_files.hpp"
#include "sandbox/patch_order.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace {

volatile std::sig_atomic_t asked_to_stop = 0;

void remember_to_stop(int) {
  asked_to_stop = 1;
}

std::optional<std::string> read_input() {
  constexpr std::size_t limit = 64U << 20;
  std::string text;
  char part[65536];
  for (;;) {
    const ssize_t size = ::read(STDIN_FILENO, part, sizeof part);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 || text.size() > limit) return std::nullopt;
    if (size == 0) return text;
    text.append(part, static_cast<std::size_t>(size));
  }
}

int fail(const gatehouse::error& what, int status) {
  std::fprintf(stderr, "%s\n", what.message.c_str());
  if (!what.remedy.empty()) std::fprintf(stderr, "next: %s\n", what.remedy.c_str());
  return status;
}

/// A large patch may touch files in many folders.
void open_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

} // namespace

int main() {
  using namespace gatehouse;
  constexpr int exit_failed = 1;
  constexpr int exit_wrong_usage = 2;
  // Between two files is a good moment to stop; inside one is none.
  struct sigaction stop {};
  stop.sa_handler = remember_to_stop;
  stop.sa_flags = SA_RESTART;
  for (int number : {SIGTERM, SIGINT, SIGHUP})
    ::sigaction(number, &stop, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // A file that the limit of its size cuts off is a failure to report.
  std::signal(SIGXFSZ, SIG_IGN);
  open_many_files();
  const auto input = read_input();
  const auto order = sandbox::decode_patch_order(input ? *input : std::string{});
  if (!order) return fail(order.error(), exit_wrong_usage);
  const auto parsed = parse_patch(order->call.text);
  if (!parsed) return fail(parsed.error(), exit_failed);
  sandbox::patch_terms terms;
  terms.cwd = order->call.cwd;
  terms.expected = order->call.changes;
  terms.done = order->done;
  terms.only_verify = order->only_verify;
  // Nobody listening changes nothing about the files.
  const auto say = [](const std::string& line) {
    (void)!::write(STDOUT_FILENO, line.data(), line.size());
  };
  terms.on_verified = [&](std::size_t tolerant) { say(sandbox::encode_tolerance(tolerant)); };
  terms.on_progress = [&](const patch_progress& done) { say(sandbox::encode_progress(done)); };
  terms.stopped = [] { return asked_to_stop != 0; };
  const auto report = sandbox::apply_patch_files(*parsed, terms);
  return report.failure ? fail(*report.failure, exit_failed) : 0;
}
