#include "actors/session_thread.hpp"

#include "actors/audit/auditor.hpp"
#include "actors/hooked_call.hpp"
#include "actors/network_service.hpp"
#include "actors/patch_runtime.hpp"
#include "actors/question_text.hpp"
#include "actors/random_id.hpp"
#include "actors/shell_runtime.hpp"
#include "policy/overlay.hpp"
#include "policy/shell/patch_script.hpp"
#include "protocol/approval_key.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/digest.hpp"
#include "protocol/profile_json.hpp"
#include "protocol/shell_quote.hpp"
#include "protocol/utf8.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace gatehouse::actors {
namespace {

constexpr std::string_view local_environment = "local";
constexpr std::size_t longest_id = 256;
constexpr std::size_t most_deltas = 10'000; // §96
constexpr std::size_t most_refused = 64;
constexpr std::size_t most_transcript_entries = 512;
constexpr std::size_t longest_transcript_text = 16 * 1024;

error wrong(std::string what, std::string remedy = {}) {
  return {errc::invalid_request, std::move(what), std::move(remedy)};
}

/// The call that an event is about; empty: none.
std::string call_of(const thread_event_body& what) {
  return std::visit(
      [](const auto& e) -> std::string {
        if constexpr (requires { e.call_id; })
          return e.call_id;
        else if constexpr (requires { e.question; })
          return e.question.call_id;
        else
          return {};
      },
      what);
}

} // namespace

session_thread::session_thread(caf::actor_config& config, thread_terms terms,
                               reactor::event_loop& loop, reactor::worker_pool& workers,
                               program_audit audit)
    : session_thread_actor::base{config}, terms_{std::move(terms)}, audit_{std::move(audit)},
      loop_{loop}, workers_{workers}, log_{terms_.retained_bytes}, grace_{loop} {}

void session_thread::on_exit() {
  grace_.cancel();
  constexpr auto why = caf::exit_reason::user_shutdown;
  for (auto& [id, call] : running_)
    if (call.actor) caf::anon_send_exit(call.actor, why);
  if (partners_.reviewer) caf::anon_send_exit(partners_.reviewer, why);
  if (partners_.runtime) caf::anon_send_exit(partners_.runtime, why);
  if (partners_.network) caf::anon_send_exit(partners_.network, why);
  if (partners_.patches) caf::anon_send_exit(partners_.patches, why);
  if (partners_.auditor) caf::anon_send_exit(partners_.auditor, why);
  partners_ = {};
  turn_over_ = nullptr;
  running_.clear();
  promises_.clear();
  subscribers_.clear();
  terms_ = {};
  audit_ = {};
}

session_thread::behavior_type session_thread::make_behavior() {
  now_->session = terms_.session;
  now_->hooks = terms_.hooks.context;
  terms_.shell.loop = terms_.hooks.loop = &loop_;
  const observer_actor self = caf::actor_cast<observer_actor>(this);
  terms_.shell.on_output = [self](const attempt_terms& of, output_stream stream,
                                  std::string_view bytes) {
    caf::anon_send(self, event_v,
                   std::make_shared<const thread_event_body>(thread_events::output_delta{
                       of.call_id, of.number, stream, std::string{bytes}}));
  };
  terms_.hooks.warn = [self](const std::string& text) {
    caf::anon_send(self, event_v,
                   std::make_shared<const thread_event_body>(thread_events::warning{text}));
  };
  terms_.judgement.context = terms_.session.context;
  partners_.patches =
      system().spawn<patch_runtime>(patch_runtime_terms{terms_.shell, terms_.patch_program});
  partners_.reviewer = system().spawn<review_desk>(desk_terms());
  if (audit_.sink) begin_audit();
  if (terms_.session.network) add_network();
  partners_.runtime = system().spawn<shell_runtime>(terms_.shell);
  partners_.amendments = caf::actor_cast<amendment_actor>(this);
  partners_.observer = self;
  return {
      [this](message_atom, const thread_message_ptr& message) {
        std::visit([this](const auto& m) { on(m); }, *message);
      },
      [this](report_atom, const std::string&) { rules_read(); },
      [this](expire_atom) {
        if (now_->reviewer_present) return;
        for (const auto& shown : open_.shown()) {
          const auto& question = std::get<thread_events::review_asked>(shown->what).question;
          reply(question.review_id,
                {question.review_id, question.digest, review_decision::denied, reviewer_kind::none,
                 "no one who could answer has connected in time"});
        }
      },
      [this](review_atom, const review_request_ptr& question) { return hold(question); },
      [this](withdraw_atom, const std::string& review_id) {
        open_.withdraw(review_id);
        promises_.erase(review_id);
      },
      [this](event_atom, const event_body_ptr& what) {
        if (const auto* settled = std::get_if<thread_events::review_resolved>(what.get());
            settled && settled->answer.reviewer == reviewer_kind::guardian &&
            !is_approval(settled->answer.decision)) {
          refused_.push_back(settled->answer.digest);
          if (refused_.size() > most_refused) refused_.pop_front();
        }
        const auto call = running_.find(call_of(*what));
        const bool delta = std::holds_alternative<thread_events::output_delta>(*what);
        if (delta && (call == running_.end() || ++call->second.deltas > most_deltas)) return;
        publish(*what, call == running_.end() ? turn_ : call->second.turn);
      },
      [this](add_rule_atom, const rule_ptr& rule) {
        rules_to_keep_.push_back(rule);
        keep_next_rule();
      },
  };
}

audit_record session_thread::entry(audit_kind kind, std::string call_id, std::string body) const {
  const auto call = running_.find(call_id);
  return {
      kind, terms_.id,      call == running_.end() ? turn_ : call->second.turn, std::move(call_id),
      0,    std::move(body)};
}

void session_thread::begin_audit() {
  partners_.auditor = system().spawn<auditor>(audit_.sink);
  partners_.session = terms_.id;
  partners_.reviewer = system().spawn<audited_reviewer>(partners_.reviewer, partners_.auditor,
                                                        [now = now_, id = terms_.id] {
                                                          audit_record about;
                                                          about.session = id;
                                                          about.turn = now->turn;
                                                          return about;
                                                        });
  const auto& session = terms_.session;
  audit_.sink->record(entry(audit_kind::session, {},
                            audit_session(audit_.program, audit_.version, session.cwd,
                                          encode_approval_policy(session.approval),
                                          encode_profile(session.profile), session.backend)),
                      {});
}

void session_thread::add_network() {
  network_service_terms network;
  network.loop = &loop_;
  network.policy = std::make_shared<const policy::domain_policy>(*terms_.session.network);
  network.reviewer = partners_.reviewer;
  network.session_offered = terms_.session_approvals;
  if (terms_.keep_host)
    network.keep_rule = [keep = terms_.keep_host, &workers = workers_, audit = audit_.sink,
                         id = terms_.id](const host_key& key, bool allow) {
      const auto work = [keep, key, allow, audit, id] {
        const auto text = std::string{allow ? "allow " : "deny "} + to_string(key);
        if (!audit || audit->record_and_wait(
                          {audit_kind::amendment, id, {}, {}, 0, audit_amendment("host", text)}))
          keep(key, allow);
      };
      (void)workers.submit(work, [] {});
    };
  const auto service = system().spawn<network_service>(std::move(network));
  partners_.network = service;
  turn_over_ = [service] { caf::anon_send(service, turn_over_v); };
  terms_.shell.attach_network = [service, view = view_of(*terms_.session.network)](
                                    const std::string& registration, network_link link) {
    caf::anon_send(service, attach_v, registration,
                   std::make_shared<network_link>(std::move(link)));
    return view;
  };
}

review_desk_terms session_thread::desk_terms() {
  review_desk_terms desk;
  desk.loop = &loop_;
  desk.hooks = terms_.hooks.rules;
  desk.hook_context = [now = now_] { return now->hooks; };
  desk.hook_env = terms_.hooks.env;
  desk.guardian = terms_.guardian;
  desk.auto_review = terms_.auto_review;
  desk.approval = terms_.session.approval;
  desk.transcript = [now = now_] { return now->transcript; };
  desk.boundary = terms_.boundary;
  desk.user = caf::actor_cast<reviewer_actor>(this);
  desk.user_present = [now = now_, waits = terms_.reviewer_grace.count() > 0] {
    return now->reviewer_present || waits;
  };
  desk.no_user_reason = terms_.nobody_reason;
  desk.user_limit = terms_.review_limit;
  desk.memory = memory_;
  desk.session_scope = terms_.session_approvals;
  desk.policy = [now = now_] {
    return policy_stamp(now->session.profile, now->session.approval, now->rules_generation);
  };
  desk.warn = terms_.hooks.warn;
  desk.observer = caf::actor_cast<observer_actor>(this);
  return desk;
}

thread_event_ptr session_thread::publish(thread_event_body what, const std::string& turn) {
  auto event = log_.add(turn, std::move(what));
  for (const auto& s : subscribers_)
    s.subscriber->on_event(event);
  return event;
}

// ---- calls ----

std::optional<error> session_thread::cannot_begin(const tool_request& asked) {
  if (asked.call_id.empty() || asked.call_id.size() > longest_id)
    return wrong("a call id has 1 to " + std::to_string(longest_id) + " bytes");
  if (used_ids_.contains(asked.call_id))
    return wrong("the id `" + asked.call_id + "` was used before in this thread",
                 "Give every call an id of its own.");
  // A call of the turn that was stopped is an item like any other (§D11), and refused.
  const bool stopped = !stopped_because_.empty() && asked.turn_id == stopped_turn_;
  if (!asked.turn_id.empty() && asked.turn_id != turn_ && !stopped)
    return wrong("the turn `" + asked.turn_id + "` is not open");
  return std::nullopt;
}

void session_thread::on(const thread_messages::begin_call& m) {
  const auto& asked = m.request;
  auto why = closing_ ? wrong("the thread is closing") : cannot_begin(asked);
  if (why) {
    if (m.done) m.done(*std::move(why));
    return;
  }
  used_ids_.insert(asked.call_id);
  if (turn_.empty() && stopped_because_.empty()) open_turn({});
  if (const auto* wish = std::get_if<permissions_request>(&asked.arguments))
    return ask_permissions(asked, *wish, m.done);
  auto planned = plan_call(now_->session, std::get<shell_request>(asked.arguments),
                           grants_.effective(local_environment, turn_));
  planned.plan.call_id = asked.call_id;
  planned.plan.review_nonce = random_id();
  planned.plan.home = terms_.judgement.search.home;
  run(asked, std::move(planned), m.done);
}

session_thread::running_call&
session_thread::begin_item(const std::string& id, const std::string& tool, const proposal& what,
                           std::function<void(const result<call_report_ptr>&)> on_end) {
  publish(thread_events::item_started{id, tool, what}, turn_);
  note({transcript_entry::kind::tool_call, tool,
        what.argv.empty() ? what.justification : shell_join(what.argv)});
  auto& call = running_[id];
  call.turn = turn_;
  call.tool = tool;
  call.done = std::move(on_end);
  if (audit_.sink)
    audit_.sink->record(entry(audit_kind::request, id, audit_request(tool, what)), {});
  return call;
}

bool session_thread::refuse_after_stop(const std::string& id) {
  if (stopped_because_.empty()) return false;
  call_report report;
  report.call_id = id;
  report.ending = call_ending::refused;
  report.message = turn_over_message(stopped_because_);
  ended(id, std::make_shared<const call_report>(std::move(report)));
  return true;
}

void session_thread::run(const tool_request& asked, planned_call planned,
                         std::function<void(const result<call_report_ptr>&)> on_end) {
  const auto id = asked.call_id;
  planned.plan.tool = tool_name(asked.arguments);
  auto& call = begin_item(id, planned.plan.tool, planned.plan.what, std::move(on_end));
  if (refuse_after_stop(id)) return;
  if (auto unknown = look_at_rules()) {
    call_report report;
    report.call_id = id;
    report.message = failure_message(*unknown);
    report.failure = *std::move(unknown);
    return ended(id, std::make_shared<const call_report>(std::move(report)));
  }
  const auto make = [system = &system(), judgement = terms_.judgement,
                     partners = partners_]() -> tool_call_actor {
    return system->spawn<tool_call>(judgement, partners);
  };
  if (terms_.hooks.rules.empty()) {
    call.actor = make();
  } else {
    auto hooks = terms_.hooks;
    hooks.context = now_->hooks;
    // A patch is heard of by the hooks of patches, and, where it came as a command, of commands.
    const auto make_patch = [system = &system(), hooks, make]() -> tool_call_actor {
      return system->spawn<hooked_call>(hooks, hook_tool::apply_patch, make);
    };
    const auto& argv = planned.plan.what.argv;
    if (!argv.empty() && policy::is_patch_tool(argv.front()))
      call.actor = make_patch();
    else
      call.actor =
          system().spawn<hooked_call>(std::move(hooks), hook_tool::shell_command, make_patch);
  }
  request(call.actor, caf::infinite, run_v,
          std::make_shared<const call_start>(
              call_start{std::move(planned.plan), std::move(planned.handler_refusal)}))
      .then(
          [this, id](const call_report_ptr& report) { ended(id, report); },
          [this, id](caf::error& failed) {
            call_report lost;
            lost.call_id = id;
            lost.failure = error{errc::internal, "the call failed: " + system().render(failed), {}};
            lost.message = failure_message(*lost.failure);
            ended(id, std::make_shared<const call_report>(std::move(lost)));
          });
}

// The end is told when it is written, so that nobody knows more than the audit.
void session_thread::ended(const std::string& call_id, const call_report_ptr& report) {
  if (!partners_.auditor) return conclude(call_id, report);
  const auto go_on = [this, call_id, report](const std::string& why_not) {
    if (why_not.empty()) return conclude(call_id, report);
    auto told = *report;
    told.message += (told.message.empty() ? "" : "\n") +
                    ("The end of this call could not be recorded: " + why_not);
    conclude(call_id, std::make_shared<const call_report>(std::move(told)));
  };
  request(partners_.auditor, caf::infinite, record_v,
          std::make_shared<const audit_record>(entry(audit_kind::end, call_id, audit_end(*report))))
      .then(go_on, [this, go_on](caf::error& e) { go_on(system().render(e)); });
}

void session_thread::conclude(const std::string& call_id, const call_report_ptr& report) {
  auto found = running_.extract(call_id);
  if (found.empty()) return;
  const auto& call = found.mapped();
  note({transcript_entry::kind::tool_result, call.tool,
        report->message.empty() ? report->output.aggregated
                                : report->message + "\n" + report->output.aggregated});
  publish(thread_events::item_ended{report}, call.turn);
  if (call.done) call.done(report);
  const bool stopped = report->ending == call_ending::aborted && !report->reviews.empty() &&
                       report->reviews.back().decision == review_decision::abort;
  if (stopped && call.turn == turn_) {
    const auto& last = report->reviews.back();
    stop_turn(last.reviewer == reviewer_kind::guardian
                  ? "the automatic reviewer stopped it: " + last.reason
                  : "the user stopped it");
  }
  finish_closing();
}

void session_thread::on(const thread_messages::cancel_call& m) {
  if (const auto call = running_.find(m.call_id); call != running_.end()) cancel(call->second);
}

void session_thread::cancel(const running_call& call) {
  if (call.actor) return send(call.actor, cancel_v);
  send(partners_.reviewer, withdraw_v, call.review_id); // its answer ends the call
}

void session_thread::on(const thread_messages::add_transcript& m) {
  note(
      {m.from_user ? transcript_entry::kind::user : transcript_entry::kind::assistant, {}, m.text});
}

// The user's first words stay: they say what all of this is for.
void session_thread::note(transcript_entry entry) {
  if (!terms_.guardian) return;
  if (entry.text.size() > longest_transcript_text) {
    entry.text.resize(longest_transcript_text);
    entry.text.resize(entry.text.size() - incomplete_utf8_suffix(entry.text));
    entry.text += " [cut]";
  }
  auto& entries = now_->transcript;
  entries.push_back(std::move(entry));
  if (entries.size() > most_transcript_entries) entries.erase(entries.begin() + 1);
}

// ---- permissions (§16a) ----

void session_thread::ask_permissions(const tool_request& asked, const permissions_request& wish,
                                     std::function<void(const result<call_report_ptr>&)> on_end) {
  const auto id = asked.call_id;
  review_request question;
  question.review_id = "review-" + random_id();
  question.call_id = id;
  question.tool = tool_name(asked.arguments);
  question.what.cwd = now_->session.cwd;
  question.what.sandbox_permissions = sandbox_permissions::with_additional_permissions;
  question.what.additional_permissions = policy::normalise_overlay(wish.permissions);
  question.what.justification = wish.reason;
  question.digest = digest_of(question.what, {});
  question.reason = wish.reason.empty() ? "the agent asks for permissions" : wish.reason;
  question.will_be_allowed = permissions_allow(*question.what.additional_permissions);
  question.strict = now_->session.strict_review;
  auto& call = begin_item(id, question.tool, question.what, std::move(on_end));
  call.review_id = question.review_id;
  if (refuse_after_stop(id)) return;

  const auto end_with = [&](call_report report) {
    report.call_id = id;
    ended(id, std::make_shared<const call_report>(std::move(report)));
  };
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
  given.permissions = granted_part(*question.what.additional_permissions, given.permissions,
                                   now_->session.profile, now_->session.context);
  const bool turn_open = call->second.turn == turn_;
  if (given.scope == grant_scope::turn && !turn_open) given.permissions = {}; // it came too late
  permission_grant grant;
  grant.environment_id = question.what.environment_id;
  grant.scope = given.scope;
  grant.turn_id = call->second.turn;
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

// ---- turns ----

void session_thread::open_turn(std::string turn_id) {
  turn_ = turn_id.empty() ? "turn-" + random_id() : std::move(turn_id);
  used_ids_.insert(turn_);
  now_->hooks.turn_id = partners_.turn = now_->turn = turn_;
  stopped_because_.clear();
  memory_->breaker.reset();
  publish(thread_events::turn_started{}, turn_);
}

void session_thread::on(const thread_messages::start_turn& m) {
  std::optional<error> why;
  if (closing_)
    why = wrong("the thread is closing");
  else if (!turn_.empty())
    why = wrong("the turn `" + turn_ + "` is open", "End it first.");
  else if (m.turn_id.size() > longest_id)
    why = wrong("a turn id has at most " + std::to_string(longest_id) + " bytes");
  else if (used_ids_.contains(m.turn_id))
    why = wrong("the id `" + m.turn_id + "` was used before in this thread");
  if (why) {
    if (m.done) m.done(*std::move(why));
    return;
  }
  open_turn(m.turn_id);
  if (m.done) m.done(turn_);
}

void session_thread::on(const thread_messages::end_turn& m) {
  if (turn_.empty() || (!m.turn_id.empty() && m.turn_id != turn_)) return;
  close_turn(m.how, m.reason);
}

void session_thread::stop_turn(const std::string& why) {
  stopped_because_ = why;
  stopped_turn_ = turn_;
  close_turn(thread_events::turn_ending::interrupted, why);
}

void session_thread::close_turn(thread_events::turn_ending how, const std::string& reason) {
  for (const auto& [id, call] : running_)
    if (call.turn == turn_) cancel(call);
  const auto turn = std::exchange(turn_, {});
  grants_.end_turn(turn);
  if (turn_over_) turn_over_();
  now_->session.strict_review = terms_.session.strict_review;
  now_->hooks.turn_id.clear();
  publish(thread_events::turn_ended{how, reason}, turn);
}

// ---- questions to people ----

caf::result<review_answer_ptr> session_thread::hold(const review_request_ptr& question) {
  auto promise = make_response_promise<review_answer_ptr>();
  auto answer = promise;
  promises_[question->review_id] = std::move(promise);
  const auto call = running_.find(question->call_id);
  const auto shown = publish(thread_events::review_asked{*question, reviewer_kind::user},
                             call == running_.end() ? turn_ : call->second.turn);
  open_.add(*question, shown);
  look_for_reviewers();
  return answer;
}

void session_thread::reply(const std::string& review_id, review_answer answer) {
  open_.withdraw(review_id);
  auto found = promises_.extract(review_id);
  if (found.empty()) return;
  found.mapped().deliver(std::make_shared<const review_answer>(std::move(answer)));
}

void session_thread::on(const thread_messages::answer_review& m) {
  review_answer answer{m.review_id, m.digest,      m.decision,   reviewer_kind::user,
                       m.reason,    m.denies_host, m.permissions};
  auto question = open_.settle(answer);
  if (!question) {
    if (m.done) m.done(question.error());
    return;
  }
  answer.digest = question->digest; // a no may come without it
  reply(m.review_id, std::move(answer));
  if (m.done) m.done({});
}

void session_thread::on(const thread_messages::allow_refused& m) {
  const auto known = std::find(refused_.begin(), refused_.end(), m.digest);
  if (known == refused_.end()) {
    if (m.done)
      m.done(wrong("the automatic reviewer has refused no such action",
                   "Answer with the digest of the question that it refused."));
    return;
  }
  refused_.erase(known);
  memory_->overrides.allow(m.digest);
  if (m.done) m.done({});
}

void session_thread::look_for_reviewers() {
  now_->reviewer_present = std::any_of(subscribers_.begin(), subscribers_.end(),
                                       [](const auto& s) { return s.answers; });
  if (now_->reviewer_present || open_.empty()) return grace_.cancel();
  if (!grace_.pending())
    grace_.start(terms_.reviewer_grace, [self = caf::actor_cast<session_thread_actor>(this)] {
      caf::anon_send(self, expire_v);
    });
}

// ---- clients ----

void session_thread::on(const thread_messages::subscribe& m) {
  std::vector<thread_event_ptr> missed;
  if (m.after) missed = log_.after(*m.after);
  for (const auto& event : missed)
    m.subscriber->on_event(event);
  // Also those that the log no longer has.
  for (const auto& shown : open_.shown())
    if (std::ranges::find(missed, shown) == missed.end()) m.subscriber->on_event(shown);
  std::erase_if(subscribers_, [&](const auto& s) { return s.subscriber == m.subscriber; });
  subscribers_.push_back(m);
  look_for_reviewers();
}

void session_thread::on(const thread_messages::unsubscribe& m) {
  std::erase_if(subscribers_, [&](const auto& s) { return s.subscriber == m.subscriber; });
  look_for_reviewers();
}

void session_thread::on(const thread_messages::read_status& m) {
  thread_messages::thread_status status;
  status.turn_id = turn_;
  status.waits_for_user = !stopped_because_.empty();
  status.last_seq = log_.last_seq();
  for (const auto& [id, call] : running_)
    status.running.push_back(id);
  for (const auto& shown : open_.shown())
    status.open_reviews.push_back(std::get<thread_events::review_asked>(shown->what).question);
  status.grants = grants_.list();
  status.approvals = memory_->approvals.list();
  m.done(status);
}

void session_thread::on(const thread_messages::revoke& m) {
  const bool found = m.what == thread_messages::revoke::kind::grant
                         ? grants_.revoke(m.id)
                         : memory_->approvals.revoke(m.id);
  if (found && audit_.sink)
    audit_.sink->record(
        entry(audit_kind::grant, {},
              audit_grant("revoked",
                          m.what == thread_messages::revoke::kind::grant ? "grant" : "approval",
                          std::to_string(m.id))),
        {});
  if (m.done) m.done(found);
}

void session_thread::on(const thread_messages::close_thread& m) {
  if (closing_) {
    if (m.done) m.done();
    return;
  }
  closing_ = m;
  if (!turn_.empty()) close_turn(thread_events::turn_ending::interrupted, "the thread was closed");
  for (const auto& [id, call] : running_)
    cancel(call);
  finish_closing();
}

void session_thread::finish_closing() {
  if (!closing_ || !running_.empty() || keeping_) return;
  const auto last = closing_->done;
  quit();
  if (last) last();
}

// ---- rules ----

std::optional<error> session_thread::look_at_rules() {
  if (!terms_.look_at_rules) return std::nullopt;
  const auto found = terms_.look_at_rules();
  if (!found) return found.error();
  for (const auto& text : found->warnings)
    publish(thread_events::warning{text}, turn_);
  if (found->rules != terms_.judgement.rules) {
    terms_.judgement.rules = found->rules;
    ++now_->rules_generation; // what was approved for the session was approved under other rules
  }
  return std::nullopt;
}

void session_thread::keep_next_rule() {
  if (keeping_ || rules_to_keep_.empty() || !terms_.keep_rule) return;
  const auto rule = rules_to_keep_.front();
  rules_to_keep_.pop_front();
  kept_ = std::make_shared<std::optional<rules_result>>();
  // On the worker, so that the rule stands in the audit before it stands in the rules.
  const auto work = [keep = terms_.keep_rule, rule, slot = kept_, audit = audit_.sink,
                     noted = entry(audit_kind::amendment, {},
                                   audit_amendment("rule", shell_join(rule->prefix)))] {
    const auto written = audit ? audit->record_and_wait(noted) : result<void>{};
    slot->emplace(written ? keep(*rule) : rules_result{written.error()});
  };
  const auto queued = workers_.submit(work, [self = caf::actor_cast<session_thread_actor>(this)] {
    caf::anon_send(self, report_v, std::string{});
  });
  keeping_ = queued.has_value();
  if (!queued)
    publish(thread_events::warning{"the rule was not kept: " + to_string(queued.error())}, turn_);
}

void session_thread::rules_read() {
  keeping_ = false;
  auto& kept = **kept_;
  if (kept)
    terms_.judgement.rules = *kept;
  else
    publish(thread_events::warning{"the rule was not kept: " + to_string(kept.error())}, turn_);
  kept_.reset();
  keep_next_rule();
  finish_closing();
}

} // namespace gatehouse::actors
