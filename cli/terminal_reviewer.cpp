#include "cli/terminal_reviewer.hpp"

#include "protocol/shell_quote.hpp"
#include "protocol/visible_text.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
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

/// Text from outside as one or more lines of ours: nothing in it can move the cursor, and a line of
/// its own is set apart by `indent`.
std::string shown(std::string_view text, std::string_view indent) {
  std::string out;
  for (const char c : visible_text(text)) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out;
}

/// As much of a patch as a person reads at a terminal; what is left out is said.
std::string first_lines(std::string_view text) {
  constexpr int most_lines = 400;
  constexpr std::size_t most_bytes = 64 * 1024;
  while (text.ends_with('\n'))
    text.remove_suffix(1);
  std::size_t end = 0;
  for (int lines = 0; lines < most_lines && end < std::min(text.size(), most_bytes); ++lines)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  std::string shown{text.substr(0, std::min(end, most_bytes))};
  if (shown.size() < text.size())
    shown += "\n(" + std::to_string(text.size() - shown.size()) +
             " more bytes are not shown here; say no to read them first)";
  return shown;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// One line without its end; nothing at the end of input or when the question is withdrawn.
std::optional<std::string> read_line(int fd, const std::atomic<bool>& withdrawn) {
  constexpr std::size_t longest = 256;
  constexpr int between_looks_ms = 100;
  std::string line;
  for (char c = 0;;) {
    pollfd input{fd, POLLIN, 0};
    const int ready = ::poll(&input, 1, between_looks_ms);
    if (withdrawn) return std::nullopt;
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const auto n = ::read(fd, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    if (c == '\n') return line;
    if (line.size() < longest) line += c;
  }
}

review_answer answer_of(const review_request& question, review_decision decision,
                        std::string reason) {
  return {question.review_id, question.digest, decision, reviewer_kind::user, std::move(reason)};
}

std::optional<review_decision> decision_of(const review_request& question, std::string_view key) {
  if (key == "y") return review_decision::approved;
  if (key == "s" && question.session_offered) return review_decision::approved_for_session;
  if (key == "r" && !question.proposed_amendment.empty())
    return review_decision::approved_execpolicy_amendment;
  if (key == "n") return review_decision::denied;
  if (key == "q") return review_decision::abort;
  return std::nullopt;
}

/// A decision about a host that holds from now on.
std::optional<review_answer> host_rule_of(const review_request& question, std::string_view key) {
  if (!question.network || (key != "r" && key != "d")) return std::nullopt;
  auto answer = answer_of(question, review_decision::network_policy_amendment, "");
  answer.denies_host = key == "d";
  return answer;
}

review_answer ask_at(int terminal, const review_request& question,
                     const std::atomic<bool>& withdrawn) {
  // What was typed before the question stood is no answer to it.
  ::tcflush(terminal, TCIFLUSH);
  // A command that ran before may have left a colour or a character set that hides the question.
  constexpr std::string_view readable = "\x0f\x1b[0m";
  const auto text = question_text(question);
  if (!write_all(terminal, question.attempt > 1 ? std::string{readable} + text : text))
    return answer_of(question, review_decision::denied, "the terminal cannot be written to");
  for (;;) {
    write_all(terminal, "> ");
    const auto line = read_line(terminal, withdrawn);
    if (!line) return answer_of(question, review_decision::denied, "no answer: end of input");
    if (auto answer = host_rule_of(question, *line)) return *answer;
    if (const auto decision = decision_of(question, *line))
      return answer_of(question, *decision, "");
    write_all(terminal, "  please type one of the letters in brackets, then Enter\n");
  }
}

} // namespace

std::string question_text(const review_request& question) {
  constexpr std::string_view indent = "           ";
  std::string text = "\ngatehouse: approval needed\n";
  const auto line = [&](std::string_view head, std::string_view body) {
    text.append("  ").append(head).append(shown(body, indent)).append("\n");
  };
  if (question.what.patch) {
    const auto& patch = *question.what.patch;
    line("patch:   ", describe(patch.changes));
    line("folder:  ", shell_quote(patch.cwd));
    line("text:    ", first_lines(patch.text));
  } else {
    if (!question.what.argv.empty()) line("command: ", shell_join(question.what.argv));
    line("folder:  ", shell_quote(question.what.cwd));
  }
  line("why:     ",
       question.reason.empty() ? "the approval policy asks about this command" : question.reason);
  if (!question.what.justification.empty() && question.what.justification != question.reason)
    line("it says: ", question.what.justification);
  line("allows:  ", question.will_be_allowed);
  text += question.network ? "  [y] yes, while this command runs\n" : "  [y] yes, once\n";
  if (question.session_offered) text += "  [s] yes, for this session\n";
  if (!question.proposed_amendment.empty())
    line(question.without_sandbox
             ? "[r] yes, and from now on, without a question and by default without the sandbox, "
               "all that begins with: "
             : "[r] yes, and from now on, without a question but inside the sandbox, all that "
               "begins with: ",
         shell_join(question.proposed_amendment));
  if (question.network) {
    line("[r] yes, and from now on, without a question: ", to_string(*question.network));
    line("[d] no, and never again without a question: ", to_string(*question.network));
  }
  text += "  [n] no\n  [q] no, and stop here\n";
  return text;
}

actors::question_asker terminal_asker() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return {};
  const int terminal = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return {};
  // Hosts may be asked about at the same time: one question at a time stands there.
  const auto one_at_a_time = std::make_shared<std::mutex>();
  return [terminal, one_at_a_time](const review_request& question,
                                   const std::atomic<bool>& withdrawn) {
    const std::lock_guard turn{*one_at_a_time};
    if (withdrawn) return answer_of(question, review_decision::denied, "the question is moot");
    return ask_at(terminal, question, withdrawn);
  };
}

} // namespace gatehouse::cli
