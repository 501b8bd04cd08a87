#include "config/network_table.hpp"

namespace gatehouse::config {
namespace {

void read_mode(toml_reader& reader, const toml_table& table, network_definition& network) {
  const auto mode = reader.string(table, "mode");
  if (!mode) return;
  if (mode->value == "full" || mode->value == "limited")
    network.limited = mode->value == "limited";
  else
    reader.fail(*find(table, "mode"), "`network.mode` is \"" + mode->value + "\"",
                "Write \"full\" or \"limited\".");
}

void read_domains(toml_reader& reader, const toml_table& domains, network_definition& network) {
  for (const auto& [text, value] : domains) {
    const auto pattern = policy::parse_domain_pattern(text);
    if (!pattern) {
      reader.fail(value, pattern.error().message, pattern.error().remedy);
      continue;
    }
    const auto* word = value.string();
    policy::domain_rule rule;
    rule.pattern = *pattern;
    if (word && *word == "allow") {
      rule.verdict = decision::allow;
    } else if (word && *word == "deny") {
      rule.verdict = decision::forbidden;
    } else if (word && *word == "prompt") {
      rule.verdict = decision::prompt;
    } else {
      reader.fail(value, "the decision about the domain `" + text + "` is not a known word",
                  "Write \"allow\", \"prompt\" or \"deny\".");
      continue;
    }
    if (pattern->match == policy::domain_match::any && rule.verdict == decision::forbidden) {
      reader.fail(value, "the domain `" + text + "` denies every host",
                  "Set network.enabled = false: what no rule allows is refused anyway.");
      continue;
    }
    rule.shown = "`" + text + "` = " + *word + " (" + describe(reader.at(value)) + ")";
    network.domains.push_back(std::move(rule));
  }
}

} // namespace

void read_network_table(toml_reader& reader, const toml_table& table, profile_definition& profile) {
  if (const auto enabled = reader.boolean(table, "enabled"))
    profile.network_enabled = enabled->value;
  network_definition network;
  bool managed = false;
  for (const auto& [key, value] : table) {
    if (key == "enabled") continue;
    if (key == "mode" || key == "domains" || key == "allow_local_binding") {
      managed = true;
      continue;
    }
    // A limit that is not understood must not leave the network wider than it was meant.
    if (profile.network_enabled.value_or(false))
      reader.fail(value, "`network." + key + "` is not understood and may be meant as a limit",
                  "Remove it, or set network.enabled = false.");
    else
      reader.warn(value, "unknown key `network." + key + "` is ignored");
  }
  read_mode(reader, table, network);
  if (const auto binding = reader.boolean(table, "allow_local_binding"))
    network.local_binding = binding->value;
  if (const auto* domains = reader.table(table, "domains")) read_domains(reader, *domains, network);
  if (managed) profile.network = std::move(network);
}

} // namespace gatehouse::config
