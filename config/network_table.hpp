#pragma once

#include "config/toml_reader.hpp"

namespace gatehouse::config {

/// Reads `[permissions.<name>.network]` into `profile`: `enabled`, `mode`, `allow_local_binding`
/// and `domains`. What is wrong, also a domain that no host could match (BR-091), stands in the
/// reader; a key that is not known may be meant as a limit and is an error where the network is on.
void read_network_table(toml_reader& reader, const toml_table& table, profile_definition& profile);

} // namespace gatehouse::config
