#include "policy/redaction.hpp"

#include "policy/command_words.hpp"
#include "policy/secret_variables.hpp"
#include "protocol/ascii_text.hpp"
#include "protocol/json_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace gatehouse::policy {
namespace {

constexpr std::size_t largest_document = std::size_t{32} << 20U;

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool is_separator(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view{"\"'`;&|<>(){}[],?\\"}.find(c) != std::string_view::npos;
}

bool is_secret_name(std::string_view name) {
  while (name.starts_with('-'))
    name.remove_prefix(1);
  return !name.empty() && std::ranges::all_of(name, is_token_char) &&
         holds_secret(std::string{name} + "=");
}

/// A token that is known by how it begins.
struct shape {
  std::string_view begins;
  std::size_t least; ///< characters after that
};
constexpr shape shapes[] = {
    {"ghp_", 20},     {"gho_", 20},  {"ghu_", 20},        {"ghs_", 20},  {"ghr_", 20},
    {"glpat-", 16},   {"xoxb-", 10}, {"xoxp-", 10},       {"xoxa-", 10}, {"xoxs-", 10},
    {"AKIA", 16},     {"ASIA", 16},  {"github_pat_", 20}, {"sk-", 20},   {"sk_live_", 16},
    {"rk_live_", 16}, {"AIza", 30},  {"npm_", 30},        {"pypi-", 20}, {"hf_", 30},
    {"dop_v1_", 30},  {"SG.", 40},   {"eyJ", 40},         {"ya29.", 20},
};

/// Replaces known shapes inside of one word.
void hide_shapes(std::string& word) {
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (at > 0 && is_token_char(word[at - 1])) continue;
    const auto rest = std::string_view{word}.substr(at);
    for (const auto& s : shapes) {
      if (!rest.starts_with(s.begins)) continue;
      const auto end = std::find_if_not(rest.begin(), rest.end(), is_token_char) - rest.begin();
      if (static_cast<std::size_t>(end) < s.begins.size() + s.least) continue;
      word.replace(at, static_cast<std::size_t>(end), redacted);
      at += redacted.size();
      break;
    }
  }
}

void hide_known(std::string& text, std::span<const std::string> known) {
  for (const auto& secret : known)
    for (auto at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + redacted.size()))
      text.replace(at, secret.size(), redacted);
}

/// `scheme://user:password@host`: the password.
void hide_url_password(std::string& word) {
  const auto scheme = word.find("://");
  if (scheme == std::string::npos) return;
  const auto begin = scheme + 3;
  const auto end = std::min(word.find_first_of("/#", begin), word.size());
  const auto at = word.rfind('@', end);
  if (at == std::string::npos || at < begin) return;
  const auto colon = word.find(':', begin);
  if (colon < at && colon + 1 < at) word.replace(colon + 1, at - colon - 1, redacted);
}

class scanner {
public:
  std::string scan(std::string_view text);
  /// The next element of a list of words.
  std::string element(std::string_view text) {
    const auto waits = next_;
    const bool is_option = text.starts_with('-') && text.size() > 1;
    if (waits == next::value_of_option && !text.empty() && !is_option) {
      next_ = next::anything;
      return std::string{redacted};
    }
    if (is_option && waits == next::value_of_option) next_ = next::anything;
    return scan(text);
  }

private:
  enum class next : std::uint8_t {
    anything,
    value,           ///< of `name:` or `name=`
    value_of_option, ///< of `--name`
    credential,      ///< of `Authorization:`, a scheme may come first
    user,            ///< `name:password`
  };

  std::string word(std::string_view text);
  std::string quoted(std::string_view text, std::size_t& at, char quote);

  next next_ = next::anything;
};

/// One word without separators, and what it says about the next one.
std::string scanner::word(std::string_view text) {
  const auto waits = std::exchange(next_, next::anything);
  const auto lower = to_lower_ascii(text);
  const bool scheme = is_one_of(lower, {"bearer", "basic", "token", "digest", "negotiate"});
  if (scheme && waits == next::credential) {
    next_ = next::value;
    return std::string{text};
  }
  if (is_one_of(lower, {"bearer", "basic"})) next_ = next::value;
  if (waits == next::value || waits == next::credential ||
      (waits == next::value_of_option && !text.starts_with('-')))
    if (text != "=" && text != ":") return std::string{redacted};
  if (waits == next::user) {
    const auto colon = text.find(':');
    if (colon != std::string_view::npos &&
        text.find_first_not_of("0123456789", colon + 1) != std::string_view::npos)
      return std::string{text.substr(0, colon + 1)} + std::string{redacted};
  }
  if (text == "=" || text == ":") {
    next_ = waits;
    return std::string{text};
  }
  if (is_one_of(text, {"-u", "-U", "--user", "--proxy-user"})) next_ = next::user;
  const auto equals = text.find('=');
  if (equals != std::string_view::npos && is_secret_name(text.substr(0, equals))) {
    if (equals + 1 == text.size()) {
      next_ = next::value; // perhaps in quotes
      return std::string{text};
    }
    return std::string{text.substr(0, equals + 1)} + std::string{redacted};
  }
  const auto colon = text.find(':');
  if (colon != std::string_view::npos && colon > 0 && !text.substr(colon).starts_with("://")) {
    const bool credential =
        lower.starts_with("authorization:") || lower.starts_with("proxy-authorization:");
    if (credential || is_secret_name(text.substr(0, colon))) {
      if (colon + 1 == text.size()) {
        next_ = credential ? next::credential : next::value;
        return std::string{text};
      }
      return std::string{text.substr(0, colon + 1)} + std::string{redacted};
    }
  }
  if (text.starts_with('-') && equals == std::string_view::npos && is_secret_name(text))
    next_ = next::value_of_option;
  std::string out{text};
  hide_url_password(out);
  hide_shapes(out);
  return out;
}

/// What stands in quotes where a secret is due is one secret.
std::string scanner::quoted(std::string_view text, std::size_t& at, char quote) {
  const auto end = std::min(text.find(quote, at + 1), text.size());
  const bool empty = end == at + 1;
  next_ = next::anything;
  at = std::min(end + 1, text.size());
  return quote + (empty ? std::string{} : std::string{redacted}) +
         (end < text.size() ? std::string(1, quote) : std::string{});
}

std::string scanner::scan(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    constexpr std::string_view pem = "-----BEGIN ";
    if (text.substr(at).starts_with(pem)) {
      const auto head = text.find("-----", at + pem.size());
      if (head != std::string_view::npos &&
          text.substr(at, head - at).find("PRIVATE KEY") != std::string_view::npos) {
        const auto foot = text.find("-----END ", head);
        (out += text.substr(at, head + 5 - at)) += redacted;
        at = std::min(foot, text.size());
        if (at < text.size()) { // its own line stays
          const auto end = std::min(text.find("-----", at + 9), text.size() - 5) + 5;
          out += text.substr(at, end - at);
          at = end;
        }
        continue;
      }
    }
    if (is_separator(text[at])) {
      const char c = text[at];
      const bool due = next_ == next::value || next_ == next::value_of_option;
      // `"password": "…"`: the quote that ends the name comes before the colon.
      if (due && (c == '"' || c == '\'') && (out.empty() || !is_token_char(out.back())))
        out += quoted(text, at, c);
      else if (c == '"' && at + 1 < text.size() && text[at + 1] == ':') {
        const auto name = out.rfind('"');
        if (name != std::string::npos && is_secret_name(std::string_view{out}.substr(name + 1)))
          next_ = next::value;
        out += c;
        ++at;
      } else {
        if (c == ';' || c == '|' || c == '&' || c == '\n') next_ = next::anything;
        out += c;
        ++at;
      }
      continue;
    }
    auto end = at;
    while (end < text.size() && !is_separator(text[end]))
      ++end;
    out += word(text.substr(at, end - at));
    at = end;
  }
  return out;
}

} // namespace

std::string redact(std::string_view text) {
  return scanner{}.scan(text);
}

void redact(json_tree& tree, std::span<const std::string> known) {
  if (auto* text = std::get_if<std::string>(&tree.value)) {
    hide_known(*text, known);
    *text = redact(*text);
  } else if (auto* list = std::get_if<json_tree::array>(&tree.value)) {
    scanner list_scanner;
    for (auto& item : *list)
      if (auto* word = std::get_if<std::string>(&item.value)) {
        hide_known(*word, known);
        *word = list_scanner.element(*word);
      } else {
        redact(item, known);
      }
  } else if (auto* fields = std::get_if<json_tree::object>(&tree.value)) {
    for (auto& field : *fields) {
      auto* value = std::get_if<std::string>(&field.value.value);
      if (value && !value->empty() && is_secret_name(field.name))
        *value = redacted;
      else
        redact(field.value, known);
    }
  }
}

std::string redact_document(std::string_view json, std::span<const std::string> known) {
  auto tree = parse_json(json, {"an entry", errc::internal, "", largest_document});
  if (!tree) return R"({"unreadable":true})";
  redact(*tree, known);
  json_writer out;
  write_tree(out, *tree);
  return std::move(out).take();
}

std::vector<std::string> secret_values(std::span<const std::string> environment) {
  constexpr std::size_t shortest = 6;
  std::vector<std::string> found;
  for (const auto& entry : environment) {
    const auto equals = entry.find('=');
    if (equals != std::string::npos && entry.size() - equals - 1 >= shortest && holds_secret(entry))
      found.push_back(entry.substr(equals + 1));
  }
  // A secret may be a part of another one.
  std::ranges::sort(found, std::ranges::greater{}, &std::string::size);
  return found;
}

} // namespace gatehouse::policy
