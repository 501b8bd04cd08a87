#include "cli/terminal_reviewer.hpp"

#include "cli/question_answer.hpp"
#include "cli/question_view.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Set when the program goes on after it was stopped: the shell has written over the question.
std::atomic<bool> continued{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_continue(int) {
  continued = true;
}

/// One line without its end; nothing at the end of input or when the question is withdrawn.
/// @param ask_again is called when the question may no longer be on the screen
std::optional<std::string> read_line(int fd, const std::atomic<bool>& withdrawn,
                                     const std::function<void()>& ask_again) {
  constexpr std::size_t longest = 256;
  constexpr int between_looks_ms = 100;
  std::string line;
  for (char c = 0;;) {
    pollfd input{fd, POLLIN, 0};
    const int ready = ::poll(&input, 1, between_looks_ms);
    if (withdrawn) return std::nullopt;
    if (continued.exchange(false)) {
      line.clear();
      ask_again();
    }
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const auto n = ::read(fd, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    if (c == '\n') return line;
    if (line.size() < longest) line += c;
  }
}

review_answer ask_at(int terminal, const review_request& question, const std::string& why,
                     const std::atomic<bool>& withdrawn) {
  // What was typed before the question stood is no answer to it.
  ::tcflush(terminal, TCIFLUSH);
  // A command that ran before, or runs, may have left a colour or a character set that hides it.
  constexpr std::string_view readable = "\x0f\x1b[0m";
  const auto look = look_of_terminal(terminal);
  const auto text = question_text(view_of(question), "gatehouse: approval needed", look) +
                    look.dim("  [?] why\n");
  if (!write_whole(terminal,
                   question.attempt > 1 || question.network ? std::string{readable} + text : text))
    return user_answer(question, review_decision::denied, "the terminal cannot be written to");
  continued = false;
  const auto ask_again = [&] { write_whole(terminal, text + "> "); };
  for (;;) {
    write_whole(terminal, "> ");
    const auto line = read_line(terminal, withdrawn, ask_again);
    if (!line) return user_answer(question, review_decision::denied, "no answer: end of input");
    auto step = type_answer(question, *line, why);
    if (step.answer) return *std::move(step.answer);
    write_whole(terminal, step.text);
  }
}

} // namespace

actors::question_asker terminal_asker() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return {};
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return {};
  struct sigaction going_on {};
  going_on.sa_handler = on_continue;
  going_on.sa_flags = SA_RESTART;
  ::sigaction(SIGCONT, &going_on, nullptr);
  // Hosts may be asked about at the same time: one question at a time stands there.
  const auto one_at_a_time = std::make_shared<std::mutex>();
  return [terminal, one_at_a_time](const review_request& question, const std::string& why,
                                   const std::atomic<bool>& withdrawn) {
    const std::lock_guard turn{*one_at_a_time};
    if (withdrawn) return user_answer(question, review_decision::denied, "the question is moot");
    return ask_at(terminal, question, why, withdrawn);
  };
}

} // namespace gatehouse::cli
