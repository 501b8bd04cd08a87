#include "actors/guardian.hpp"

#include "protocol/guardian_prompt.hpp"
#include "protocol/visible_text.hpp"
#include "reactor/program_exchange.hpp"

#include <utility>

namespace gatehouse::actors {
namespace {

constexpr std::size_t longest_complaint = 300; ///< bytes of what it said as it failed

guardian_reply reply_from(reactor::exchange_end end, std::chrono::milliseconds limit) {
  using ending = reactor::exchange_end::ending;
  using kind = guardian_reply::kind;
  if (end.too_much) return {kind::failed, "it printed more than is read"};
  switch (end.how) {
  case ending::timed_out:
    return {kind::timed_out, "no answer within " + std::to_string(limit.count()) + " ms"};
  case ending::not_started: return {kind::failed, "it could not be started: " + end.why};
  case ending::signalled: return {kind::failed, "ended by signal " + std::to_string(end.code)};
  case ending::exited: break;
  }
  if (end.code != 0) {
    const auto said = visible_line(end.err, longest_complaint);
    return {kind::failed,
            "exit status " + std::to_string(end.code) + (said.empty() ? "" : ": " + said)};
  }
  return {kind::text, std::move(end.out)};
}

} // namespace

guardian_result judge_assessment(const guardian_assessment& assessment) {
  using kind = guardian_result::kind;
  const std::string said =
      assessment.rationale.empty() ? std::string{} : " Reason: " + assessment.rationale;
  const std::string risk{to_string(assessment.risk)};
  if (!assessment.allow) return {kind::refused, "judged to be of " + risk + " risk." + said};
  if (assessment.risk == risk_level::critical)
    return {kind::refused, "critical risk is never approved automatically." + said};
  if (assessment.risk == risk_level::high && assessment.authorization < user_authorization::medium)
    return {kind::refused, "of high risk, and the user has not asked for it (authorisation " +
                               std::string{to_string(assessment.authorization)} + ")." + said};
  return {kind::allowed, risk + " risk, user authorisation " +
                             std::string{to_string(assessment.authorization)} + "." + said};
}

guardian_result judge_reply(const guardian_reply& reply) {
  switch (reply.what) {
  case guardian_reply::kind::timed_out: return {guardian_result::kind::timed_out, reply.text};
  case guardian_reply::kind::failed: return {guardian_result::kind::unavailable, reply.text};
  case guardian_reply::kind::text: break;
  }
  const auto assessment = decode_guardian_answer(reply.text);
  if (!assessment) return {guardian_result::kind::unavailable, assessment.error().message};
  return judge_assessment(*assessment);
}

bool guardian_in_charge(const approval_policy& approval, bool configured, bool strict) noexcept {
  if (strict) return true;
  return configured &&
         (approval.mode == approval_mode::on_request || approval.mode == approval_mode::granular);
}

guardian_transport run_guardian_program(reactor::event_loop& loop, guardian_program program) {
  return [&loop, program = std::move(program)](const guardian_question& question,
                                               std::function<void(guardian_reply)> done) {
    auto request = supervised_program(program.place, program.argv,
                                      encode_guardian_question(question.review_id, question.prompt),
                                      program.limit);
    request.max_output = 64 * 1024;
    return std::make_shared<reactor::program_exchange>(
        loop, std::move(request),
        [done = std::move(done), limit = program.limit](reactor::exchange_end end) {
          done(reply_from(std::move(end), limit));
        });
  };
}

} // namespace gatehouse::actors
