#include "cli/terminal_reviewer.hpp"

#include "cli/question_answer.hpp"
#include "cli/question_view.hpp"
#include "cli/reading_time.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

bool write_all(int fd, std::string_view text) {
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

/// The question at the terminal: drawn first, and with a prompt when an answer counts.
class standing_question {
public:
  standing_question(int terminal, std::string text) : terminal_{terminal}, text_{std::move(text)} {}

  /// @return false: the terminal cannot be written to
  bool draw(std::string_view before = {}) {
    prompted_ = false;
    const bool written = write_all(terminal_, std::string{before} + text_);
    reading_.start(now());
    return written;
  }
  void say(std::string_view text) const {
    write_all(terminal_, std::string{text} + (prompted_ ? "> " : ""));
  }
  /// Writes the prompt once it is time. @return true: it did; what was typed before is dropped
  bool prompt() {
    if (prompted_ || !reading_.over(now())) return false;
    ::tcflush(terminal_, TCIFLUSH);
    prompted_ = true;
    say({});
    return true;
  }
  /// What is typed now was typed after the question could be read.
  [[nodiscard]] bool prompted() const noexcept { return prompted_; }
  [[nodiscard]] int terminal() const noexcept { return terminal_; }
  /// How long nothing needs to be done here.
  [[nodiscard]] std::chrono::milliseconds rest() const {
    constexpr std::chrono::milliseconds between_looks{100};
    return prompted_ ? between_looks : std::min(between_looks, reading_.left(now()));
  }

private:
  static reading_time::time_point now() { return std::chrono::steady_clock::now(); }

  int terminal_;
  std::string text_;
  reading_time reading_;
  bool prompted_ = false;
};

/// One line without its end; nothing at the end of input or when the question is withdrawn.
std::optional<std::string> read_line(standing_question& question,
                                     const std::atomic<bool>& withdrawn) {
  constexpr std::size_t longest = 256;
  std::string line;
  for (char c = 0;;) {
    pollfd input{question.terminal(), POLLIN, 0};
    const int ready = ::poll(&input, 1, static_cast<int>(question.rest().count()));
    if (withdrawn) return std::nullopt;
    // The question may no longer be on the screen.
    if (continued.exchange(false)) {
      line.clear();
      question.draw();
      continue;
    }
    if (ready == 0 && question.prompt()) line.clear();
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const auto n = ::read(question.terminal(), &c, 1);
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
  standing_question standing{terminal,
                             question_text(view_of(question), "gatehouse: approval needed", look) +
                                 look.dim("  [?] why\n")};
  continued = false;
  if (!standing.draw(question.attempt > 1 || question.network ? readable : std::string_view{}))
    return user_answer(question, review_decision::denied, "the terminal cannot be written to");
  for (;;) {
    const auto line = read_line(standing, withdrawn);
    if (withdrawn) {
      // Said here, since another question may be drawn before any output is.
      write_all(terminal,
                "\ngatehouse: this question was withdrawn; nothing answers it any more.\n");
      return user_answer(question, review_decision::denied, "the question is moot");
    }
    if (!line) return user_answer(question, review_decision::denied, "no answer: end of input");
    auto step = type_answer(question, *line, why, standing.prompted());
    if (step.answer) return *std::move(step.answer);
    standing.say(step.text);
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
