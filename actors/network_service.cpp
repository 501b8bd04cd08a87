#include "actors/network_service.hpp"

#include "actors/network_gate.hpp"
#include "actors/question_text.hpp"
#include "protocol/denial_message.hpp"
#include "reactor/host_lookup.hpp"
#include "sandbox/init_protocol.hpp"

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <utility>

#include <sys/socket.h>

namespace gatehouse::actors {
namespace {

/// Why nobody may be asked about a host (§112); empty: somebody may.
std::string nobody_for(const network_open& what, bool has_reviewer) {
  if (what.enforced_by != profile_kind::managed) return "the profile is not enforced here";
  if (what.approval.mode == approval_mode::never) return "the approval policy is never";
  if (what.approval.mode == approval_mode::granular && !what.approval.granular.sandbox_approval)
    return "the approval policy asks no questions about the sandbox";
  if (!has_reviewer) return "there is no reviewer";
  return {};
}

/// Names of this machine, as rules have them.
constexpr const char *by_name = "localhost", *by_v4 = "127.0.0.1", *by_v6 = "::1";

bool leads_to_this_machine(const policy::domain_rule& rule) {
  const auto& [match, host, port] = rule.pattern;
  return rule.verdict != decision::forbidden && match == policy::domain_match::exact &&
         (host == by_name || host == by_v4 || host == by_v6);
}

/// Which of its names a listener stands for: that of a rule for this port, its own family first.
std::string granted_name(const policy::domain_policy& policy, std::uint16_t port, int listener) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
  const bool v6 = at.ss_family == AF_INET6;
  for (const char* name : {by_name, v6 ? by_v6 : by_v4, v6 ? by_v4 : by_v6})
    for (const auto& rule : policy.rules)
      if (rule.pattern.port == port && rule.pattern.host == name && leads_to_this_machine(rule))
        return name;
  return by_name;
}

} // namespace

network_view view_of(const policy::domain_policy& policy) {
  network_view view;
  view.local_binding = policy.local_binding;
  if (policy.limited) return view; // what goes through a bare port cannot be seen
  for (const auto& rule : policy.rules) {
    const auto port = rule.pattern.port;
    // Lower ports cannot be listened on inside; the proxy leads to them as well.
    const bool usable = port >= 1024 && port != sandbox::init::proxy_port &&
                        view.forwarded_ports.size() < sandbox::init::most_forwarded_ports;
    if (usable && leads_to_this_machine(rule) &&
        std::ranges::find(view.forwarded_ports, port) == view.forwarded_ports.end())
      view.forwarded_ports.push_back(port);
  }
  return view;
}

network_service::network_service(caf::actor_config& config, network_service_terms terms)
    : network_service_actor::base{config}, terms_{std::move(terms)},
      desk_{terms_.answers ? terms_.answers : std::make_shared<host_answers>()} {
  if (!terms_.resolver) terms_.resolver = reactor::system_resolver(*terms_.loop);
}

void network_service::on_exit() {
  for (auto& [id, asking] : asking_)
    send(asking.actor, withdraw_v);
  for (auto& [id, open] : open_)
    if (open.closing.pending()) open.closing.deliver(std::make_shared<const network_end>());
  asking_.clear();
  open_.clear();
  waiting_.clear();
  terms_ = {};
}

network_service::behavior_type network_service::make_behavior() {
  return {
      [this](open_atom, const network_open_ptr& what) { return open(*what); },
      [this](close_atom, const std::string& id) -> caf::result<network_end_ptr> {
        const auto found = open_.find(id);
        if (found == open_.end() || found->second.closing.pending())
          return std::make_shared<const network_end>();
        found->second.closing = make_response_promise<network_end_ptr>();
        auto answer = found->second.closing;
        // Whoever still connects belongs to a process that is over.
        carry_out(desk_.close(id));
        return answer;
      },
      [this](attach_atom, const std::string& id, const network_link_ptr& link) {
        const auto found = open_.find(id);
        if (found == open_.end()) return;
        found->second.hold = std::move(link->hold);
        found->second.end = std::move(link->end);
        found->second.channel = std::make_unique<reactor::fd_receiver>(
            *terms_.loop, std::move(link->channel),
            [self = network_service_actor{this}, id](reactor::unique_fd fd, std::uint32_t port) {
              caf::anon_send(self, listen_v, id,
                             std::make_shared<reactor::unique_fd>(std::move(fd)),
                             static_cast<int>(port));
            });
      },
      [this](cancel_atom, const std::string& id) { carry_out(desk_.stop(id)); },
      [this](turn_over_atom, bool interrupted) { carry_out(desk_.turn_over(interrupted)); },
      [this](listen_atom, const std::string& id, const listener_ptr& listener, int port) {
        listen(id, std::move(*listener), static_cast<std::uint16_t>(port));
      },
      [this](want_atom, const connection_question_ptr& question) {
        waiting_.emplace(question->wish, question->answer);
        carry_out(desk_.want(question->registration, question->wish, question->what));
      },
      [this](gone_atom, std::uint64_t wish) {
        waiting_.erase(wish);
        carry_out(desk_.gone(wish));
      },
      [this](blocked_atom, const std::string& id, const blocked_ptr& what) {
        carry_out(desk_.blocked(id, *what));
      },
      [this](report_atom, const review_answer_ptr& answer) {
        asking_.erase(answer->review_id);
        carry_out(desk_.answered(*answer));
      },
      [this](expire_atom, const std::string& id) { carry_out(desk_.grace_over(id)); },
      [this](unwanted_atom, const std::string& review_id) { carry_out(desk_.unwanted(review_id)); },
      [this](hold_atom, const std::string& id) {
        if (const auto found = open_.find(id); found != open_.end())
          hold(id, found->second, found->second.waited.look(terms_.loop->now()));
      },
  };
}

caf::result<std::string> network_service::open(const network_open& what) {
  network_terms terms;
  terms.call_id = what.call_id;
  terms.attempt = what.attempt;
  terms.what = what.what;
  terms.judged = what.judged;
  terms.review_nonce = what.review_nonce;
  terms.policy = terms_.policy();
  terms.approved_hosts = what.approved_hosts;
  terms.nobody = nobody_for(what, static_cast<bool>(terms_.reviewer));
  terms.session_offered = terms_.session_offered;
  terms.deferred = what.deferred;
  const auto id = "network-" + std::to_string(++opened_) + "-" + what.call_id;
  desk_.open(id, std::move(terms));
  open_[id].waited = hidden_wait{terms_.most_hidden};
  return id;
}

void network_service::listen(const std::string& id, reactor::unique_fd listener,
                             std::uint16_t port) {
  const auto found = open_.find(id);
  if (found == open_.end() || !listener) return;
  const auto& policy = desk_.find(id)->policy;
  std::optional<reactor::forward_target> target;
  if (port != sandbox::init::proxy_port)
    target = reactor::forward_target{granted_name(*policy, port, listener.get()), port};
  found->second.proxies.push_back(reactor::network_proxy::serve(
      *terms_.loop, std::move(listener),
      std::make_shared<registration_gate>(network_service_actor{this}, id, policy), terms_.resolver,
      terms_.limits, std::move(target)));
}

void network_service::carry_out(desk::effects effects) {
  for (auto& effect : effects)
    std::visit([this](auto& e) { carry_out(e); }, effect);
}

void network_service::carry_out(desk::answer_wish& effect) {
  const auto found = waiting_.find(effect.wish);
  if (found == waiting_.end()) return;
  const auto answer = std::move(found->second);
  waiting_.erase(found);
  reactor::connection_verdict verdict;
  verdict.allowed = effect.allowed;
  verdict.host = std::move(effect.host);
  verdict.reason = effect.reason;
  if (effect.what) verdict.message = blocked_connection_message(*effect.what);
  answer(std::move(verdict));
}

void network_service::carry_out(desk::ask_review& effect) {
  auto question = std::make_shared<const review_request>(std::move(effect.request));
  const auto id = question->review_id;
  asking_[id].actor = system().spawn<host_approval>(terms_.reviewer, std::move(question),
                                                    caf::actor_cast<host_answer_actor>(this));
}

void network_service::carry_out(desk::withdraw_review& effect) {
  const auto found = asking_.find(effect.review_id);
  if (found == asking_.end()) return;
  send(found->second.actor, withdraw_v);
  asking_.erase(found);
}

void network_service::carry_out(desk::tell_withdrawn& effect) {
  if (terms_.warn) terms_.warn(host_withdrawn(to_string(effect.key)));
}

void network_service::carry_out(desk::start_patience& effect) {
  const auto found = asking_.find(effect.review_id);
  if (found == asking_.end()) return;
  found->second.patience = std::make_unique<reactor::timer>(*terms_.loop);
  found->second.patience->start(terms_.patience,
                                [self = network_service_actor{this}, id = effect.review_id] {
                                  caf::anon_send(self, unwanted_v, id);
                                });
}

void network_service::carry_out(desk::tell_shared& effect) {
  if (terms_.warn) terms_.warn(host_shared(to_string(effect.key), effect.what));
}

void network_service::carry_out(desk::hold& effect) {
  const auto found = open_.find(effect.registration);
  if (found == open_.end() || !found->second.hold) return;
  auto& of = found->second;
  hold(found->first, of, of.waited.take(effect.about, effect.what, terms_.loop->now()));
}

void network_service::hold(const std::string& id, registration& of,
                           const hidden_wait::change& change) {
  of.held.reset();
  if (change.held) {
    of.held = std::make_unique<reactor::timer>(*terms_.loop);
    of.held->start(change.at_most,
                   [self = network_service_actor{this}, id] { caf::anon_send(self, hold_v, id); });
  }
  of.hold(change);
}

void network_service::carry_out(desk::end_process& effect) {
  const auto found = open_.find(effect.registration);
  if (found != open_.end() && found->second.end) found->second.end();
}

void network_service::carry_out(desk::keep_rule& effect) {
  if (terms_.keep_rule) terms_.keep_rule(effect.key, effect.allow);
}

void network_service::carry_out(desk::tell_blocked& effect) {
  if (terms_.on_blocked) terms_.on_blocked(effect.what);
}

void network_service::carry_out(desk::start_grace& effect) {
  auto& open = open_.at(effect.registration);
  open.grace = std::make_unique<reactor::timer>(*terms_.loop);
  open.grace->start(terms_.grace, [self = network_service_actor{this}, id = effect.registration] {
    caf::anon_send(self, expire_v, id);
  });
}

void network_service::carry_out(desk::closed& effect) {
  const auto found = open_.find(effect.registration);
  if (found == open_.end()) return;
  auto closing = std::move(found->second.closing);
  open_.erase(found); // its proxies cut what is still connected
  closing.deliver(std::make_shared<const network_end>(std::move(effect.end)));
}

} // namespace gatehouse::actors
