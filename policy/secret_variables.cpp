#include "policy/secret_variables.hpp"

#include "policy/command_words.hpp"
#include "protocol/ascii_text.hpp"

#include <algorithm>

namespace gatehouse::policy {
namespace {

bool is_number_character(char c) {
  return c >= '0' && c <= '9';
}

/// `MY_TOKENS2` is a token: without its number and its plural.
std::string_view stem_of(std::string_view part) {
  while (!part.empty() && is_number_character(part.back()))
    part.remove_suffix(1);
  if (part.ends_with('s') && !part.ends_with("ss")) part.remove_suffix(1);
  return part;
}

bool ends_as_secret(std::string_view stem) {
  if (stem.ends_with("key"))
    return !is_one_of(stem, {"monkey", "donkey", "turkey", "hockey", "jockey", "whiskey", "lackey",
                             "hotkey", "lesskey"});
  return stem.ends_with("pass") && !is_one_of(stem, {"compass", "bypass", "askpass"});
}

/// "token" in it, but not as in "tokenizers".
bool has_token(std::string_view part) {
  constexpr std::string_view token = "token";
  for (auto at = part.find(token); at != std::string_view::npos; at = part.find(token, at + 1)) {
    const auto rest = part.substr(at + token.size());
    if (!rest.starts_with("iz") && !rest.starts_with("is")) return true;
  }
  return false;
}

bool names_secret(std::string_view part) {
  for (const std::string_view word :
       {"password", "passwd", "passphrase", "secret", "credential", "authorization"})
    if (part.find(word) != std::string_view::npos) return true;
  const auto stem = stem_of(part);
  return has_token(part) || ends_as_secret(stem) || is_one_of(stem, {"pat", "cookie"});
}

/// `NPM_CONFIG__AUTH`, `DOCKER_AUTH_CONFIG`; not `AUTH_URL`.
bool names_authentication(std::string_view part, std::string_view after) {
  return stem_of(part).ends_with("auth") && is_one_of(after, {"", "config", "header"});
}

/// `scheme://user:password@host`, anywhere in it.
bool has_url_with_password(std::string_view value) {
  constexpr std::string_view mark = "://";
  for (auto scheme = value.find(mark); scheme != std::string_view::npos;
       scheme = value.find(mark, scheme + 1)) {
    auto authority = value.substr(scheme + mark.size());
    authority = authority.substr(0, authority.find_first_of("/?# \t"));
    const auto at = authority.rfind('@');
    const auto colon = authority.find(':');
    if (at != std::string_view::npos && colon < at && colon + 1 < at) return true;
  }
  return false;
}

} // namespace

bool holds_secret(std::string_view entry) {
  const auto equals = std::min(entry.find('='), entry.size());
  const auto name = to_lower_ascii(entry.substr(0, equals));
  if (name.ends_with("_pwd")) return true;               // MYSQL_PWD, not PWD
  if (name.starts_with("git_config_key_")) return false; // the name of a setting, which git needs
  const auto part_at = [&name](std::size_t at) {
    return std::string_view{name}.substr(at,
                                         std::min(name.find_first_of("_-.", at), name.size()) - at);
  };
  for (std::size_t at = 0; at < name.size();) {
    const auto part = part_at(at);
    at += part.size() + 1;
    if (names_secret(part) ||
        names_authentication(part, at < name.size() ? part_at(at) : std::string_view{}))
      return true;
  }
  return has_url_with_password(entry.substr(std::min(equals + 1, entry.size())));
}

} // namespace gatehouse::policy
