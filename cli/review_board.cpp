#include "cli/review_board.hpp"

#include "protocol/visible_text.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::cli {
namespace {

constexpr char end_of_input = 4; // Ctrl-D
constexpr std::string_view prompt_mark = "> ";
constexpr std::string_view keys =
    "  [?] why   [j] later   [l] list   Ctrl-D leaves; what is not answered stays\n";

std::string questions(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " question" : " questions");
}

} // namespace

review_board::entry* review_board::find(std::string_view request_id) {
  const auto found = std::ranges::find_if(
      open_, [&](const entry& e) { return e.question.request_id == request_id; });
  return found == open_.end() ? nullptr : &*found;
}

std::size_t review_board::waiting() const {
  return static_cast<std::size_t>(std::ranges::count(open_, false, &entry::sent));
}

board_step review_board::next(std::string before, const terminal_look& look) {
  board_step step{.text = std::move(before), .answer = {}, .forget_input = true};
  paused_ = false;
  shown_.clear();
  const auto found = std::ranges::find(open_, false, &entry::sent);
  if (found == open_.end()) {
    step.text += "No question waits. Ctrl-D leaves.\n";
    return step;
  }
  const auto& question = found->question;
  shown_ = question.request_id;
  auto headline = "gatehouse: approval needed (thread " + visible_words(question.thread_id) +
                  (question.attempt > 1 ? ", second attempt" : "");
  if (const auto more = waiting() - 1; more > 0) headline += "; " + std::to_string(more) + " more";
  step.text += question_text(view_of(question), headline + ")", look) + look.dim(keys);
  step.drawn = true;
  prompted_ = false;
  reading_.start(now_());
  return step;
}

std::string review_board::prompt() {
  if (shown_.empty() || !reading_.over(now_())) return {};
  prompted_ = true;
  return std::string{prompt_mark};
}

board_step review_board::readable() {
  return {.text = prompted_ ? std::string{} : prompt(), .answer = {}};
}

board_step review_board::connected(const std::string& where,
                                   const std::vector<rpc::app::approval_request>& standing,
                                   const terminal_look& look) {
  connected_ = true;
  open_.clear();
  for (const auto& question : standing)
    open_.push_back({question});
  return next("Connected to " + where + "; " + questions(standing.size()) +
                  (standing.size() == 1 ? " stands.\n" : " stand.\n"),
              look);
}

board_step review_board::lost(std::string_view why) {
  const bool told = !std::exchange(connected_, false);
  shown_.clear();
  paused_ = false;
  if (told) return {};
  return {.text = "\nThe daemon is gone (" + visible_words(why) +
                  "). Its questions cannot be answered now; trying again.\n",
          .answer = {}};
}

board_step review_board::asked(const rpc::app::approval_request& question,
                               const terminal_look& look) {
  if (!connected_) return {}; // the list that comes with the connection has it
  if (find(question.request_id)) return {};
  open_.push_back({question});
  if (shown_.empty() && !paused_) return next({}, look);
  return {.text = "\n  (" + questions(waiting() - (shown_.empty() ? 0 : 1)) + " more)\n" +
                  (shown_.empty() ? std::string{prompt_mark} : prompt()),
          .answer = {}};
}

board_step review_board::resolved(const rpc::app::request_resolved& outcome) {
  auto* known = find(outcome.request_id);
  if (!known) return {};
  const bool ours = known->sent && outcome.reviewer == "user";
  const auto command = visible_words(known->question.command.substr(0, 200));
  open_.erase(open_.begin() + (known - open_.data()));
  if (ours) return {};
  board_step step;
  step.text =
      (outcome.reviewer == "none" ? std::string{"\n  No longer asked"}
                                  : "\n  Answered elsewhere: " + visible_words(outcome.decision) +
                                        " by " + visible_words(outcome.reviewer)) +
      (outcome.reason.empty() ? "" : " (" + visible_words(outcome.reason) + ")") + ": " + command +
      "\n";
  if (shown_ != outcome.request_id) return step;
  shown_.clear();
  paused_ = waiting() > 0;
  step.text += paused_ ? "  Enter shows the next question.\n" : "No question waits.\n";
  return step;
}

board_step review_board::refused(const std::string& request_id, std::string_view why,
                                 const terminal_look& look) {
  auto* known = find(request_id);
  if (!known) return {};
  known->sent = false;
  if (answered_ > 0) --answered_;
  auto text = "\n  Not taken: " + visible_words(why) + "\n";
  if (shown_.empty() && !paused_) return next(std::move(text), look);
  return {.text = text + (shown_.empty() ? std::string{prompt_mark} : prompt()), .answer = {}};
}

bool review_board::waits_for_daemon() const {
  return connected_ && std::ranges::any_of(open_, &entry::sent);
}

std::string review_board::list() const {
  std::string text = "\n";
  for (const auto& [question, sent] : open_)
    text += std::string{"  "} + (question.request_id == shown_ ? "* " : "  ") +
            visible_words(question.command.substr(0, 500)) + (sent ? "  (answered)" : "") + "\n";
  return open_.empty() ? "No question waits.\n" : text;
}

board_step review_board::explained(std::string_view why) {
  return {.text = "\n" + visible_text(why) + prompt(), .answer = {}};
}

board_step review_board::typed(char key, const terminal_look& look) {
  if (key == end_of_input) return {.text = "\n", .answer = {}, .leave = true};
  if (paused_ && (key == '\n' || key == '\r' || key == ' ')) return next({}, look);
  if (key == 'l') return {.text = list() + prompt(), .answer = {}};
  auto* current = shown_.empty() ? nullptr : find(shown_);
  if (!current) return {};
  if (key == '?')
    return {.text = "?\n",
            .answer = {},
            .why = board_why{current->question.thread_id, current->question.request_id}};
  if (key == 'j') {
    std::rotate(open_.begin() + (current - open_.data()),
                open_.begin() + (current - open_.data()) + 1, open_.end());
    return next("later\n", look);
  }
  const auto view = view_of(current->question);
  const auto choice = std::ranges::find(view.choices, key, &answer_choice::key);
  if (choice == view.choices.end()) {
    if (key == '\n' || key == '\r') return {.text = "\n" + prompt(), .answer = {}};
    std::string offered;
    for (const auto& one : view.choices)
      offered += (offered.empty() ? "" : ", ") + std::string{one.key};
    return {.text = "\n  please type one of: " + offered + ", ?, j, l\n" + prompt(), .answer = {}};
  }
  if (key != 'n' && !reading_.over(now_()))
    return {.text = "\n" + std::string{read_it_first}, .answer = {}, .forget_input = true};
  current->sent = true;
  ++answered_;
  board_answer answer{current->question.thread_id, current->question.request_id, choice->decision,
                      current->question.action_digest};
  auto step = next(std::string{key} + "  " + visible_words(choice->label) + "\n", look);
  step.answer = std::move(answer);
  return step;
}

board_step review_board::again(const terminal_look& look) {
  if (!connected_ || paused_) return {};
  return shown_.empty() ? board_step{} : next("\n", look);
}

} // namespace gatehouse::cli
