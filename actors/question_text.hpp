#pragma once

#include "actors/attempt_result.hpp"
#include "actors/call_flow.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::actors {

/// Why a question about a host is withdrawn while its command goes on.
inline constexpr std::string_view host_unwanted =
    "no connection waits for the answer any more: its program has ended, or gave up waiting";

/// Texts for the person who is asked. Each says exactly what an approval allows, and what stays
/// forbidden, since an approval covers nothing that its question did not say (§D5).

/// Why the first question is asked: the requirement's reason, else the model's justification.
std::string first_reason(const call_plan& plan, const exec_requirement& requirement);
/// What made it necessary: of several parts of a command the one that a rule or a list names.
ask_cause first_cause(const call_plan& plan, const exec_evaluation& evaluation);
std::string first_allows(const call_plan& plan, bool sandboxed, bool widened);

/// What a yes to request_permissions allows (§16a).
/// @param wish with real paths  @param as_named the same as the agent wrote it
/// @param closed what was left out of it, see without_protected()
/// @param managed_network hosts are opened by its rules only
std::string permissions_allow(const additional_permissions& wish,
                              const additional_permissions& as_named,
                              const std::vector<std::string>& closed, bool managed_network);

std::string retry_reason(const denial& what);
std::string unsandboxed_retry_allows(const call_plan& plan);

std::string host_retry_reason(const network_context& network);
std::string host_retry_allows(const network_context& network);

/// While the command runs and waits (§113). `target`: "https://example.org:443"; `rule`: the
/// prompting rule, if there is one.
std::string host_reason(const std::string& target, const std::string& rule);
/// @param others commands that wait for the same answer (§110)
std::string host_allows(const std::string& target, const std::vector<proposal>& others);
/// To people who saw a question that is withdrawn with `host_unwanted`.
std::string host_withdrawn(const std::string& target);
/// To people who see a question that was asked before `other` began to wait for it.
std::string host_shared(const std::string& target, const proposal& other);

} // namespace gatehouse::actors
