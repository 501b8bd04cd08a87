#include "actors/open_reviews.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gatehouse::actors {
namespace {

const review_request& question_of(const thread_event& shown) {
  return std::get<thread_events::review_asked>(shown.what).question;
}

/// Why the answer does not fit, or nothing.
std::optional<error> misfit(const review_request& question, const review_answer& answer) {
  const auto wrong = [](std::string what, std::string remedy) {
    return error{errc::invalid_request, std::move(what), std::move(remedy)};
  };
  switch (answer.decision) {
  case review_decision::denied:
  case review_decision::timed_out:
  case review_decision::abort: return std::nullopt;
  case review_decision::approved: break;
  case review_decision::approved_for_session:
    if (!question.session_offered)
      return wrong("an approval for the session is not on offer for this question",
                   "Approve it once, or refuse.");
    break;
  case review_decision::approved_execpolicy_amendment:
    if (question.proposed_amendment.empty())
      return wrong("no rule is on offer for this question", "Approve it once, or refuse.");
    break;
  case review_decision::network_policy_amendment:
    if (question.network) break;
    return wrong("no network rule is on offer for this question", "Approve it once, or refuse.");
  }
  if (answer.digest != question.digest)
    return wrong("the answer names another action than the one that was shown",
                 "Look at the question again and answer with its digest.");
  return std::nullopt;
}

} // namespace

void open_reviews::add(thread_event_ptr shown) {
  const auto& id = question_of(*shown).review_id;
  open_.insert_or_assign(id, std::move(shown));
}

bool open_reviews::withdraw(std::string_view review_id) {
  const auto found = open_.find(review_id);
  if (found == open_.end()) return false;
  open_.erase(found);
  return true;
}

result<review_request> open_reviews::settle(const review_answer& answer) {
  const auto found = open_.find(answer.review_id);
  if (found == open_.end())
    return error{errc::invalid_request,
                 "there is no open question `" + answer.review_id +
                     "`: it was answered, withdrawn, or has expired",
                 {}};
  if (auto why = misfit(question_of(*found->second), answer)) return *std::move(why);
  const auto shown = open_.extract(found).mapped();
  return question_of(*shown);
}

std::vector<thread_event_ptr> open_reviews::shown() const {
  std::vector<thread_event_ptr> list;
  for (const auto& [id, shown] : open_)
    list.push_back(shown);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a->seq < b->seq; });
  return list;
}

} // namespace gatehouse::actors
