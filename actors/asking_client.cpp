#include "actors/asking_client.hpp"

#include "protocol/explain_text.hpp"

#include <utility>
#include <variant>

namespace gatehouse::actors {

using namespace thread_messages;

asking_client::~asking_client() {
  for (auto& [id, withdrawn] : open_)
    *withdrawn = true;
}

void asking_client::on_event(const thread_event_ptr& event) {
  if (const auto* asked = std::get_if<thread_events::review_asked>(&event->what)) {
    if (asked->who == reviewer_kind::user) ask(asked->question);
  } else if (const auto* settled = std::get_if<thread_events::review_resolved>(&event->what)) {
    if (auto open = open_.extract(settled->answer.review_id)) *open.mapped() = true;
  }
}

void asking_client::ask(const review_request& question) {
  const auto withdrawn = std::make_shared<std::atomic<bool>>(false);
  if (!open_.try_emplace(question.review_id, withdrawn).second) return; // offered again
  const auto told = why_text(question);
  const auto queued = workers_.submit_value(
      [ask = ask_, question, withdrawn, why = told ? *told : to_string(told.error()) + "\n"] {
        return ask(question, why, *withdrawn);
      },
      [thread = thread_](review_answer given) {
        thread.send(answer_review{std::move(given.review_id),
                                  std::move(given.digest),
                                  given.decision,
                                  std::move(given.reason),
                                  {},
                                  given.denies_host,
                                  std::move(given.permissions)});
      });
  if (queued) return;
  open_.erase(question.review_id);
  thread_.send(
      answer_review{question.review_id, {}, review_decision::denied, queued.error().message, {}});
}

} // namespace gatehouse::actors
