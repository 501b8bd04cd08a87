#pragma once

#include "actors/network_service.hpp"

namespace gatehouse::actors {

/// The gate of one registration: hands questions to the service as messages, and answers what needs
/// no person from the policy itself.
class registration_gate : public reactor::network_gate {
public:
  registration_gate(network_service_actor service, std::string registration,
                    std::shared_ptr<const policy::domain_policy> policy);

  std::shared_ptr<void> decide(const reactor::connection_facts& what, reply answer) override;
  reactor::address_verdict check(const reactor::connection_facts& what, const std::string& host,
                                 std::span<const ip_address> addresses) override;
  std::optional<std::string> disagreement(const reactor::connection_facts& what,
                                          const std::string& host, std::string_view named,
                                          reactor::named_by by) override;
  void unreadable(const reactor::connection_facts& what, network_refusal reason,
                  const std::string& why) override;

private:
  void tell(const blocked_connection& what) const;

  network_service_actor service_;
  std::string registration_;
  std::shared_ptr<const policy::domain_policy> policy_;
};

} // namespace gatehouse::actors
