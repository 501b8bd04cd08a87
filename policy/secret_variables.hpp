#pragma once

#include <string_view>

namespace gatehouse::policy {

/// True when `entry` ("NAME=value") holds a credential: a part of its name says so (`GH_TOKEN`,
/// `AWS_SECRET_ACCESS_KEY`, `PGPASSWORD`, `PRIVATEKEY2`, `NPM_CONFIG__AUTH`), or its value has a
/// URL with a password. A word that only looks like one does not (`KEYBOARD`, `MONKEY`,
/// `TOKENIZERS_PARALLELISM`). The one rule for every environment of a command and for the audit.
bool holds_secret(std::string_view entry);

} // namespace gatehouse::policy
