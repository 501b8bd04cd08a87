#include "cli/token_flags.hpp"

#include "config/credentials.hpp"
#include "policy/path_text.hpp"

#include <charconv>

namespace gatehouse::cli {
namespace {

error wrong_token(std::string what, std::string remedy) {
  return {errc::invalid_request, std::move(what), std::move(remedy)};
}

std::optional<actors::sha256_hash> read_digest(std::string_view text) {
  actors::sha256_hash digest{};
  if (text.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const auto* from = text.data() + 2 * i;
    const auto read = std::from_chars(from, from + 2, digest[i], 16);
    if (read.ec != std::errc{} || read.ptr != from + 2) return std::nullopt;
  }
  return digest;
}

} // namespace

result<std::optional<actors::sha256_hash>> ws_token_of(const options& given, const std::string& cwd,
                                                       std::string_view other) {
  std::string named;
  for (const std::string_view option :
       {std::string_view{"--ws-token-file"}, std::string_view{"--ws-token-sha256"}, other}) {
    if (!given.has(option) && !given.value(option)) continue;
    if (!named.empty())
      return wrong_token(named + " and " + std::string{option} + " exclude each other",
                         "Name the token in one way.");
    named = option;
  }
  if (const auto hex = given.value("--ws-token-sha256")) {
    const auto digest = read_digest(*hex);
    if (!digest)
      return wrong_token("--ws-token-sha256 is 64 hexadecimal digits",
                         "Print them by: printf %s \"$TOKEN\" | sha256sum");
    return digest;
  }
  const auto file = given.value("--ws-token-file");
  if (!file) return std::optional<actors::sha256_hash>{};
  const auto token = config::read_own_token(policy::absolute_below(cwd, *file));
  if (!token) return token.error();
  return std::optional{actors::sha256_of(*token)};
}

} // namespace gatehouse::cli
