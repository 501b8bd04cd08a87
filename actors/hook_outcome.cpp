#include "actors/hook_outcome.hpp"

#include "protocol/utf8.hpp"

#include <cassert>

namespace gatehouse::actors {
namespace {

constexpr std::size_t longest_text = 10'000; ///< bytes of one reason or context

/// A text of a hook as others may see it: valid, trimmed, bounded.
std::string presentable(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  if (text.size() <= longest_text) return to_valid_utf8(text);
  text = text.substr(0, longest_text);
  text.remove_suffix(incomplete_utf8_suffix(text));
  return to_valid_utf8(text) + " […]";
}

/// What one hook said, or why it failed.
result<hook_answer> answer_of(hook_event event, const hook_handler& handler,
                              const reactor::exchange_end& run) {
  const auto failed = [&](const std::string& what) {
    return error{errc::invalid_request, handler.where + ": " + what,
                 "correct the hook, or take it out of hooks.json"};
  };
  using ending = reactor::exchange_end::ending;
  if (run.too_much) return failed("it printed more than is read");
  switch (run.how) {
  case ending::not_started: return failed("it could not be started: " + run.why);
  case ending::timed_out:
    return failed("no answer within " + std::to_string(handler.timeout.count()) + " s");
  case ending::signalled: return failed("ended by signal " + std::to_string(run.code));
  case ending::exited: break;
  }
  if (run.code == 2) {
    hook_answer answer;
    answer.verdict = hook_verdict::deny;
    answer.reason = run.err;
    return answer;
  }
  if (run.code != 0) {
    const auto said = presentable(run.err);
    return failed("exit status " + std::to_string(run.code) +
                  (said.empty() ? std::string{} : ": " + said));
  }
  return decode_hook_answer(event, run.out, handler.where);
}

std::string denial_text(const hook_handler& handler, const std::string& reason) {
  const auto text = presentable(reason);
  return text.empty() ? "the hook " + handler.where + " refused it without a reason" : text;
}

} // namespace

hook_decision weigh_hooks(hook_event event, std::span<const hook_handler> handlers,
                          std::span<const reactor::exchange_end> runs, bool retry) {
  assert(handlers.size() == runs.size());
  hook_decision all;
  bool allowed = false;
  bool undecided = false; // a hook that might have objected gave no answer
  const auto deny = [&all](std::string reason) {
    if (all.verdict == hook_verdict::deny) return;
    all.verdict = hook_verdict::deny;
    all.reason = std::move(reason);
  };
  const hook_handler* rewriter = nullptr;
  for (std::size_t i = 0; i < handlers.size(); ++i) {
    const auto& handler = handlers[i];
    auto answer = answer_of(event, handler, runs[i]);
    if (!answer) {
      const auto what = presentable(answer.error().message);
      all.warnings.push_back(what);
      if (handler.on_failure == hook_failure::continue_on) continue;
      undecided = true;
      if (event != hook_event::permission_request) deny("a hook failed: " + what);
      continue;
    }
    if (!answer->warning.empty()) all.warnings.push_back(presentable(answer->warning));
    if (!answer->context.empty()) all.contexts.push_back(presentable(answer->context));
    if (answer->verdict == hook_verdict::deny) deny(denial_text(handler, answer->reason));
    if (answer->verdict == hook_verdict::allow) {
      if (retry)
        all.warnings.push_back(handler.where + ": a hook cannot allow a retry; others are asked");
      else
        allowed = true;
    }
    if (!answer->rewritten) continue;
    if (rewriter && *answer->rewritten != *all.rewritten)
      deny(rewriter->where + " and " + handler.where + " rewrite the command differently");
    rewriter = &handler;
    all.rewritten = std::move(answer->rewritten);
  }
  if (all.verdict == hook_verdict::deny)
    all.rewritten.reset();
  else if (allowed && !undecided)
    all.verdict = hook_verdict::allow;
  return all;
}

} // namespace gatehouse::actors
