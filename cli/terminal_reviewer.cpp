#include "cli/terminal_reviewer.hpp"

#include "cli/visible_text.hpp"

#include <cerrno>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

namespace gatehouse::cli {
namespace {

constexpr std::string_view ctrl_c = "\x03";
constexpr std::string_view ctrl_d = "\x04";

/// /dev/tty with single keys, no echo and no signals from keys; as it was at the end.
class key_terminal {
public:
  key_terminal() : fd_{::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)} {
    if (fd_ < 0 || ::tcgetattr(fd_, &before_) != 0) return;
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    // Flushing matters: a key that was typed before the question stood must not answer it.
    ready_ = ::tcsetattr(fd_, TCSAFLUSH, &keys) == 0;
  }
  key_terminal(const key_terminal&) = delete;
  key_terminal& operator=(const key_terminal&) = delete;
  ~key_terminal() {
    if (ready_) ::tcsetattr(fd_, TCSAFLUSH, &before_);
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] bool ready() const noexcept { return ready_; }

  void show(std::string_view text) const {
    while (!text.empty()) {
      const auto count = ::write(fd_, text.data(), text.size());
      if (count < 0 && errno != EINTR) return;
      if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  /// What arrives until the terminal is quiet for a moment; nothing at the end of input or on stop.
  std::optional<std::string> read(const std::atomic<bool>& stop) const {
    constexpr int between_looks_ms = 100;
    constexpr int quiet_ms = 30; // a terminal's report comes in one piece, a key alone
    std::string typed;
    while (true) {
      pollfd input{fd_, POLLIN, 0};
      const int ready = ::poll(&input, 1, typed.empty() ? between_looks_ms : quiet_ms);
      if (stop) return std::nullopt;
      if (ready == 0 && !typed.empty()) return typed;
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      char bytes[256];
      const auto count = ::read(fd_, bytes, sizeof bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      typed.append(bytes, static_cast<std::size_t>(count));
    }
  }

private:
  int fd_ = -1;
  termios before_{};
  bool ready_ = false;
};

void add_line(std::string& out, std::string_view name, std::string_view value) {
  constexpr std::size_t width = 11;
  out += "  ";
  out += name;
  out.append(width - name.size(), ' ');
  out += value;
  out += '\n';
}

std::string rule_text(const std::vector<std::string>& prefix) {
  return "always allow commands that begin with: " + shell_quoted(prefix);
}

} // namespace

bool can_ask_at_terminal() noexcept {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) return false;
  const int fd = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

std::string question_text(const review_request& question) {
  std::string out =
      question.attempt == 1 ? "gatehouse: may this run?\n" : "gatehouse: may this run once more?\n";
  add_line(out, "command", shell_quoted(question.what.argv));
  add_line(out, "folder", visible_text(question.what.cwd));
  add_line(out, "why", visible_text(question.reason));
  if (!question.what.justification.empty())
    add_line(out, "agent says", visible_text(question.what.justification));
  add_line(out, "if yes", visible_text(question.will_be_allowed));
  if (!question.proposed_amendment.empty())
    add_line(out, "rule", rule_text(question.proposed_amendment));
  return out;
}

std::string keys_text(const review_request& question) {
  std::string out = "[y] once  ";
  if (question.session_offered) out += "[s] for the session  ";
  if (!question.proposed_amendment.empty()) out += "[r] once, and add the rule  ";
  return out + "[n] no  [q] stop > ";
}

std::optional<review_decision> decision_of(std::string_view typed, const review_request& question) {
  while (!typed.empty() && (typed.back() == '\r' || typed.back() == '\n'))
    typed.remove_suffix(1);
  if (typed == "y") return review_decision::approved;
  if (typed == "s" && question.session_offered) return review_decision::approved_for_session;
  if (typed == "r" && !question.proposed_amendment.empty())
    return review_decision::approved_execpolicy_amendment;
  if (typed == "n" || typed == ctrl_d) return review_decision::denied;
  if (typed == "q" || typed == ctrl_c) return review_decision::abort;
  return std::nullopt;
}

review_answer ask_at_terminal(const review_request& question, const std::atomic<bool>& stop) {
  review_answer answer{
      question.review_id, question.digest, review_decision::denied, reviewer_kind::user, {}};
  const key_terminal terminal;
  if (!terminal.ready()) {
    answer.reviewer = reviewer_kind::none;
    answer.reason = "the terminal is gone, no one can be asked";
    return answer;
  }
  // Output of an earlier attempt may have left colours or modes that would hide the question.
  terminal.show("\x1b[!p\x1b[0m\r\n" + question_text(question));
  while (true) {
    terminal.show(keys_text(question));
    const auto typed = terminal.read(stop);
    if (!typed) {
      if (stop) answer.decision = review_decision::abort;
      terminal.show("\n");
      return answer;
    }
    const auto decision = decision_of(*typed, question);
    if (!decision) {
      terminal.show("?\n");
      continue;
    }
    terminal.show(std::string{to_string(*decision)} + "\n");
    answer.decision = *decision;
    return answer;
  }
}

} // namespace gatehouse::cli
