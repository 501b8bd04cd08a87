#pragma once

#include "protocol/json_tree.hpp"

#include <string>
#include <string_view>

namespace gatehouse::policy {

/// What stands in the place of a secret.
inline constexpr std::string_view redacted = "[redacted]";

/// `text` (a command, a message, a script) without what looks like a secret (§205): the value of a
/// name that holds one (`TOKEN=…`, `--password …`, `X-Api-Key: …`, see holds_secret), credentials
/// of HTTP (`Bearer …`, `Basic …`, `-u name:…`), the password of a URL, keys in PEM, and tokens
/// that are known by their shape (`ghp_…`, `AKIA…`, a JWT, …). Rather too much than too little.
std::string redact(std::string_view text);

/// The same for every string of `tree`. The strings of an array are read as the words of one
/// command: what follows `--password` is redacted as a whole.
void redact(json_tree& tree);

} // namespace gatehouse::policy
