#pragma once

#include <string>
#include <string_view>

namespace gatehouse::policy {

/// Two words are equal by Unicode canonical caseless matching exactly when their keys are equal:
/// full case folding over canonical decomposition (`GIT` = `git`, `ß` = `ss`, composed = decomposed
/// é; never compatibility forms). Bytes that are not UTF-8 fold only their ASCII letters.
std::string caseless_key(std::string_view word);

} // namespace gatehouse::policy
