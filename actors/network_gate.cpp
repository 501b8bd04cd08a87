#include "actors/network_gate.hpp"

#include "protocol/denial_message.hpp"

#include <caf/send.hpp>

#include <utility>

namespace gatehouse::actors {
namespace {

/// Numbers of wishes are never used twice in one program.
std::uint64_t next_wish() {
  static std::uint64_t last = 0; // the loop's thread only
  return ++last;
}

blocked_connection blocked_at(const reactor::connection_facts& what, const std::string& host) {
  blocked_connection out;
  out.target = {{}, host, what.protocol, what.port};
  out.method = what.method;
  return out;
}

} // namespace

registration_gate::registration_gate(network_service_actor service, std::string registration,
                                     std::shared_ptr<const policy::domain_policy> policy)
    : service_{std::move(service)}, registration_{std::move(registration)}, policy_{std::move(
                                                                                policy)} {}

void registration_gate::tell(const blocked_connection& what) const {
  caf::anon_send(service_, blocked_v, registration_,
                 std::make_shared<const blocked_connection>(what));
}

std::shared_ptr<void> registration_gate::decide(const reactor::connection_facts& what,
                                                reply answer) {
  connection_question question;
  question.registration = registration_;
  question.wish = next_wish();
  question.what.protocol = what.protocol;
  question.what.host = what.host;
  question.what.port = what.port;
  question.what.method = what.method;
  question.what.also_named = what.also_named;
  question.answer = std::move(answer);
  const auto wish = question.wish;
  caf::anon_send(service_, want_v,
                 std::make_shared<const connection_question>(std::move(question)));
  return {nullptr, [service = service_, wish](void*) { caf::anon_send(service, gone_v, wish); }};
}

reactor::address_verdict registration_gate::check(const reactor::connection_facts& what,
                                                  const std::string& host,
                                                  std::span<const ip_address> addresses) {
  auto judged = policy::judge_addresses(*policy_, host, what.port, addresses);
  reactor::address_verdict verdict;
  verdict.allowed = std::move(judged.allowed);
  if (!verdict.allowed.empty()) return verdict;
  auto blocked = blocked_at(what, host);
  blocked.reason =
      judged.rule.empty() ? network_refusal::local_address : network_refusal::denied_by_rule;
  blocked.rule = judged.rule;
  blocked.detail = judged.refused;
  verdict.reason = blocked.reason;
  verdict.message = blocked_connection_message(blocked);
  tell(blocked);
  return verdict;
}

std::optional<std::string> registration_gate::disagreement(const reactor::connection_facts& what,
                                                           const std::string& host,
                                                           std::string_view named,
                                                           reactor::named_by by) {
  const bool tls = by == reactor::named_by::tls;
  if (tls && policy::same_host(host, named)) return std::nullopt;
  if (!tls) { // the same rules as for the Host header of a plain request
    const policy::connection_wish inside{what.protocol, host, what.port, {}, {std::string{named}}};
    if (policy::judge_host(*policy_, inside).reason != network_refusal::names_disagree)
      return std::nullopt;
  }
  auto blocked = blocked_at(what, host);
  blocked.reason = network_refusal::names_disagree;
  blocked.detail = (tls ? "TLS asks for the server "
                        : "The request inside the tunnel names the "
                          "server ") +
                   shown_host(named);
  tell(blocked);
  return blocked_connection_message(blocked);
}

void registration_gate::unreadable(const reactor::connection_facts& what, network_refusal reason,
                                   const std::string& why) {
  auto blocked = blocked_at(what, shown_host(what.host));
  blocked.reason = reason;
  blocked.detail = why;
  tell(blocked);
}

} // namespace gatehouse::actors
