#include "actors/patch_runtime.hpp"

#include "sandbox/launch.hpp"
#include "sandbox/patch_order.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

namespace gatehouse::actors {
namespace {

constexpr int exit_no_boundary = 121;

/// The profile without any right to write.
permission_profile reading_only(permission_profile profile) {
  for (auto& entry : profile.file_system.entries)
    if (entry.access == access::write) entry.access = access::read;
  profile.network = network_policy::restricted;
  return profile;
}

/// What the program said on its standard error: a message, then perhaps a line "next: …".
error said(errc code, std::string text) {
  constexpr std::string_view mark = "\nnext: ";
  while (text.ends_with('\n'))
    text.pop_back();
  const auto next = text.rfind(mark);
  if (next == std::string::npos) return {code, std::move(text), {}};
  return {code, text.substr(0, next), text.substr(next + mark.size())};
}

patch_verdict verdict_of(const reactor::exchange_end& end) {
  using ending = reactor::exchange_end::ending;
  if (end.how == ending::exited && end.code == 0) return {};
  if (end.how == ending::exited && end.code == 1) return {said(errc::invalid_request, end.err)};
  std::string why = end.how == ending::timed_out ? "checking the patch took too long"
                    : end.err.empty()
                        ? "the patch could not be checked" + (end.why.empty() ? "" : ": " + end.why)
                        : end.err;
  const bool unavailable = end.how == ending::exited && end.code == exit_no_boundary;
  auto failure =
      said(unavailable ? errc::boundary_unavailable : errc::boundary_failed, std::move(why));
  if (failure.remedy.empty()) failure.remedy = "run `gatehouse doctor`";
  return {std::move(failure)};
}

} // namespace

patch_runtime::patch_runtime(caf::actor_config& config, patch_runtime_terms terms)
    : patch_runtime_behavior::base{config}, terms_{std::move(terms)} {}

void patch_runtime::on_exit() {
  while (!running_.empty()) {
    const auto& [call, open] = *running_.begin();
    send(open.worker, cancel_v, call);
    attempt_result over;
    over.record.number = (*open.what)->number;
    over.record.ending = attempt_ending::cancelled;
    finish(std::string{call}, std::move(over));
  }
  for (auto& [number, open] : checks_)
    open.promise.deliver(std::make_shared<const patch_verdict>(
        patch_verdict{error{errc::cancelled, "the patch runtime ended", {}}}));
  checks_.clear();
}

patch_runtime::behavior_type patch_runtime::make_behavior() {
  return {
      [this](run_atom, const attempt_ptr& what) { return run(what); },
      [this](cancel_atom, const std::string& call) {
        if (const auto found = running_.find(call); found != running_.end())
          send(found->second.worker, cancel_v, call);
      },
      [this](check_atom, const judged_call_ptr& call) { return check(call); },
      [this](report_atom, const std::string& number) {
        const auto found = checks_.find(number);
        if (found == checks_.end() || !found->second.end) return;
        found->second.promise.deliver(
            std::make_shared<const patch_verdict>(verdict_of(*found->second.end)));
        checks_.erase(found);
      },
  };
}

caf::result<attempt_result_ptr> patch_runtime::run(const attempt_ptr& what) {
  const attempt_terms& terms = **what;
  auto promise = make_response_promise<attempt_result_ptr>();
  auto answer = promise;
  if (!terms.patch || running_.contains(terms.call_id)) {
    attempt_result lost;
    lost.record.number = terms.number;
    lost.record.failure = error{errc::internal, "this is no attempt at a patch", {}};
    promise.deliver(std::make_shared<const attempt_result>(std::move(lost)));
    return answer;
  }
  auto shell = terms_.shell;
  shell.default_timeout = limit_for(*terms.patch);
  shell.on_output = {}; // what the program prints is for us
  attempt_program program;
  program.command = {terms_.program};
  program.input = sandbox::encode_patch_order({*terms.patch, terms.patch_done, false});
  auto worker = system().spawn<shell_attempt>(std::move(shell), std::move(program));
  const auto call = terms.call_id;
  running_[call] = {worker, what, std::move(promise)};
  request(worker, caf::infinite, run_v, what)
      .then([this, call](const attempt_result_ptr& result) { finish(call, *result); },
            [this, call, number = terms.number](caf::error& e) {
              attempt_result lost;
              lost.record.number = number;
              lost.record.failure =
                  error{errc::internal, "the attempt failed: " + system().render(e), {}};
              finish(call, std::move(lost));
            });
  return answer;
}

std::chrono::milliseconds patch_runtime::limit_for(const patch_call& patch) const {
  constexpr std::chrono::milliseconds for_each_file{50};
  return terms_.shell.default_timeout +
         for_each_file * static_cast<std::int64_t>(patch.changes.size());
}

void patch_runtime::finish(const std::string& call, attempt_result result) {
  const auto found = running_.find(call);
  if (found == running_.end()) return;
  auto open = std::move(found->second);
  running_.erase(found);
  const attempt_terms& terms = **open.what;
  auto& record = result.record;
  auto& output = result.output;
  result.tolerant_matches = sandbox::tolerance_in(output.stdout_text);
  result.patch_done = sandbox::last_progress(output.stdout_text, terms.patch_done);
  const bool success = record.ending == attempt_ending::exited && record.exit_code == 0;
  if (record.ending == attempt_ending::exited && !success && !record.failure)
    record.failure = said(errc::io, output.stderr_text);
  if (record.ending == attempt_ending::timed_out)
    record.failure =
        error{errc::io,
              "it was ended by the time limit of " + std::to_string(record.limit.count()) + " ms" +
                  (*result.patch_done == terms.patch_done ? "; no file was changed" : ""),
              "give more time (timeout_ms), or make several smaller patches"};
  output.stdout_text =
      success ? success_summary(committed_changes(*terms.patch, *result.patch_done)) : "";
  output.aggregated = output.stdout_text + output.stderr_text;
  output.truncated_bytes = output.aggregate_omitted_bytes = 0;
  if (terms_.shell.on_output && success)
    terms_.shell.on_output(terms, output_stream::standard_output, output.stdout_text);
  open.promise.deliver(std::make_shared<const attempt_result>(std::move(result)));
}

caf::result<patch_verdict_ptr> patch_runtime::check(const judged_call_ptr& call) {
  auto& plan = call->plan;
  const auto number = std::to_string(next_check_++);
  auto& open = checks_[number];
  open.promise = make_response_promise<patch_verdict_ptr>();
  auto answer = open.promise;
  const bool granted = plan.permissions_preapproved && plan.widened_profile;
  auto profile = reading_only(granted ? *plan.widened_profile : plan.profile);
  const auto backend = profile.kind == profile_kind::managed ? plan.backend : sandbox_backend::none;
  auto launch =
      launch_for(terms_.shell, plan.policy_cwd, plan.workspace_roots, std::move(profile), backend);
  launch.command_cwd = plan.policy_cwd;
  launch.command = {terms_.program};
  open_program(launch);
  reactor::exchange_request exchange;
  exchange.spawn.argv = sandbox::launch_argv(launch);
  exchange.spawn.program = terms_.shell.helper;
  exchange.spawn.env = terms_.shell.environment;
  exchange.input = sandbox::encode_patch_order({*plan.what.patch, {}, true});
  exchange.limit = plan.what.timeout.value_or(limit_for(*plan.what.patch));
  exchange.limit = std::min(exchange.limit, plan.what.time_cap.value_or(exchange.limit));
  open.exchange = std::make_unique<reactor::program_exchange>(
      *terms_.shell.loop, std::move(exchange),
      [this, self = caf::actor_cast<patch_runtime_behavior>(this),
       number](reactor::exchange_end end) {
        checks_[number].end = std::move(end);
        caf::anon_send(self, report_v, number);
      });
  return answer;
}

} // namespace gatehouse::actors
