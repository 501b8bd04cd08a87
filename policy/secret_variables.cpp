#include "policy/secret_variables.hpp"

#include "policy/command_words.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

bool names_secret(std::string_view part) {
  for (const std::string_view end : {"password", "passwd", "passphrase", "secret", "secrets",
                                     "token", "tokens", "apikey", "credential", "credentials"})
    if (part.ends_with(end)) return true;
  return is_one_of(part, {"key", "keys", "pass", "pat", "cookie", "cookies"});
}

/// `scheme://user:password@host`
bool is_url_with_password(std::string_view value) {
  const auto scheme = value.find("://");
  if (scheme == std::string_view::npos) return false;
  auto authority = value.substr(scheme + 3);
  authority = authority.substr(0, authority.find_first_of("/?# \t"));
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) return false;
  const auto colon = authority.find(':');
  return colon < at && colon + 1 < at;
}

} // namespace

bool holds_secret(std::string_view entry) {
  const auto equals = std::min(entry.find('='), entry.size());
  const auto name = to_lower_ascii(entry.substr(0, equals));
  if (name.ends_with("_pwd")) return true;               // MYSQL_PWD, not PWD
  if (name.starts_with("git_config_key_")) return false; // the name of a setting, which git needs
  for (std::size_t at = 0; at < name.size();) {
    const auto end = std::min(name.find_first_of("_-.", at), name.size());
    if (names_secret(std::string_view{name}.substr(at, end - at))) return true;
    at = end + 1;
  }
  return is_url_with_password(entry.substr(std::min(equals + 1, entry.size())));
}

bool may_hold_secret(std::string_view entry) {
  const auto name = to_lower_ascii(entry.substr(0, entry.find('=')));
  for (const std::string_view part : {"key", "secret", "token"})
    if (name.find(part) != std::string::npos) return true;
  return holds_secret(entry);
}

std::vector<std::string> without_secrets(std::vector<std::string> environment,
                                         std::span<const std::string> kept) {
  std::erase_if(environment, [&](const std::string& entry) {
    const auto name = entry.substr(0, entry.find('='));
    return holds_secret(entry) && std::ranges::find(kept, name) == kept.end();
  });
  return environment;
}

} // namespace gatehouse::policy
