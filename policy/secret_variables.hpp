#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// True when `entry` ("NAME=value") holds a credential: a part of its name says so (`GH_TOKEN`,
/// `AWS_SECRET_ACCESS_KEY`, `PGPASSWORD`), or its value is a URL with a password. A word that only
/// begins like one does not (`KEYBOARD`, `TOKENIZERS_PARALLELISM`).
bool holds_secret(std::string_view entry);

/// The wider question of the exec-server protocol (`*KEY*`, `*SECRET*`, `*TOKEN*`, in any case),
/// where an innocent name lost costs less than a credential given away: also true for `MONKEY`.
bool may_hold_secret(std::string_view entry);

/// `environment` without the entries that hold a credential, except those named in `kept`.
std::vector<std::string> without_secrets(std::vector<std::string> environment,
                                         std::span<const std::string> kept);

} // namespace gatehouse::policy
