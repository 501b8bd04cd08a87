#include "protocol/rpc/app_events.hpp"

#include "protocol/base64.hpp"
#include "protocol/call_report_json.hpp"
#include "protocol/denial_message.hpp"
#include "protocol/rpc/app_changes.hpp"
#include "protocol/rpc/app_methods.hpp"
#include "protocol/rpc/app_permissions.hpp"
#include "protocol/shell_quote.hpp"
#include "protocol/utf8.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::rpc::app {
namespace {

constexpr std::string_view amendment_word = "acceptWithExecpolicyAmendment";

raw_json decision_word(std::string_view text) {
  json_writer json;
  json.text(text);
  return {std::move(json).take()};
}

raw_json amendment_choice(const std::vector<std::string>& prefix) {
  json_writer json;
  json.open('{');
  json.key(amendment_word);
  json.open('{');
  json.key("execpolicy_amendment");
  codec<std::vector<std::string>>::encode(json, prefix);
  json.close('}');
  json.close('}');
  return {std::move(json).take()};
}

/// Is a rule for the host on offer, for good?
bool is_offered(const review_request& question, bool denies) {
  return denies || !question.prompt_rule_stands;
}

raw_json host_choice(const host_key& host, bool denies) {
  json_writer json;
  json.open('{');
  json.key("applyNetworkPolicyAmendment");
  json.open('{');
  json.key("network_policy_amendment");
  json.open('{');
  json.field("action", denies ? "deny" : "allow");
  json.field("host", host.host);
  json.key("port");
  json.number(host.port);
  json.field("protocol", to_string(host.protocol));
  json.close('}');
  json.close('}');
  json.close('}');
  return {std::move(json).take()};
}

/// With the members of every object by name: two spellings of one value are one text.
json_tree ordered(json_tree tree) {
  if (auto* list = std::get_if<json_tree::array>(&tree.value)) {
    for (auto& item : *list)
      item = ordered(std::move(item));
  } else if (auto* members = std::get_if<json_tree::object>(&tree.value)) {
    for (auto& member : *members)
      member.value = ordered(std::move(member.value));
    std::ranges::sort(*members, {}, &json_tree::field::name);
  }
  return tree;
}

approval_kind kind_of(const review_request& question) {
  if (question.network) return approval_kind::network;
  if (question.what.patch) return approval_kind::patch;
  if (question.tool == "request_permissions") return approval_kind::permissions;
  if (question.tool == "write_stdin") return approval_kind::write_stdin;
  return approval_kind::command;
}

std::string_view decision_word(review_decision d) {
  switch (d) {
  case review_decision::approved: return "accept";
  case review_decision::approved_execpolicy_amendment: return amendment_word;
  case review_decision::approved_for_session: return "acceptForSession";
  case review_decision::network_policy_amendment: return "applyNetworkPolicyAmendment";
  case review_decision::denied: return "decline";
  case review_decision::timed_out: return "timedOut";
  case review_decision::abort: return "cancel";
  }
  return "decline";
}

bool was_denied(const call_report& report) {
  return !report.attempts.empty() && report.attempts.back().ending == attempt_ending::denied;
}

call_status status_of(const call_report& report) {
  switch (report.ending) {
  case call_ending::aborted: return call_status::interrupted;
  case call_ending::failed: return call_status::failed;
  case call_ending::refused:
    for (const auto& review : report.reviews)
      if (!review.lets_through()) return call_status::declined;
    return call_status::rejected;
  case call_ending::completed: break;
  }
  if (report.attempts.empty()) return call_status::completed;
  switch (report.attempts.back().ending) {
  case attempt_ending::timed_out: return call_status::timed_out;
  case attempt_ending::cancelled: return call_status::interrupted;
  case attempt_ending::not_started:
  case attempt_ending::lost:
  case attempt_ending::signalled: return call_status::failed;
  case attempt_ending::running: // a terminal session that goes on
  case attempt_ending::denied:
  case attempt_ending::exited: break;
  }
  return call_status::completed;
}

item_status item_status_of(call_status status) {
  switch (status) {
  case call_status::completed: return item_status::completed;
  case call_status::declined:
  case call_status::rejected: return item_status::declined;
  case call_status::failed:
  case call_status::timed_out:
  case call_status::interrupted: break;
  }
  return item_status::failed;
}

template <class Notification>
outgoing say(const typename Notification::params& params) {
  return {Notification::name, to_json(params), {}};
}

void put_patch(command_item& item, const thread_events::planned_patch_ptr& patch) {
  if (!patch) return;
  item.type = item_type::file_change;
  item.changes = changes_of(patch->text, patch->folder);
}

struct event_reader {
  const std::string& thread;
  const thread_event& event;
  std::int64_t seq = static_cast<std::int64_t>(event.seq);

  using message = std::optional<outgoing>;

  message operator()(const thread_events::turn_started&) const {
    return say<notifications::turn_started>(
        {thread, seq, {event.turn_id, turn_state::in_progress}, {}});
  }
  message operator()(const thread_events::turn_ended& e) const {
    const bool done = e.how == thread_events::turn_ending::completed;
    turn_event told{
        thread, seq, {event.turn_id, done ? turn_state::completed : turn_state::interrupted}, {}};
    if (!e.reason.empty()) told.reason = e.reason;
    return say<notifications::turn_completed>(told);
  }
  message operator()(const thread_events::item_started& e) const {
    item_event told{thread, event.turn_id, seq, {}, event.unix_ms, {}};
    put_patch(told.item, e.patch);
    told.item.id = e.call_id;
    told.item.tool = e.tool;
    told.item.command = e.what.argv.empty() ? e.tool : shell_join(e.what.argv);
    told.item.cwd = e.what.cwd;
    return say<notifications::item_started>(told);
  }
  message operator()(const thread_events::review_asked& e) const {
    if (e.who != reviewer_kind::user) return std::nullopt;
    const auto asked = approval_of(thread, {event.turn_id, event.seq, event.unix_ms}, e.question);
    return outgoing{request_name(asked.kind), to_json(asked), e.question.review_id};
  }
  message operator()(const thread_events::review_resolved& e) const {
    return say<notifications::resolved>(
        {thread, seq, e.answer.review_id, e.call_id, std::string{decision_word(e.answer.decision)},
         std::string{to_string(e.answer.reviewer)}, e.answer.reason, e.answer.digest});
  }
  message operator()(const thread_events::attempt_began& e) const {
    return say<notifications::attempt_started>({thread, event.turn_id, e.call_id, seq, e.number,
                                                std::string{to_string(e.sandbox)},
                                                std::string{to_string(e.network)}});
  }
  message operator()(const thread_events::output_delta& e) const {
    app::output_delta told{thread,
                           event.turn_id,
                           e.call_id,
                           seq,
                           e.attempt,
                           e.stream == output_stream::standard_error ? stream_name::standard_error
                                                                     : stream_name::standard_output,
                           e.bytes,
                           {}};
    if (find_invalid_utf8(e.bytes)) told.delta_base64 = encode_base64(e.bytes);
    return say<notifications::output>(told);
  }
  message operator()(const thread_events::attempt_denied& e) const {
    return say<notifications::attempt_denied>({thread, event.turn_id, e.call_id, seq, e.number,
                                               std::string{to_string(e.what.kind)}, e.what.path,
                                               e.what.host, e.what.entry, e.what.remedy});
  }
  message operator()(const thread_events::connection_blocked& e) const {
    const auto unless_empty = [](std::string text) {
      return text.empty() ? std::nullopt : std::optional{std::move(text)};
    };
    const auto& target = e.what.target;
    return say<notifications::connection_blocked>(
        {thread, event.turn_id, e.what.call_id, seq, e.what.attempt,
         target.host.empty() ? std::nullopt : std::optional{to_string(target)},
         unless_empty(e.what.method), std::string{to_string(e.what.reason)},
         unless_empty(e.what.rule), blocked_connection_message(e.what)});
  }
  message operator()(const thread_events::item_ended& e) const {
    const auto& report = *e.report;
    item_event told{thread, event.turn_id, seq, {}, {}, event.unix_ms};
    put_patch(told.item, e.patch);
    told.item.id = report.call_id;
    told.item.status = item_status_of(status_of(report));
    if (report.output.dropped)
      told.item.output_dropped = true;
    else
      told.item.aggregated_output = report.output.aggregated;
    std::chrono::milliseconds whole{0};
    for (const auto& attempt : report.attempts)
      whole += attempt.duration;
    if (!report.attempts.empty()) {
      told.item.duration_ms = whole.count();
      told.item.exit_code = shell_status(report.attempts.back());
    }
    if (!report.message.empty()) told.item.message = report.message;
    told.item.report = raw_json{encode_call_report(report)};
    return say<notifications::item_completed>(told);
  }
  message operator()(const thread_events::terminal_interaction& e) const {
    return say<notifications::terminal_interaction>(
        {thread, event.turn_id, e.call_id, seq, e.session_id, e.chars});
  }
  message operator()(const thread_events::terminal_ended& e) const {
    terminal_ended told{thread, event.turn_id, e.call_id, seq, e.session_id, {}, false, false};
    told.exit_code = shell_status(e.how);
    told.timed_out = e.how.ending == attempt_ending::timed_out;
    told.sandbox_denied = e.how.ending == attempt_ending::denied;
    return say<notifications::terminal_ended>(told);
  }
  message operator()(const thread_events::settings_changed& e) const {
    return say<notifications::settings_updated>(
        {thread, seq, e.cwd, e.roots, {e.approval_json}, e.profile});
  }
  message operator()(const thread_events::warning& e) const {
    return say<notifications::warning>({thread, seq, e.text});
  }
};

} // namespace

std::optional<outgoing> message_of(const std::string& thread_id, const thread_event& event) {
  return std::visit(event_reader{thread_id, event}, event.what);
}

approval_request approval_of(const std::string& thread_id, const asked_at& at,
                             const review_request& question) {
  approval_request asked;
  asked.request_id = question.review_id;
  asked.seq = static_cast<std::int64_t>(at.seq);
  asked.thread_id = thread_id;
  asked.turn_id = at.turn_id;
  asked.started_at_ms = at.unix_ms;
  if (question.time_limit.count() > 0)
    asked.expires_at_ms = at.unix_ms + question.time_limit.count();
  asked.why.source = question.cause.source;
  if (!question.cause.rule.empty()) asked.why.rule = question.cause.rule;
  if (!question.cause.segment.empty()) asked.why.segment = question.cause.segment;
  asked.item_id = question.call_id;
  asked.kind = kind_of(question);
  asked.attempt = question.attempt;
  asked.environment_id = question.what.environment_id;
  asked.command = question.what.argv.empty() ? question.tool : shell_join(question.what.argv);
  asked.argv = question.what.argv;
  asked.cwd = question.what.cwd;
  asked.reason = question.reason;
  asked.justification = question.what.justification;
  asked.will_be_allowed = question.will_be_allowed;
  asked.without_sandbox = question.without_sandbox;
  asked.action_digest = question.digest;
  asked.write_targets = question.write_targets;
  if (question.network) asked.network_target = to_string(*question.network);
  if (question.what.additional_permissions)
    (asked.kind == approval_kind::permissions ? asked.permissions : asked.additional_permissions) =
        permissions_json(*question.what.additional_permissions);
  asked.available_decisions.push_back(decision_word("accept"));
  if (question.session_offered)
    asked.available_decisions.push_back(decision_word("acceptForSession"));
  if (!question.proposed_amendment.empty()) {
    asked.proposed_execpolicy_amendment = question.proposed_amendment;
    asked.available_decisions.push_back(amendment_choice(question.proposed_amendment));
  }
  if (question.network)
    for (const bool denies : {false, true})
      if (is_offered(question, denies))
        asked.available_decisions.push_back(host_choice(*question.network, denies));
  asked.available_decisions.push_back(decision_word("decline"));
  asked.available_decisions.push_back(decision_word("cancel"));
  return asked;
}

std::optional<decision> decision_of(const call_report& report) {
  switch (report.evaluation.requirement.kind) {
  case requirement_kind::skip: return decision::allow;
  case requirement_kind::needs_approval: return decision::prompt;
  case requirement_kind::forbidden: break;
  }
  // It is also what stands there before anything is decided.
  const bool refused = report.ending == call_ending::refused && report.reviews.empty();
  return refused ? std::optional{decision::forbidden} : std::nullopt;
}

tool_call_result result_of(const call_report& report) {
  tool_call_result told;
  told.call_id = report.call_id;
  told.status = status_of(report);
  if (!report.attempts.empty()) {
    const auto& last = report.attempts.back();
    told.exit_code = shell_status(last);
    told.sandbox_type = to_string(last.sandbox);
  }
  told.output = report.output.aggregated;
  told.output_truncated = report.output.aggregate_omitted_bytes > 0;
  told.output_omitted_bytes = static_cast<std::int64_t>(report.output.aggregate_omitted_bytes);
  if (report.output.dropped) told.output_dropped = true;
  told.sandbox_denied = was_denied(report);
  told.decision = decision_of(report);
  told.message = report.message;
  if (report.session_id) told.session_id = *report.session_id;
  told.report = {encode_call_report(report)};
  return told;
}

named_decision decision_of(const approval_answer& answer, const review_request& question) {
  const named_decision no{review_decision::denied};
  if (answer.decision) return decision_from(*answer.decision, question).value_or(no);
  if (kind_of(question) != approval_kind::permissions || !answer.permissions) return no;
  const auto given = permissions_from(*answer.permissions);
  return given && !given->empty() ? named_decision{review_decision::approved} : no;
}

std::optional<named_decision> decision_from(const json_tree& decision,
                                            const review_request& question) {
  if (const auto* text = std::get_if<std::string>(&decision.value)) {
    if (*text == "accept") return named_decision{review_decision::approved};
    if (*text == "acceptForSession" && question.session_offered)
      return named_decision{review_decision::approved_for_session};
    if (*text == "decline") return named_decision{review_decision::denied};
    if (*text == "cancel") return named_decision{review_decision::abort};
    return std::nullopt;
  }
  // Exactly the choice that was offered: a wider rule than the one that was shown adds nothing.
  const auto named = to_json(ordered(decision));
  if (!question.proposed_amendment.empty() &&
      named == amendment_choice(question.proposed_amendment).text)
    return named_decision{review_decision::approved_execpolicy_amendment};
  for (const bool denies : {false, true})
    if (question.network && is_offered(question, denies) &&
        named == host_choice(*question.network, denies).text)
      return named_decision{review_decision::network_policy_amendment, denies};
  return std::nullopt;
}

result<std::optional<given_permissions>> given_from(const answered_permissions& said,
                                                    const review_request& question,
                                                    review_decision decision) {
  const bool named = said.permissions || said.scope || said.strict_auto_review;
  if (!named || !is_approval(decision)) return std::optional<given_permissions>{};
  if (kind_of(question) != approval_kind::permissions)
    return error{errc::invalid_request,
                 "only the answer to a question of the kind `permissions` can give permissions",
                 "Leave out permissions, scope and strictAutoReview."};
  given_permissions given;
  if (said.permissions) {
    auto read = permissions_from(*said.permissions);
    if (!read) return read.error();
    given.permissions = *std::move(read);
  } else if (question.what.additional_permissions) {
    given.permissions = *question.what.additional_permissions;
  }
  given.scope = said.scope.value_or(
      decision == review_decision::approved_for_session ? grant_scope::session : grant_scope::turn);
  given.strict_auto_review = said.strict_auto_review.value_or(false);
  return std::optional{std::move(given)};
}

} // namespace gatehouse::rpc::app
