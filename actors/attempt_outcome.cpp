#include "actors/attempt_outcome.hpp"

#include "sandbox/classify_denial.hpp"
#include "sandbox/host_paths.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace gatehouse::actors {
namespace {

denial observed_denial(const sandbox_event& event) {
  return {event.refusal, event.path, {}, event.entry, {}};
}

std::optional<denial> find_denial(const attempt& what, const policy::access_context& context,
                                  const attempt_facts& facts, int exit_code) {
  if (!what->sandbox_requested || exit_code == 0) return std::nullopt;
  const auto host = sandbox::gather_host_facts(what->profile, context);
  sandbox::denial_evidence evidence;
  evidence.exit_code = exit_code;
  evidence.cwd = what->cwd;
  evidence.argv = what->argv;
  evidence.stdout_tail = facts.stdout_text;
  evidence.stderr_tail = facts.stderr_text;
  evidence.backend = what->backend;
  evidence.network = what->network;
  for (const auto& event : facts.events)
    if (event.kind == sandbox_event_kind::blocked)
      evidence.observed.push_back(observed_denial(event));
  evidence.look = sandbox::look_at;
  return sandbox::classify_denial(what->profile, sandbox::with_facts(context, host), evidence);
}

/// The last event that says how it ended.
const sandbox_event* last_word(const attempt_facts& facts) {
  const auto found =
      std::find_if(facts.events.rbegin(), facts.events.rend(), [](const sandbox_event& e) {
        return e.kind != sandbox_event_kind::started && e.kind != sandbox_event_kind::blocked;
      });
  return found == facts.events.rend() ? nullptr : &*found;
}

} // namespace

attempt_record classify_attempt(const attempt& what, const policy::access_context& context,
                                const attempt_facts& facts) {
  attempt_record record;
  record.number = what->number;
  record.sandbox = what->backend;
  record.network = what->network;
  const bool started =
      std::any_of(facts.events.begin(), facts.events.end(),
                  [](const sandbox_event& e) { return e.kind == sandbox_event_kind::started; });
  const sandbox_event* word = last_word(facts);

  if (facts.cancelled || facts.timed_out) { // whatever it made of our signal, it is our doing
    record.ending = facts.cancelled ? attempt_ending::cancelled : attempt_ending::timed_out;
    return record;
  }
  if (word && word->kind == sandbox_event_kind::signalled) {
    record.ending = attempt_ending::signalled;
    record.signal = word->signal;
    return record;
  }
  if (word && word->kind == sandbox_event_kind::killed) {
    record.ending = attempt_ending::denied;
    record.exit_code = facts.helper.code;
    record.denied = denial{word->refusal, word->path, {}, word->message, word->remedy};
    return record;
  }
  if (word && word->kind == sandbox_event_kind::exec_failed) {
    const bool missing = word->error_number == ENOENT || word->error_number == ENOTDIR;
    record.exit_code = missing ? 127 : 126;
    record.failure =
        error{missing ? errc::not_found : errc::spawn_failed, word->message, word->remedy};
    record.denied = find_denial(what, context, facts, *record.exit_code);
    if (record.denied) record.ending = attempt_ending::denied;
    return record;
  }
  if (word && word->kind == sandbox_event_kind::exited && word->exit_code) {
    record.exit_code = word->exit_code;
    record.denied = find_denial(what, context, facts, *word->exit_code);
    record.ending = record.denied ? attempt_ending::denied : attempt_ending::exited;
    return record;
  }
  record.failure = word ? error{errc::boundary_failed, word->message, word->remedy}
                        : error{errc::boundary_failed, "gatehouse-sandbox ended without a report",
                                "Run `gatehouse doctor`."};
  if (started) { // the command ran, and something outside ended it with its boundary
    record.ending = attempt_ending::signalled;
    record.signal = facts.helper.signal.value_or(SIGKILL);
  }
  return record;
}

} // namespace gatehouse::actors
