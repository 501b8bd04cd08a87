#include "actors/audit/auditor.hpp"
#include "actors/session_thread.hpp"
#include "protocol/approval_policy_json.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/profile_json.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <utility>

/// What a thread writes down (§205): its part of actors/session_thread.hpp.
namespace gatehouse::actors {

audit_record session_thread::entry(audit_kind kind, std::string call_id, std::string body) const {
  audit_record made;
  made.kind = kind;
  made.session = terms_.id;
  const auto call = running_.find(call_id);
  made.turn = call == running_.end() ? turn_ : call->second.told.turn;
  made.call = std::move(call_id);
  made.body = std::move(body);
  return made;
}

void session_thread::begin_audit() {
  partners_.auditor = system().spawn<auditor>(audit_.sink);
  partners_.session = terms_.id;
  const auto about = [now = now_, id = terms_.id] {
    audit_record made;
    made.session = id;
    made.turn = now->turn;
    return made;
  };
  partners_.reviewer =
      system().spawn<audited_reviewer>(partners_.reviewer, partners_.auditor, about);
  const auto& session = terms_.session;
  audit_.sink->record(entry(audit_kind::session, {},
                            audit_session(audit_.program, audit_.version, session.cwd,
                                          encode_approval_policy(session.approval),
                                          encode_profile(session.profile), session.backend)),
                      {});
}

void session_thread::when_recorded(audit_record what,
                                   const std::function<void(const std::string&)>& go_on) {
  request(partners_.auditor, caf::infinite, record_v,
          std::make_shared<const audit_record>(std::move(what)))
      .then(go_on, [this, go_on](caf::error& e) { go_on(system().render(e)); });
}

// The end is told when it is written, so that nobody knows more than the audit.
void session_thread::ended(const std::string& call_id, const call_report_ptr& given) {
  auto report = given;
  if (const auto call = running_.find(call_id);
      call != running_.end() && !stopped_because_.empty() &&
      call->second.told.turn == stopped_turn_ && given->ending == call_ending::aborted &&
      given->message.starts_with(cancelled_message())) {
    auto told = *given;
    told.message =
        interrupted_message(stopped_because_) + given->message.substr(cancelled_message().size());
    report = std::make_shared<const call_report>(std::move(told));
  }
  if (!partners_.auditor) return conclude(call_id, report);
  when_recorded(entry(audit_kind::end, call_id, audit_end(*report)),
                [this, call_id, report](const std::string& why_not) {
                  if (why_not.empty()) return conclude(call_id, report);
                  auto told = *report;
                  told.message += (told.message.empty() ? "" : "\n") +
                                  ("The end of this call could not be recorded: " + why_not);
                  conclude(call_id, std::make_shared<const call_report>(std::move(told)));
                });
}

} // namespace gatehouse::actors
