#include "cli/question_answer.hpp"

#include "cli/reading_time.hpp"
#include "protocol/visible_text.hpp"

#include <utility>

namespace gatehouse::cli {
namespace {

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
  if (key == "r" && question.prompt_rule_stands) return std::nullopt;
  auto answer = user_answer(question, review_decision::network_policy_amendment, "");
  answer.denies_host = key == "d";
  return answer;
}

} // namespace

review_answer user_answer(const review_request& question, review_decision decision,
                          std::string reason) {
  return {question.review_id, question.digest, decision, reviewer_kind::user, std::move(reason)};
}

answer_step type_answer(const review_request& question, std::string_view line, std::string_view why,
                        bool read) {
  if (line == "?") return {{}, "\n" + visible_text(why) + "\n"};
  auto answer = host_rule_of(question, line);
  if (const auto decision = answer ? std::nullopt : decision_of(question, line))
    answer = user_answer(question, *decision, "");
  if (answer && !read && answer->decision != review_decision::denied)
    return {{}, std::string{read_it_first}};
  if (answer) return {std::move(answer), {}};
  return {{}, "  please type one of the letters in brackets, then Enter\n"};
}

} // namespace gatehouse::cli
