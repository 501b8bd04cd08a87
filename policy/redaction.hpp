#pragma once

#include "protocol/json_tree.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

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
/// @param known secrets that are taken out wherever they stand, whatever they look like
void redact(json_tree& tree, std::span<const std::string> known = {});

/// The same for a document, as it is written. What cannot be read may hold anything, and becomes
/// {"unreadable":true}.
std::string redact_document(std::string_view json, std::span<const std::string> known = {});

/// The values in `environment` ("NAME=value" each) of the names that hold a secret (holds_secret),
/// longest first. Values shorter than 6 bytes are left out: they stand in everything.
std::vector<std::string> secret_values(std::span<const std::string> environment);

} // namespace gatehouse::policy
