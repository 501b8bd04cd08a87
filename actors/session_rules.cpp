#include "actors/session_thread.hpp"
#include "protocol/shell_quote.hpp"

#include <caf/send.hpp>

#include <utility>

/// The rules of a thread, as they change and as they are added: its part of
/// actors/session_thread.hpp.
namespace gatehouse::actors {

std::optional<error> session_thread::look_at_rules() {
  if (!terms_.look_at_rules) return std::nullopt;
  const auto found = terms_.look_at_rules();
  if (!found) return found.error();
  for (const auto& text : found->warnings)
    publish(thread_events::warning{text}, turn_);
  if (found->rules != terms_.judgement.rules) {
    use(found->rules);
    memory_->hosts->forget_kept();
    ++now_->rules_generation; // what was approved for the session was approved under other rules
  }
  return std::nullopt;
}

/// Rules about hosts hold for the next attempt, those of the configuration as long as the thread.
void session_thread::use(std::shared_ptr<const policy::rule_set> rules) {
  terms_.judgement.rules = std::move(rules);
  if (!now_->network) return;
  auto network = *now_->network;
  std::erase_if(network.rules, [](const auto& rule) { return rule.protocol.has_value(); });
  for (auto& rule : policy::domain_rules_of(terms_.judgement.rules->network_rules()))
    network.rules.push_back(std::move(rule));
  now_->network = std::make_shared<const policy::domain_policy>(std::move(network));
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
  const auto queued =
      workers_.submit_for_sure(work, [self = caf::actor_cast<session_thread_actor>(this)] {
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
    use(*kept);
  else
    publish(thread_events::warning{"the rule was not kept: " + to_string(kept.error())}, turn_);
  kept_.reset();
  keep_next_rule();
  finish_closing();
}

} // namespace gatehouse::actors
