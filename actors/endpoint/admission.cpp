#include "actors/endpoint/admission.hpp"

#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <utility>

namespace gatehouse::actors {
namespace {

using reactor::http_request;

admission refuse(unsigned status, std::string why) {
  admission out;
  out.answer.status = status;
  out.answer.headers.emplace_back("content-type", "text/plain; charset=utf-8");
  if (status == 401) out.answer.headers.emplace_back("www-authenticate", "Bearer");
  out.answer.body = std::move(why) + "\n";
  return out;
}

bool is_allowed_origin(const http_request& request, const admission_terms& terms) {
  if (request.count("origin") == 0) return true;
  const auto* origin = request.header("origin");
  return origin && *origin != "null" &&
         std::ranges::find(terms.origins, *origin) != terms.origins.end();
}

std::vector<std::string> protocols_of(const http_request& request) {
  std::vector<std::string> all;
  for (const auto& [name, value] : request.headers) {
    if (name != "sec-websocket-protocol") continue;
    std::string word;
    for (const char c : value + ",")
      if (c == ',') {
        if (!word.empty()) all.push_back(std::exchange(word, {}));
      } else if (c != ' ' && c != '\t') {
        word += c;
      }
  }
  return all;
}

bool same_digest(const sha256_hash& a, const sha256_hash& b) {
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differs |= static_cast<unsigned>(a[i] ^ b[i]);
  return differs == 0;
}

std::optional<std::string> bearer_of(const http_request& request) {
  const auto* value = request.header("authorization");
  constexpr std::string_view scheme = "bearer ";
  if (!value || value->size() <= scheme.size() ||
      to_lower_ascii(std::string_view{*value}.substr(0, scheme.size())) != scheme)
    return std::nullopt;
  return value->substr(scheme.size());
}

} // namespace

bool is_own_host(const http_request& request) {
  if (request.local_socket) return true; // no page reaches a Unix socket
  const auto* host = request.header("host");
  if (!host) return false;
  const auto port = ":" + std::to_string(request.port);
  for (const std::string_view name : {"127.0.0.1", "[::1]", "localhost"})
    if (*host == std::string{name} + port) return true;
  return false;
}

bool same_token(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || a.empty()) return false;
  unsigned char differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differs = static_cast<unsigned char>(
        differs | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  return differs == 0;
}

admission admit(const http_request& request, const admission_terms& terms) {
  if (!is_own_host(request)) return refuse(403, "the Host header is not this server's address");
  if (!is_allowed_origin(request, terms))
    return refuse(403,
                  "requests from web pages are not taken; serve --allow-origin lists exceptions");
  if (request.local_socket && request.peer_uid != terms.own_uid)
    return refuse(403, "only the user who runs this server may use its socket");
  const auto path = request.target.substr(0, request.target.find('?'));
  if (request.method != "GET") return refuse(405, "only GET is answered");
  if (path == "/readyz" || path == "/healthz") {
    auto fine = refuse(200, "ok");
    return fine;
  }
  if (path != "/") return refuse(404, "there is nothing here; the WebSocket is at /");
  if (!request.upgrade) return refuse(426, "a WebSocket upgrade is needed");

  auto token = bearer_of(request);
  if (!token && request.count("authorization") > 0)
    return refuse(401, "the Authorization header is not one bearer token");
  bool named = false;
  for (const auto& word : protocols_of(request)) {
    named = named || word == subprotocol;
    if (word.starts_with(token_subprotocol) && !token)
      token = word.substr(token_subprotocol.size());
  }
  admission in;
  in.answer.status = 101;
  if (named) in.answer.headers.emplace_back("sec-websocket-protocol", std::string{subprotocol});
  if (!token) {
    if (!terms.open_to_agents)
      return refuse(401, "a bearer token is needed; the server prints where its files are");
    return in;
  }
  // Both are compared, so that the time says nothing about which one was near.
  const auto digest = sha256_of(*token);
  const bool reviewer = terms.reviewer_token && same_digest(digest, *terms.reviewer_token);
  const bool agent = terms.agent_token && same_digest(digest, *terms.agent_token);
  if (!reviewer && !agent) return refuse(401, "this token is not one of this server's");
  in.who = reviewer ? authority::reviewer : authority::agent;
  return in;
}

} // namespace gatehouse::actors
