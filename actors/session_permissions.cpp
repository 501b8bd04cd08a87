#include "actors/question_text.hpp"
#include "actors/random_id.hpp"
#include "actors/real_places.hpp"
#include "actors/session_thread.hpp"
#include "policy/overlay.hpp"
#include "protocol/approval_key.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/digest.hpp"
#include "protocol/profile_json.hpp"
#include "sandbox/host_paths.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

/// request_permissions (§16a): its part of actors/session_thread.hpp.
namespace gatehouse::actors {

void session_thread::ask_permissions(const tool_request& asked, const permissions_request& wish,
                                     std::function<void(const result<call_report_ptr>&)> on_end) {
  const auto id = asked.call_id;
  review_request question;
  question.review_id = "review-" + random_id();
  question.call_id = id;
  question.tool = tool_name(asked.arguments);
  question.what.environment_id = now_->session.environment_id;
  question.what.cwd = now_->session.cwd;
  question.what.sandbox_permissions = sandbox_permissions::with_additional_permissions;
  // What is shown, granted and kept is where a link leads, not its name.
  const bool here = now_->session.environment_id == "local";
  const auto as_named = policy::normalise_overlay(wish.permissions);
  const auto real = here ? policy::normalise_overlay(with_real_paths(as_named)) : as_named;
  const auto asked_for = without_protected(real, now_->session.profile, found_here());
  question.what.additional_permissions = asked_for.permissions;
  question.what.justification = wish.reason;
  question.digest = digest_of(question.what, {});
  question.reason = wish.reason.empty() ? "the agent asks for permissions" : wish.reason;
  question.will_be_allowed =
      permissions_allow(asked_for.permissions, real == as_named ? asked_for.permissions : as_named,
                        asked_for.closed, now_->session.network.has_value());
  question.strict = now_->session.strict_review;
  question.cause.source = ask_source::permissions;
  auto& call = begin_item(id, question.tool, question.what, std::move(on_end));
  call.review_id = question.review_id;
  if (refuse_after_stop(id)) return;
  if (settings_error_) return end_unjudged(id, *settings_error_);

  const auto end_with = [&](call_report report) {
    report.call_id = id;
    ended(id, std::make_shared<const call_report>(std::move(report)));
  };
  if (asked_for.permissions.empty() && !asked_for.closed.empty()) {
    exec_requirement refusal;
    refusal.reason = "no grant opens what is protected: ";
    for (const auto& one : asked_for.closed)
      refusal.reason += (&one == asked_for.closed.data() ? "" : ", ") + one;
    refusal.refused_by = refused_by::handler;
    call_report report;
    report.ending = call_ending::refused;
    report.message = policy_refusal_message(refusal);
    return end_with(std::move(report));
  }
  // What may not be asked for is no question; where no question is allowed nothing is granted.
  const auto valid = policy::validate_overlay(
      {sandbox_permissions::with_additional_permissions, question.what.additional_permissions,
       now_->session.approval, now_->session.additional_permissions, true});
  if (!valid) {
    exec_requirement refusal;
    refusal.reason = to_string(valid.error());
    refusal.refused_by = refused_by::handler;
    call_report report;
    report.ending = call_ending::refused;
    report.message = policy_refusal_message(refusal);
    return end_with(std::move(report));
  }
  if (!may_request_permissions(now_->session.approval)) {
    call_report report;
    report.ending = call_ending::completed;
    report.granted = given_permissions{};
    report.message = "Nothing was granted: the approval policy lets nobody be asked.";
    report.output.stdout_text = report.output.aggregated = encode_given_permissions({});
    return end_with(std::move(report));
  }
  const auto shared = std::make_shared<const review_request>(std::move(question));
  request(partners_.reviewer, caf::infinite, review_v, shared)
      .then([this, shared](const review_answer_ptr& said) { permissions_answered(*shared, *said); },
            [this, shared](caf::error& failed) {
              permissions_answered(*shared, {shared->review_id, shared->digest,
                                             review_decision::denied, reviewer_kind::none,
                                             "the reviewer failed: " + system().render(failed)});
            });
}

void session_thread::permissions_answered(const review_request& question,
                                          const review_answer& said) {
  ended(question.call_id, std::make_shared<const call_report>(permissions_report(question, said)));
}

call_report session_thread::permissions_report(const review_request& question,
                                               const review_answer& said) {
  call_report report;
  report.call_id = question.call_id;
  report.evaluation.requirement.kind = requirement_kind::needs_approval;
  report.reviews.push_back({question.review_id, 1, said.reviewer, said.decision, said.reason});
  if (said.decision == review_decision::abort) {
    report.ending = call_ending::aborted;
    if (said.reviewer == reviewer_kind::none) { // taken back
      report.reviews.clear();
      report.message = cancelled_message();
    } else {
      report.message = stopped_message(said);
    }
    return report;
  }
  const auto call = running_.find(question.call_id);
  if (!is_approval(said.decision) || said.digest != question.digest || call == running_.end()) {
    report.ending = call_ending::refused;
    report.message = review_refusal_message(question, said);
    return report;
  }
  given_permissions given;
  if (said.permissions) {
    given = *said.permissions;
  } else {
    given.permissions = *question.what.additional_permissions;
    if (said.decision == review_decision::approved_for_session) given.scope = grant_scope::session;
  }
  if (said.reviewer != reviewer_kind::user) given.scope = grant_scope::turn;
  if (now_->session.environment_id == "local")
    given.permissions = with_real_paths(std::move(given.permissions));
  given.permissions = granted_part(*question.what.additional_permissions, given.permissions,
                                   now_->session.profile, now_->session.context);
  const bool turn_open = call->second.told.turn == turn_;
  if (given.scope == grant_scope::turn && !turn_open) given.permissions = {}; // it came too late
  permission_grant grant;
  grant.environment_id = question.what.environment_id;
  grant.scope = given.scope;
  grant.turn_id = call->second.told.turn;
  grant.permissions = given.permissions;
  if (audit_.sink)
    audit_.sink->record(
        entry(audit_kind::grant, question.call_id,
              audit_grant("given", grant.scope == grant_scope::turn ? "turn" : "session",
                          encode_additional_permissions(grant.permissions))),
        {});
  grants_.add(std::move(grant));
  if (given.strict_auto_review && turn_open) now_->session.strict_review = true;
  report.ending = call_ending::completed;
  report.output.stdout_text = report.output.aggregated = encode_given_permissions(given);
  if (given.permissions.empty())
    report.message = "Nothing was granted: work inside the boundary, or ask for less.";
  report.granted = std::move(given);
  return report;
}

policy::access_context session_thread::found_here() const {
  const auto& profile = now_->session.profile;
  const auto& context = now_->session.context;
  const bool limited = profile.kind == profile_kind::managed && profile.file_system.restricted;
  return limited && now_->session.environment_id == "local"
             ? sandbox::with_facts(context, sandbox::gather_host_facts(profile, context))
             : context;
}

additional_permissions session_thread::granted_now() {
  const auto& session = now_->session;
  if (session.environment_id == "local")
    for (const auto& grant : std::vector{grants_.list()})
      if (const auto moved = moved_entry(grant.permissions)) {
        grants_.revoke(grant.id);
        publish(thread_events::warning{"a permission is over, since its path is another one: " +
                                       *moved + ". Ask for it again"},
                turn_);
      }
  return needed_part(grants_.effective(session.environment_id, turn_), session.profile,
                     session.context);
}

} // namespace gatehouse::actors
