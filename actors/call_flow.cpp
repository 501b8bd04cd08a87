#include "actors/call_flow.hpp"

#include "actors/network_outcome.hpp"
#include "actors/question_text.hpp"
#include "policy/shell/segments.hpp"
#include "policy/written_files.hpp"
#include "protocol/denial_message.hpp"

#include <utility>

namespace gatehouse::actors {
namespace {

const permission_profile& widest(const call_plan& plan) {
  return plan.widened_profile ? *plan.widened_profile : plan.profile;
}

bool escalation_asked(const call_plan& plan) {
  return plan.what.sandbox_permissions == sandbox_permissions::require_escalated &&
         plan.profile.kind == profile_kind::managed; // §D21
}

} // namespace

call_flow::call_flow(call_plan plan) : plan_{std::move(plan)} {
  report_.call_id = plan_.call_id;
}

flow::effects call_flow::step(flow::event event) {
  out_.clear();
  std::visit([this](auto& e) { on(e); }, event);
  return std::exchange(out_, {});
}

bool call_flow::unsandboxed_allowed(const call_plan& plan) {
  return !has_denied_reads(plan.profile) && !has_denied_reads(widest(plan)); // §58
}

call_flow::boundary call_flow::first(const call_plan& plan, const exec_requirement& requirement,
                                     bool reviewed) {
  const bool explicit_allow =
      requirement.kind == requirement_kind::skip && requirement.bypass_sandbox;
  const bool widen =
      plan.what.sandbox_permissions == sandbox_permissions::with_additional_permissions &&
      (reviewed || plan.permissions_preapproved || explicit_allow);
  boundary b;
  b.profile = widen ? widest(plan) : plan.profile;
  const bool bypass = unsandboxed_allowed(plan) &&
                      (explicit_allow || (reviewed && escalation_asked(plan))); // §57, §59
  b.sandboxed = !bypass &&
                (!unsandboxed_allowed(plan) ||
                 sandbox::should_sandbox(b.profile, plan.runtime.preference, plan.managed_network));
  // Managed or not says how the network is used, not whether it is there (§66).
  const bool managed = plan.managed_network && b.profile.network == network_policy::enabled;
  b.network = b.sandboxed ? sandbox::choose_network(b.profile, managed) : network_mode::full;
  if (!b.sandboxed && b.profile.kind == profile_kind::managed)
    b.profile = danger_full_access_profile();
  return b;
}

sandbox_summary call_flow::first_boundary(const call_plan& plan,
                                          const exec_requirement& requirement) {
  const boundary b = first(plan, requirement, requirement.kind == requirement_kind::needs_approval);
  return {b.sandboxed ? plan.backend : sandbox_backend::none, b.sandboxed, b.network};
}

std::shared_ptr<const call_judgement> call_flow::judgement() const {
  return std::make_shared<const call_judgement>(
      call_judgement{report_.evaluation, report_.sandbox});
}

void call_flow::on(flow::requirement_known& event) {
  if (state_ != state::waiting_for_requirement) return;
  report_.evaluation = std::move(event.evaluation);
  const exec_requirement& requirement = report_.evaluation.requirement;
  report_.sandbox = first_boundary(plan_, requirement);
  if (plan_.what.patch) report_.patch = patch_result{plan_.what.patch->changes, {}, 0};

  if (requirement.kind == requirement_kind::forbidden)
    return end(call_ending::refused, policy_refusal_message(requirement));
  if (requirement.kind == requirement_kind::skip && !plan_.strict_review)
    return prepare(first(plan_, requirement, false));
  if (plan_.approval.mode == approval_mode::never && !plan_.strict_review) {
    exec_requirement refused = requirement;
    refused.reason += refused.reason.empty() ? "it needs an approval, and the approval policy is "
                                               "never"
                                             : " (the approval policy is never)";
    return end(call_ending::refused, policy_refusal_message(refused));
  }
  const boundary wanted = first(plan_, requirement, true);
  const bool widened =
      plan_.what.sandbox_permissions == sandbox_permissions::with_additional_permissions;
  ask(first_cause(plan_, report_.evaluation), first_reason(plan_, requirement),
      first_allows(plan_, wanted.sandboxed, widened), {1, !wanted.sandboxed, {}},
      requirement.proposed_amendment);
}

void call_flow::ask(ask_cause cause, std::string reason, std::string will_be_allowed,
                    const digest_terms& terms, std::vector<std::string> amendment) {
  review_request request;
  request.cause = std::move(cause);
  request.judged = judgement();
  request.review_id = "review-" + plan_.review_nonce + "-" + std::to_string(terms.attempt);
  request.call_id = plan_.call_id;
  request.tool = plan_.tool;
  request.attempt = terms.attempt;
  request.what = plan_.what;
  request.digest = digest_of(plan_.what, terms);
  request.reason = std::move(reason);
  request.will_be_allowed = std::move(will_be_allowed);
  if (!plan_.what.patch)
    request.write_targets =
        policy::written_files(policy::analyze_command(plan_.what.argv), plan_.what.cwd, plan_.home);
  request.proposed_amendment = std::move(amendment);
  request.without_sandbox = terms.without_sandbox;
  request.strict = plan_.strict_review;
  request.user_may_be_asked = plan_.approval.mode != approval_mode::never;
  question_ = request;
  state_ = state::asking;
  out_.push_back(flow::ask_review{std::move(request)});
}

void call_flow::on(flow::review_answered& event) {
  review_answer& answer = event.answer;
  if (state_ != state::asking || answer.review_id != question_->review_id) return;
  const review_request question = *std::exchange(question_, std::nullopt);
  if (answer.digest != question.digest && is_approval(answer.decision)) {
    answer.decision = review_decision::denied;
    answer.reason = "the answer was given for another action than the one that would run";
  }
  report_.reviews.push_back(
      {question.review_id, question.attempt, answer.reviewer, answer.decision, answer.reason});

  if (answer.decision == review_decision::abort)
    return end(call_ending::aborted, stopped_message(answer));
  if (!is_approval(answer.decision)) {
    if (question.attempt == 1)
      return end(call_ending::refused, review_refusal_message(question, answer));
    return end(call_ending::refused,
               retry_refusal_message(*report_.attempts.back().denied, question, answer));
  }
  if (answer.decision == review_decision::approved_execpolicy_amendment &&
      !question.proposed_amendment.empty())
    out_.push_back(flow::add_rule{{question.proposed_amendment, !question.without_sandbox}});
  approval_.emplace(authority_key{}, question.review_id, question.digest);
  if (question.attempt == 1) return prepare(first(plan_, report_.evaluation.requirement, true));
  attempt_ = 2;
  prepare(*std::exchange(boundary_, std::nullopt));
}

void call_flow::prepare(boundary wanted) {
  if (wanted.sandboxed && plan_.backend == sandbox_backend::none)
    return end(call_ending::failed, {},
               error{errc::boundary_unavailable,
                     "the profile needs a sandbox, and this platform has no sandbox backend",
                     "run `gatehouse doctor`; Gatehouse does not run such a command unsandboxed"});
  boundary_ = std::move(wanted);
  if (boundary_->network != network_mode::proxy_only) return start();
  state_ = state::registering_network;
  out_.push_back(flow::register_network{attempt_, boundary_->approved_hosts});
}

void call_flow::on(flow::network_registered& event) {
  const bool expected = state_ == state::registering_network && event.attempt == attempt_;
  if (!expected) {
    // Nobody waits for it any more: it must still be closed. One that runs is never closed here.
    if (!event.registration.empty() && event.registration != registration_)
      out_.push_back(flow::unregister_network{std::move(event.registration)});
    return;
  }
  if (event.registration.empty())
    return end(call_ending::failed, {},
               event.failure.value_or(error{errc::boundary_failed,
                                            "the managed network could not be set up",
                                            "run `gatehouse doctor`"}));
  registration_ = std::move(event.registration);
  start();
}

void call_flow::start() {
  attempt_terms terms;
  terms.call_id = plan_.call_id;
  terms.number = attempt_;
  terms.argv = plan_.what.argv;
  terms.cwd = plan_.what.cwd;
  terms.tty = plan_.what.tty;
  terms.environment_id = plan_.what.environment_id;
  terms.patch = plan_.what.patch;
  terms.patch_done = patch_done_;
  terms.timeout = plan_.what.timeout;
  terms.time_cap = plan_.what.time_cap;
  terms.backend = boundary_->sandboxed ? plan_.backend : sandbox_backend::none;
  terms.sandbox_requested = boundary_->sandboxed;
  terms.profile = boundary_->profile;
  terms.policy_cwd = plan_.policy_cwd;
  terms.workspace_roots = plan_.workspace_roots;
  terms.network = boundary_->network;
  terms.network_registration = registration_;
  terms.approved_hosts = boundary_->approved_hosts;
  terms.by = approval_;
  state_ = state::running;
  out_.push_back(
      flow::start_attempt{std::make_shared<const attempt>(authority_key{}, std::move(terms))});
}

void call_flow::on(flow::attempt_finished& event) {
  if (state_ != state::running || event.result.record.number != attempt_) return;
  report_.attempts.push_back(std::move(event.result.record));
  report_.output = std::move(event.result.output);
  if (report_.patch && event.result.patch_done) {
    patch_done_ = *event.result.patch_done;
    report_.patch->tolerant_matches += event.result.tolerant_matches;
    report_.patch->committed = committed_changes(*plan_.what.patch, patch_done_);
  }
  network_.reset();
  // A session that goes on keeps its registration; whoever keeps the session closes it (§126).
  const bool goes_on = report_.attempts.back().ending == attempt_ending::running;
  if (registration_.empty() || goes_on) return classify();
  state_ = state::closing_network;
  out_.push_back(flow::unregister_network{registration_});
}

void call_flow::on(flow::network_finished& event) {
  if (state_ != state::closing_network || event.registration != registration_) return;
  registration_.clear();
  attempt_record& last = report_.attempts.back();
  for (auto& review : event.seen.reviews)
    report_.reviews.push_back(std::move(review));
  auto outcome = apply_network_end(last, std::move(event.seen), cancelled_);
  network_ = std::move(outcome.refused);
  stopped_by_network_ = outcome.stop;
  if (outcome.ended_for_it && last.denied && !stopped_by_network_)
    return end(call_ending::refused, denial_message(*last.denied));
  classify();
}

bool call_flow::may_ask_to_leave_sandbox() const {
  switch (plan_.approval.mode) {
  case approval_mode::untrusted: return true;
  case approval_mode::on_request: return plan_.runtime.asks_after_denial_on_request; // §101
  case approval_mode::granular: return plan_.approval.granular.sandbox_approval;
  case approval_mode::never: return false;
  }
  return false;
}

void call_flow::classify() {
  const attempt_record& last = report_.attempts.back();
  if (stopped_by_network_) {
    review_answer answer;
    answer.decision = review_decision::abort;
    answer.reviewer = reviewer_kind::user;
    return end(call_ending::aborted, stopped_message(answer));
  }
  const bool denied = last.ending == attempt_ending::denied && last.denied;
  const bool retry_possible = !cancelled_ && denied && attempt_ == 1 && boundary_->sandboxed &&
                              plan_.runtime.escalates_on_failure &&
                              plan_.approval.mode != approval_mode::never;
  if (!retry_possible) return end_after_last_attempt();

  if (network_) { // §102, §105: only the network changes, the sandbox stays
    const bool switched_on =
        plan_.approval.mode != approval_mode::granular || plan_.approval.granular.sandbox_approval;
    if (!network_->attributable || !network_->may_ask || !switched_on ||
        plan_.profile.kind != profile_kind::managed)
      return end_after_last_attempt();
    boundary wanted = *boundary_;
    wanted.approved_hosts.push_back(network_->host);
    return offer_retry({ask_source::network, {}, {}}, host_retry_reason(*network_),
                       host_retry_allows(*network_), std::move(wanted), {2, false, network_->host});
  }
  if (!unsandboxed_allowed(plan_) || !may_ask_to_leave_sandbox()) return end_after_last_attempt();
  boundary wanted;
  wanted.sandboxed = false;
  wanted.profile = danger_full_access_profile();
  wanted.network = network_mode::full;
  offer_retry({ask_source::denial, {}, {}}, retry_reason(*last.denied),
              unsandboxed_retry_allows(plan_), std::move(wanted), {2, true, {}});
}

void call_flow::offer_retry(ask_cause cause, std::string reason, std::string allows,
                            boundary wanted, const digest_terms& terms) {
  boundary_ = std::move(wanted);
  approval_.reset(); // §D5: the first answer covers nothing of the second run
  ask(std::move(cause), std::move(reason), std::move(allows), terms, {});
}

void call_flow::on(flow::cancelled&) {
  if (state_ == state::done || cancelled_) return;
  cancelled_ = true;
  switch (state_) {
  case state::asking:
    out_.push_back(flow::withdraw_review{question_->review_id});
    return end(call_ending::aborted, cancelled_message());
  case state::running: out_.push_back(flow::cancel_attempt{attempt_, registration_}); return;
  case state::closing_network: return; // the end of the attempt is known, its report is due
  default: return end(call_ending::aborted, cancelled_message());
  }
}

namespace {

/// Whatever else is to be said: the hosts that were refused, but for the one that is told already.
std::string with_refused_hosts(std::string message, const attempt_record& attempt) {
  auto untold = attempt.blocked;
  if (attempt.denied && attempt.denied->kind == denial_kind::network)
    std::erase_if(untold, [&](const auto& what) {
      return !what.target.host.empty() && to_string(what.target) == attempt.denied->host;
    });
  if (untold.empty()) return message;
  return message + (message.empty() ? "" : "\n") + blocked_connections_note(untold);
}

} // namespace

void call_flow::end_after_last_attempt() {
  const attempt_record& last = report_.attempts.back();
  if (last.ending == attempt_ending::cancelled)
    return end(call_ending::aborted, with_refused_hosts(cancelled_message(last), last));
  if (last.ending == attempt_ending::not_started && !last.exit_code)
    return end(call_ending::failed, {},
               last.failure.value_or(error{errc::internal, "the attempt did not start", {}}));
  std::string message;
  if (last.ending == attempt_ending::denied && last.denied)
    message = denial_message(*last.denied);
  else if (last.ending == attempt_ending::timed_out && !(report_.patch && last.failure))
    message = time_out_message(last);
  else if (auto cut = cut_message(last); !cut.empty())
    message = std::move(cut);
  else if (last.failure)
    message = report_.patch ? patch_failure_message(*last.failure) : failure_message(*last.failure);
  end(call_ending::completed, with_refused_hosts(std::move(message), last));
}

void call_flow::end(call_ending ending, std::string message, std::optional<error> failure) {
  state_ = state::done;
  question_.reset();
  report_.ending = ending;
  report_.message = failure ? failure_message(*failure) : std::move(message);
  if (report_.patch &&
      (!report_.message.empty() || report_.patch->committed != report_.patch->asked))
    if (const auto note = partial_patch_note(*report_.patch); !note.empty())
      report_.message += (report_.message.empty() ? "" : "\n") + note;
  report_.failure = std::move(failure);
  out_.push_back(flow::finish{std::move(report_)});
}

} // namespace gatehouse::actors
