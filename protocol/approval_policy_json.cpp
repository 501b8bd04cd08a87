#include "protocol/approval_policy_json.hpp"

#include <boost/json.hpp>

namespace gatehouse {
namespace {

namespace json = boost::json;

error wrong_policy(const std::string& what) {
  return {errc::invalid_request, "approval policy: " + what,
          R"(Give untrusted, on-request, never, or {"granular": {"rules": true}}.)"};
}

bool* switch_called(granular_switches& switches, std::string_view name) {
  if (name == "sandbox_approval") return &switches.sandbox_approval;
  if (name == "rules") return &switches.rules;
  if (name == "skill_approval") return &switches.skill_approval;
  if (name == "request_permissions") return &switches.request_permissions;
  if (name == "mcp_elicitations") return &switches.mcp_elicitations;
  return nullptr;
}

result<approval_policy> named(std::string_view name) {
  if (const auto policy = approval_policy_from(name)) return *policy;
  return wrong_policy("`" + std::string{name} + "` is not a known name");
}

} // namespace

result<approval_policy> decode_approval_policy(std::string_view name_or_json) {
  if (const auto policy = approval_policy_from(name_or_json)) return *policy;
  if (!name_or_json.starts_with('{') && !name_or_json.starts_with('"')) return named(name_or_json);
  json::error_code failure;
  const auto value = json::parse(name_or_json, failure);
  if (failure) return wrong_policy("not valid JSON (" + failure.message() + ")");
  if (value.is_string()) return named(std::string_view{value.get_string()});
  const auto& root = value.get_object(); // the text starts with a brace
  const auto* switches = root.if_contains("granular");
  if (!switches || !switches->is_object() || root.size() != 1)
    return wrong_policy("the object must hold `granular` with its switches, and nothing else");
  approval_policy policy{approval_mode::granular, {}};
  for (const auto& field : switches->get_object()) {
    const std::string name{std::string_view{field.key()}};
    bool* on = switch_called(policy.granular, name);
    if (!on) return wrong_policy("/granular/" + name + " is not a known switch");
    if (!field.value().is_bool())
      return wrong_policy("/granular/" + name + " must be true or false");
    *on = field.value().get_bool();
  }
  return policy;
}

std::string encode_approval_policy(const approval_policy& policy) {
  if (policy.mode != approval_mode::granular)
    return '"' + std::string{to_string(policy.mode)} + '"';
  const auto& on = policy.granular;
  return json::serialize(json::object{{"granular",
                                       {{"sandbox_approval", on.sandbox_approval},
                                        {"rules", on.rules},
                                        {"skill_approval", on.skill_approval},
                                        {"request_permissions", on.request_permissions},
                                        {"mcp_elicitations", on.mcp_elicitations}}}});
}

} // namespace gatehouse
