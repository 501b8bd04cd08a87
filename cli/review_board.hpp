#pragma once

#include "cli/question_view.hpp"
#include "cli/reading_time.hpp"
#include "protocol/rpc/app_types.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gatehouse::cli {

/// An answer for the daemon.
struct board_answer {
  std::string thread_id;
  std::string request_id;
  std::string decision; ///< JSON, as the question offered it
  std::string digest;   ///< of what was shown
};

/// "Why?" about a question, for the daemon.
struct board_why {
  std::string thread_id;
  std::string request_id;
};

/// What is to be done after a step.
struct board_step {
  std::string text; ///< for the terminal
  std::optional<board_answer> answer;
  std::optional<board_why> why{};
  bool leave = false;
  bool forget_input = false; ///< what was typed before is no answer to what stands now
  bool drawn = false;        ///< a question: call `readable` when its reading_time is over
};

/// What a person at `gatehouse review` sees and types (§204), as a value: it knows no terminal and
/// no connection. One question stands at a time; it is answered by one key; a question
/// that takes the place of another while the person looks waits for Enter, so that a key meant for
/// the one never answers the other, and no question takes a yes before it has stood for its
/// reading_time: until then it has no prompt. What is not answered stays with the daemon.
class review_board {
public:
  /// @param now how late it is, whenever it is asked
  explicit review_board(std::function<reading_time::time_point()> now) : now_{std::move(now)} {}

  /// The daemon is there; `standing` are all questions that stand, oldest first.
  board_step connected(const std::string& where,
                       const std::vector<rpc::app::approval_request>& standing,
                       const terminal_look& look);
  /// The daemon is gone for now; nothing can be answered until it is back.
  board_step lost(std::string_view why);
  board_step asked(const rpc::app::approval_request& question, const terminal_look& look);
  board_step resolved(const rpc::app::request_resolved& outcome);
  /// The daemon did not take an answer.
  board_step refused(const std::string& request_id, std::string_view why,
                     const terminal_look& look);
  /// The daemon's words to "why?".
  board_step explained(std::string_view why);
  board_step typed(char key, const terminal_look& look);
  /// The prompt of the question that stands, if it is time and it has none yet.
  board_step readable();
  /// The window changed, or the program was in the background.
  board_step again(const terminal_look& look);

  [[nodiscard]] std::size_t standing() const noexcept { return open_.size(); }
  [[nodiscard]] std::size_t answered() const noexcept { return answered_; }
  /// Answers are on their way: the daemon has not said yet that it took them.
  [[nodiscard]] bool waits_for_daemon() const;

private:
  struct entry {
    rpc::app::approval_request question;
    bool sent = false; ///< an answer is on its way
  };

  entry* find(std::string_view request_id);
  /// The oldest question without an answer, shown; or that there is none.
  board_step next(std::string before, const terminal_look& look);
  /// The prompt, where an answer counts by now.
  std::string prompt();
  [[nodiscard]] std::string list() const;
  [[nodiscard]] std::size_t waiting() const;

  std::vector<entry> open_; ///< in the order in which they are shown
  std::string shown_;       ///< id of the question that a key answers; empty: none
  std::function<reading_time::time_point()> now_;
  reading_time reading_;
  bool prompted_ = false; ///< the question that is shown has its prompt
  bool paused_ = false;   ///< Enter shows the next one
  bool connected_ = false;
  std::size_t answered_ = 0;
};

} // namespace gatehouse::cli
