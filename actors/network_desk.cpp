#include "actors/network_desk.hpp"

#include "actors/question_text.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/digest.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gatehouse::actors {
namespace {

blocked_connection blocked_of(const network_terms& terms, const policy::connection_wish& wish,
                              const std::string& host) {
  blocked_connection what;
  what.call_id = terms.call_id;
  what.attempt = terms.attempt;
  what.target = {terms.what.environment_id, host.empty() ? shown_host(wish.host) : host,
                 wish.protocol, wish.port};
  what.method = wish.method;
  return what;
}

blocked_connection blocked_of(const network_terms& terms, const host_key& key) {
  blocked_connection what;
  what.call_id = terms.call_id;
  what.attempt = terms.attempt;
  what.target = key;
  return what;
}

} // namespace

bool network_desk::open(const std::string& registration, network_terms terms) {
  open_call made;
  made.terms = std::move(terms);
  return calls_.emplace(registration, std::move(made)).second;
}

const network_terms* network_desk::find(const std::string& registration) const {
  const auto found = calls_.find(registration);
  return found == calls_.end() ? nullptr : &found->second.terms;
}

void network_desk::tell(open_call& of, const blocked_connection& what) {
  ++of.seen.blocked_total;
  if (of.seen.blocked.size() >= most_blocked) return;
  of.seen.blocked.push_back(what);
  out_.push_back(desk::tell_blocked{what});
}

/// What a refused attempt will be explained with: a reviewer's word, else the latest refusal.
void network_desk::note(open_call& of, const blocked_connection& what, bool may_ask, bool final) {
  tell(of, what);
  if (of.settled && !final) return;
  of.settled = of.settled || final;
  of.seen.refused = network_context{to_string(what.target), true, may_ask};
  of.seen.denied = denial_of(what);
}

/// Refuses a wish at once, or when its process has ended.
void network_desk::settle(const std::string& registration, std::uint64_t wish,
                          blocked_connection what) {
  auto& of = calls_.at(registration);
  if (of.ending && !of.closing) {
    of.held.emplace(wish, std::move(what));
    held_.emplace(wish, registration);
    return;
  }
  const auto reason = what.reason;
  out_.push_back(desk::answer_wish{wish, false, {}, reason, std::move(what)});
}

void network_desk::refuse(open_call& of, std::uint64_t wish, blocked_connection what,
                          bool may_ask) {
  note(of, what, may_ask, false);
  const auto reason = what.reason;
  out_.push_back(desk::answer_wish{wish, false, {}, reason, std::move(what)});
}

desk::effects network_desk::want(const std::string& registration, std::uint64_t wish,
                                 const policy::connection_wish& what) {
  out_.clear();
  const auto found = calls_.find(registration);
  if (found == calls_.end() || found->second.closing) {
    auto stray =
        blocked_of(found == calls_.end() ? network_terms{} : found->second.terms, what, {});
    stray.reason = network_refusal::unattributed;
    out_.push_back(desk::answer_wish{wish, false, {}, stray.reason, stray});
    return std::exchange(out_, {});
  }
  auto& wanting = found->second;
  if (wanting.ending) {
    auto late = blocked_of(wanting.terms, what, {});
    late.reason = network_refusal::unattributed;
    tell(wanting, late);
    settle(registration, wish, std::move(late));
    return std::exchange(out_, {});
  }
  const auto decision = policy::judge_host(*wanting.terms.policy, what);
  auto refused = blocked_of(wanting.terms, what, decision.host);
  refused.reason = decision.reason;
  refused.rule = decision.rule;
  refused.detail = decision.detail;
  const host_key& key = refused.target;
  if (decision.verdict == policy::host_verdict::deny) {
    refuse(wanting, wish, std::move(refused), false);
  } else if (answers_->find(key) == false) {
    refused.reason = network_refusal::denied_by_user;
    refuse(wanting, wish, std::move(refused), false);
  } else if (decision.verdict == policy::host_verdict::allow || answers_->find(key) == true ||
             wanting.allowed.contains(key) ||
             std::ranges::find(wanting.terms.approved_hosts, to_string(key)) !=
                 wanting.terms.approved_hosts.end()) {
    out_.push_back(desk::answer_wish{wish, true, key.host, {}, {}});
  } else if (!wanting.terms.nobody.empty()) {
    refused.detail = "Nobody can be asked: " + wanting.terms.nobody;
    refuse(wanting, wish, std::move(refused), false);
  } else if (wanting.questions >= static_cast<int>(most_questions) && !questions_.contains(key)) {
    refused.detail = "Too many hosts are being asked about at once";
    refused.reason = network_refusal::question_closed;
    refuse(wanting, wish, std::move(refused), false);
  } else {
    ask(registration, wanting, wish, key, decision.rule);
  }
  return std::exchange(out_, {});
}

void network_desk::ask(const std::string& registration, open_call& of, std::uint64_t wish,
                       const host_key& key, const std::string& rule) {
  auto& open = questions_[key];
  const bool first = open.registrations.empty();
  const bool joined = open.registrations.insert(registration).second;
  if (joined) ++of.questions;
  if (!waits(registration, open)) out_.push_back(desk::hold{registration, key, host_wait::begins});
  open.waiters.emplace(wish, registration);
  wishes_.emplace(wish, key);
  if (first) {
    open.owner = registration;
    open.rule = rule;
    put(open, key);
  } else if (joined) {
    out_.push_back(desk::tell_shared{open.request.review_id, key, of.terms.call_id, of.terms.what});
  }
}

/// Asks with the command of the owner.
void network_desk::put(question& open, const host_key& key) {
  auto& of = calls_.at(open.owner);
  const auto target = to_string(key);
  auto& request = open.request;
  request.review_id = "network-" + of.terms.review_nonce + "-" + std::to_string(of.terms.attempt) +
                      "-" + std::to_string(++of.asked);
  request.call_id = of.terms.call_id;
  request.attempt = 1; // the first question about this host, whichever run asks it
  request.what = of.terms.what;
  request.judged = of.terms.judged;
  request.digest = digest_of(of.terms.what, {of.terms.attempt, false, target});
  request.reason = host_reason(target, open.rule);
  std::vector<proposal> others;
  for (const auto& registration : open.registrations)
    if (registration != open.owner) others.push_back(calls_.at(registration).terms.what);
  request.will_be_allowed = host_allows(target, others);
  request.session_offered = of.terms.session_offered;
  request.network = key;
  request.prompt_rule_stands = !open.rule.empty();
  request.cause = {ask_source::network, {}, open.rule};
  out_.push_back(desk::ask_review{request});
}

desk::effects network_desk::gone(std::uint64_t wish) {
  out_.clear();
  if (const auto held = held_.extract(wish)) {
    calls_.at(held.mapped()).held.erase(wish);
    return {};
  }
  const auto waiting = wishes_.find(wish);
  if (waiting == wishes_.end()) return {};
  const auto key = waiting->second;
  auto& open = questions_.at(key);
  const auto registration = open.waiters.at(wish);
  open.waiters.erase(wish);
  wishes_.erase(waiting);
  if (!waits(registration, open)) out_.push_back(desk::hold{registration, key, host_wait::pauses});
  if (open.waiters.empty()) out_.push_back(desk::start_patience{open.request.review_id});
  return std::exchange(out_, {});
}

desk::effects network_desk::unwanted(const std::string& review_id) {
  out_.clear();
  const auto found = find_question(review_id);
  if (found == questions_.end() || !found->second.waiters.empty()) return {};
  auto& [key, open] = *found;
  out_.push_back(desk::withdraw_review{review_id});
  out_.push_back(desk::tell_withdrawn{key});
  for (const auto& registration : std::set{open.registrations})
    leave(registration, key, open, host_unwanted);
  questions_.erase(found);
  return std::exchange(out_, {});
}

desk::effects network_desk::answered(const review_answer& answer) {
  out_.clear();
  const auto found = find_question(answer.review_id);
  if (found == questions_.end()) return {};
  // Taken out first: whoever asks from here on is a new generation (§110).
  const auto key = found->first;
  const auto open = std::move(found->second);
  questions_.erase(found);

  bool yes = is_approval(answer.decision) && answer.digest == open.request.digest;
  std::string reason = answer.reason;
  if (is_approval(answer.decision) && !yes)
    reason = "the answer was given for another action than the one that was asked about";
  if (answer.decision == review_decision::network_policy_amendment &&
      answer.digest == open.request.digest) {
    yes = !answer.denies_host;
    out_.push_back(desk::keep_rule{key, yes});
    answers_->remember(key, yes);
  } else if (yes && answer.decision == review_decision::approved_for_session) {
    answers_->remember(key, true);
  }
  // Where nobody could be asked nobody has refused anything: the host stays closed, and the
  // command may get along without it.
  const bool nobody =
      !yes && answer.reviewer == reviewer_kind::none && answer.decision != review_decision::abort;
  const auto refusal_for = [&](const network_terms& terms) {
    auto what = blocked_of(terms, key);
    what.reason = nobody ? network_refusal::not_listed : network_refusal::denied_by_user;
    what.detail = nobody ? "Nobody could be asked: " + reason : reason;
    return what;
  };
  for (const auto& registration : open.registrations) {
    const auto at = calls_.find(registration);
    if (at == calls_.end()) continue;
    auto& asked = at->second;
    --asked.questions;
    if (asked.seen.reviews.size() < most_blocked)
      asked.seen.reviews.push_back(
          {open.request.review_id, asked.terms.attempt, answer.reviewer,
           !yes && is_approval(answer.decision) ? review_decision::denied : answer.decision, reason,
           to_string(key), answer.denies_host});
    if (yes) {
      asked.allowed.insert(key);
      continue;
    }
    note(asked, refusal_for(asked.terms), false, !nobody);
    asked.seen.stop = asked.seen.stop || answer.decision == review_decision::abort;
    if (nobody || asked.closing || std::exchange(asked.ending, true)) continue;
    asked.seen.ended_the_process = true;
    out_.push_back(desk::end_process{registration});
  }
  for (const auto& [wish, registration] : open.waiters) {
    wishes_.erase(wish);
    if (yes) {
      out_.push_back(desk::answer_wish{wish, true, key.host, {}, {}});
    } else {
      settle(registration, wish, refusal_for(calls_.at(registration).terms));
    }
  }
  // What waited until an answer was no longer to be expected has waited for none.
  const auto waited = nobody || answer.decision == review_decision::timed_out
                          ? host_wait::unanswered
                      : answer.reviewer == reviewer_kind::user ? host_wait::answered
                                                               : host_wait::decided;
  for (const auto& registration : open.registrations)
    if (calls_.contains(registration)) out_.push_back(desk::hold{registration, key, waited});
  for (const auto& registration : open.registrations)
    if (const auto at = calls_.find(registration); at != calls_.end() && at->second.ending)
      withdraw_questions(registration);
  // The late answer that a grace is for has come.
  for (const auto& registration : open.registrations)
    if (const auto at = calls_.find(registration);
        at != calls_.end() && at->second.closing && !is_asked_about(registration))
      finish(registration);
  return std::exchange(out_, {});
}

network_desk::questions::iterator network_desk::find_question(const std::string& review_id) {
  return std::ranges::find_if(
      questions_, [&](const auto& entry) { return entry.second.request.review_id == review_id; });
}

bool network_desk::waits(const std::string& registration, const question& open) {
  return std::ranges::any_of(open.waiters,
                             [&](const auto& waiter) { return waiter.second == registration; });
}

bool network_desk::is_asked_about(const std::string& registration) const {
  return std::ranges::any_of(questions_, [&](const auto& entry) {
    return entry.second.registrations.contains(registration);
  });
}

desk::effects network_desk::blocked(const std::string& registration, blocked_connection what) {
  out_.clear();
  const auto found = calls_.find(registration);
  if (found == calls_.end()) return {};
  what.call_id = found->second.terms.call_id;
  what.attempt = found->second.terms.attempt;
  what.target.environment_id = found->second.terms.what.environment_id;
  // What the proxy serves for no host is no decision about this one.
  if (what.target.host.empty() || what.reason == network_refusal::not_carried)
    tell(found->second, what);
  else
    note(found->second, what, false, false);
  return std::exchange(out_, {});
}

desk::effects network_desk::stop(const std::string& registration) {
  out_.clear();
  const auto found = calls_.find(registration);
  if (found == calls_.end() || found->second.closing) return {};
  found->second.ending = true;
  withdraw_questions(registration);
  return std::exchange(out_, {});
}

desk::effects network_desk::turn_over(bool interrupted) {
  out_.clear();
  for (auto& [registration, open] : calls_)
    open.terms.nobody = "the turn that started this command is over";
  if (!interrupted) return {};
  for (auto& [registration, open] : calls_) {
    if (open.closing) continue;
    // What lives with its turn is being ended with it.
    open.ending = open.ending || !open.terms.deferred;
    withdraw_questions(registration);
  }
  return std::exchange(out_, {});
}

desk::effects network_desk::close(const std::string& registration) {
  out_.clear();
  const auto found = calls_.find(registration);
  if (found == calls_.end() || found->second.closing) return {};
  if (!found->second.terms.deferred || !is_asked_about(registration)) {
    finish(registration);
  } else {
    found->second.closing = true;
    out_.push_back(desk::start_grace{registration});
  }
  return std::exchange(out_, {});
}

desk::effects network_desk::grace_over(const std::string& registration) {
  out_.clear();
  const auto found = calls_.find(registration);
  if (found == calls_.end() || !found->second.closing) return {};
  finish(registration);
  return std::exchange(out_, {});
}

/// Takes a registration out of a question, and refuses what waits for it there.
void network_desk::leave(const std::string& registration, const host_key& key, question& open,
                         std::string_view why) {
  auto& of = calls_.at(registration);
  open.registrations.erase(registration);
  --of.questions;
  auto what = blocked_of(of.terms, key);
  what.reason = network_refusal::question_closed;
  what.detail = why;
  note(of, what, true, false);
  for (auto waiter = open.waiters.begin(); waiter != open.waiters.end();) {
    if (waiter->second != registration) {
      ++waiter;
      continue;
    }
    settle(registration, waiter->first, what);
    wishes_.erase(waiter->first);
    waiter = open.waiters.erase(waiter);
  }
  out_.push_back(desk::hold{registration, key, host_wait::unanswered});
}

/// What nobody waits for any more is withdrawn. A question whose command has gone is asked anew for
/// the next one, if somebody may still be asked for that.
void network_desk::withdraw_questions(const std::string& registration) {
  for (auto at = questions_.begin(); at != questions_.end();) {
    auto& [key, open] = *at;
    if (open.registrations.contains(registration)) {
      leave(registration, key, open);
      if (open.owner == registration) {
        out_.push_back(desk::withdraw_review{open.request.review_id});
        const auto others = open.registrations;
        for (const auto& other : others)
          if (!calls_.at(other).terms.nobody.empty()) leave(other, key, open);
        if (!open.registrations.empty()) {
          open.owner = *open.registrations.begin();
          put(open, key);
        }
      }
    }
    at = open.registrations.empty() ? questions_.erase(at) : std::next(at);
  }
}

void network_desk::finish(const std::string& registration) {
  withdraw_questions(registration);
  auto& over = calls_.at(registration);
  for (auto& [wish, what] : over.held) {
    const auto reason = what.reason;
    out_.push_back(desk::answer_wish{wish, false, {}, reason, std::move(what)});
    held_.erase(wish);
  }
  out_.push_back(desk::closed{registration, std::move(over.seen)});
  calls_.erase(registration);
}

} // namespace gatehouse::actors
