#include "actors/session_thread.hpp"

#include "actors/hook_command.hpp"
#include "actors/network_service.hpp"
#include "actors/paced_output.hpp"
#include "protocol/approval_key.hpp"
#include "protocol/utf8.hpp"
#include "sandbox/command_files.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace gatehouse::actors {
namespace {

constexpr std::size_t most_deltas = 10'000; // §96
constexpr std::size_t most_refused = 64;
constexpr std::size_t most_transcript_entries = 512;
constexpr std::size_t longest_transcript_text = 16 * 1024;

/// The call that an event is about; empty: none.
std::string call_id_of(const thread_event_body& what) {
  return std::visit(
      [](const auto& e) -> std::string {
        if constexpr (requires { e.call_id; })
          return e.call_id;
        else if constexpr (requires { e.question; })
          return e.question.call_id;
        else if constexpr (requires { e.what.call_id; })
          return e.what.call_id;
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
  if (terminals_) caf::anon_send_exit(terminals_, why);
  for (const auto& one : retired_)
    caf::anon_send_exit(one, why);
  retired_.clear();
  retired_turns_.clear();
  terminals_ = nullptr;
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
  const auto announce = [self](const attempt_terms& of, output_stream stream,
                               std::string_view bytes) {
    caf::anon_send(self, event_v,
                   std::make_shared<const thread_event_body>(thread_events::output_delta{
                       of.call_id, of.number, stream, std::string{bytes}}));
  };
  if (auto* paced = terms_.shell.on_output.target<paced_output>())
    paced->hear = [announce, hear = std::move(paced->hear)](
                      const attempt_terms& of, output_stream stream, std::string_view bytes) {
      announce(of, stream, bytes);
      hear(of, stream, bytes);
    };
  else
    terms_.shell.on_output = announce;
  terms_.hooks.warn = [self](const std::string& text) {
    caf::anon_send(self, event_v,
                   std::make_shared<const thread_event_body>(thread_events::warning{text}));
  };
  partners_.reviewer = system().spawn<review_desk>(desk_terms());
  if (audit_.sink) begin_audit();
  begin_runtimes();
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
      [this](event_atom, const event_body_ptr& what) { heard(*what); },
      [this](add_rule_atom, const rule_ptr& rule) {
        rules_to_keep_.push_back(rule);
        keep_next_rule();
      },
  };
}

void session_thread::add_network() {
  network_service_terms network;
  network.loop = &loop_;
  now_->network = std::make_shared<const policy::domain_policy>(*terms_.session.network);
  network.policy = [now = now_] { return now->network; };
  network.reviewer = partners_.reviewer;
  network.session_offered = terms_.session_approvals;
  network.answers = memory_->hosts;
  if (terms_.keep_host)
    network.keep_rule = [keep = terms_.keep_host, &workers = workers_, audit = audit_.sink,
                         id = terms_.id, hosts = memory_->hosts,
                         self = caf::actor_cast<observer_actor>(this)](const host_key& key,
                                                                       bool allow) {
      const auto how = std::make_shared<result<void>>();
      const auto work = [keep, key, allow, audit, id, how] {
        const auto text = std::string{allow ? "allow " : "deny "} + to_string(key);
        if (audit)
          *how = audit->record_and_wait(
              {audit_kind::amendment, id, {}, {}, 0, audit_amendment("host", text)});
        if (*how) *how = keep(key, allow);
      };
      const auto tell = [how, hosts, key, self] {
        if (*how) return hosts->keep(key);
        caf::anon_send(self, event_v,
                       std::make_shared<const thread_event_body>(thread_events::warning{
                           "the answer about " + to_string(key) +
                           " holds for this session only, its rule was not kept: " +
                           to_string(how->error())}));
      };
      if (const auto queued = workers.submit_for_sure(work, tell); !queued) {
        *how = queued.error();
        tell();
      }
    };
  network.on_blocked = [self =
                            caf::actor_cast<observer_actor>(this)](const blocked_connection& what) {
    caf::anon_send(
        self, event_v,
        std::make_shared<const thread_event_body>(thread_events::connection_blocked{what}));
  };
  network.warn = terms_.hooks.warn;
  const auto service = system().spawn<network_service>(std::move(network));
  partners_.network = service;
  turn_over_ = [service](bool interrupted) { caf::anon_send(service, turn_over_v, interrupted); };
  terms_.shell.attach_network = [service, now = now_](const std::string& registration,
                                                      network_link link) {
    caf::anon_send(service, attach_v, registration,
                   std::make_shared<network_link>(std::move(link)));
    return view_of(*now->network);
  };
}

review_desk_terms session_thread::desk_terms() {
  review_desk_terms desk;
  desk.loop = &loop_;
  desk.hooks = terms_.hooks.rules;
  desk.hook_context = [now = now_] { return now->hooks; };
  desk.hook_place = terms_.hooks.place;
  desk.guardian = terms_.guardian;
  desk.auto_review = terms_.auto_review;
  desk.approval = [now = now_] { return now->session.approval; };
  desk.transcript = [now = now_] { return now->transcript; };
  desk.boundary = [now = now_] { return now->boundary; };
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
  desk.changeable = [now = now_](const proposal& what) {
    const auto& session = now->session;
    const auto& search = now->search;
    if (session.profile.kind != profile_kind::managed || what.environment_id != "local")
      return std::string{};
    for (auto& file :
         sandbox::files_of_command(hook_command_text(what), {what.cwd, search.path, search.home})
             .files)
      if (policy::evaluate_access(session.profile, session.context, file).granted == access::write)
        return std::move(file);
    return std::string{};
  };
  desk.warn = terms_.hooks.warn;
  desk.observer = caf::actor_cast<observer_actor>(this);
  return desk;
}

void session_thread::heard(const thread_event_body& what) {
  if (const auto* settled = std::get_if<thread_events::review_resolved>(&what);
      settled && settled->answer.reviewer == reviewer_kind::guardian &&
      !is_approval(settled->answer.decision)) {
    refused_.push_back(settled->answer.digest);
    if (refused_.size() > most_refused) refused_.pop_front();
  }
  if (const auto* over = std::get_if<thread_events::terminal_ended>(&what))
    return terminal_ended(*over);
  const auto id = call_id_of(what);
  const auto call = running_.find(id);
  const auto in_background = background_.find(id);
  auto* const known = call != running_.end()               ? &call->second.told
                      : in_background != background_.end() ? &in_background->second
                                                           : nullptr;
  if (const auto* refused = std::get_if<thread_events::connection_blocked>(&what);
      refused && audit_.sink) {
    auto made = entry(audit_kind::denial, id, audit_denial(refused->what));
    made.attempt = refused->what.attempt;
    audit_.sink->record(std::move(made), {});
  }
  const bool delta = std::holds_alternative<thread_events::output_delta>(what);
  if (delta && (!known || known->output_withheld || ++known->deltas > most_deltas)) return;
  publish(what, known ? known->turn : turn_);
}

thread_event_ptr session_thread::publish(thread_event_body what, const std::string& turn) {
  auto event = log_.add(turn, std::move(what));
  for (const auto& s : subscribers_)
    s.subscriber->on_event(event);
  return event;
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
  status.stopped_because = stopped_because_;
  status.last_seq = log_.last_seq();
  for (const auto& [id, call] : running_)
    status.running.push_back(id);
  for (const auto& shown : open_.shown())
    status.open_reviews.push_back(std::get<thread_events::review_asked>(shown->what).question);
  status.grants = grants_.list();
  status.approvals = memory_->approvals.list();
  status.hosts = memory_->hosts->list();
  m.done(status);
}

void session_thread::on(const thread_messages::revoke& m) {
  using kind = thread_messages::revoke::kind;
  const bool found = m.what == kind::grant      ? grants_.revoke(m.id)
                     : m.what == kind::approval ? memory_->approvals.revoke(m.id)
                                                : memory_->hosts->revoke(m.id);
  if (found && audit_.sink) {
    const auto* what = m.what == kind::grant      ? "grant"
                       : m.what == kind::approval ? "approval"
                                                  : "host";
    audit_.sink->record(
        entry(audit_kind::grant, {}, audit_grant("revoked", what, std::to_string(m.id))), {});
  }
  if (m.done) m.done(found);
}

void session_thread::on(const thread_messages::close_thread& m) {
  if (closing_) {
    if (m.done) m.done();
    return;
  }
  closing_ = m;
  if (!turn_.empty()) close_turn(thread_events::turn_ending::interrupted, "the thread was closed");
  for (auto& [id, call] : running_)
    cancel(id, call);
  finish_closing();
}

void session_thread::finish_closing() {
  if (!closing_ || !running_.empty() || keeping_) return;
  const auto last = closing_->done;
  quit();
  if (last) last();
}

} // namespace gatehouse::actors
