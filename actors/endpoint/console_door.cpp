#include "actors/endpoint/console_door.hpp"

#include <algorithm>

namespace gatehouse::actors {
namespace {

using reactor::http_request;

constexpr std::string_view cookie_name = "gatehouse_console";

admission page_answer(unsigned status, std::string_view type, std::string body,
                      const http_request& to) {
  admission out;
  out.answer.status = status;
  const auto* host = to.header("host");
  const auto own = host ? *host : std::string{};
  out.answer.headers = {
      {"content-type", std::string{type}},
      {"content-security-policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
       "'self' ws://" +
           own +
           "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
           "require-trusted-types-for 'script'; trusted-types 'none'"},
      {"x-content-type-options", "nosniff"},
      {"x-frame-options", "DENY"},
      {"referrer-policy", "no-referrer"},
      {"cache-control", "no-store"},
      {"cross-origin-opener-policy", "same-origin"},
      {"cross-origin-resource-policy", "same-origin"},
      {"permissions-policy", "camera=(), microphone=(), geolocation=()"}};
  out.answer.body = std::move(body);
  return out;
}

admission refuse_page(unsigned status, std::string_view why, const http_request& to) {
  return page_answer(status, "text/plain; charset=utf-8", std::string{why} + "\n", to);
}

bool is_own_origin(const http_request& request) {
  const auto* origin = request.header("origin");
  const auto* host = request.header("host");
  return origin && host && *origin == "http://" + *host;
}

/// Asked for by another page, and not as a page that is opened.
bool is_foreign_fetch(const http_request& request) {
  if (request.count("origin") > 0 && !is_own_origin(request)) return true;
  const auto* site = request.header("sec-fetch-site");
  if (!site || *site == "same-origin" || *site == "none") return false;
  const auto* mode = request.header("sec-fetch-mode");
  const auto* target = request.header("sec-fetch-dest");
  return !(mode && *mode == "navigate" && target && *target == "document");
}

} // namespace

std::string console_door::link() const {
  return folder() + "#" + terms_.key;
}

bool console_door::has_cookie(const http_request& request) const {
  for (const auto& [name, value] : request.headers) {
    if (name != "cookie") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      auto pair = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
      while (!pair.empty() && pair.front() == ' ')
        pair.remove_prefix(1);
      if (pair.starts_with(cookie_name) && pair.size() > cookie_name.size() &&
          pair[cookie_name.size()] == '=' &&
          same_token(pair.substr(cookie_name.size() + 1), terms_.cookie))
        return true;
    }
  }
  return false;
}

admission console_door::enter(const http_request& request) {
  if (request.method != "POST") return refuse_page(405, "the key comes by POST", request);
  if (!is_own_origin(request))
    return refuse_page(403, "only the console's own page may enter", request);
  if (!has_cookie(request)) {
    if (!same_token(request.body, terms_.key))
      return refuse_page(403, "this link was used already, or is another daemon's", request);
    terms_.key.clear();
  }
  auto in = page_answer(204, "text/plain", {}, request);
  in.answer.headers.emplace_back("set-cookie", std::string{cookie_name} + "=" + terms_.cookie +
                                                   "; Path=" + folder() +
                                                   "; HttpOnly; SameSite=Strict");
  return in;
}

admission console_door::show(const http_request& request, std::string_view file) const {
  if (request.method != "GET") return refuse_page(405, "only GET is answered", request);
  if (is_foreign_fetch(request))
    return refuse_page(403, "the console is not for other pages", request);
  for (const auto& asset : terms_.assets)
    if (asset.path == file) return page_answer(200, asset.type, std::string{asset.bytes}, request);
  return refuse_page(404, "there is nothing here", request);
}

std::optional<admission> console_door::consider(const http_request& request) {
  const auto path = std::string_view{request.target}.substr(0, request.target.find('?'));
  if (request.local_socket || !path.starts_with(folder())) return std::nullopt;
  if (!is_own_host(request))
    return refuse_page(403, "the Host header is not this server's address", request);
  const auto file = path.substr(folder().size());
  if (file == "enter") return enter(request);
  if (file != "socket") return show(request, file);
  if (!request.upgrade) return refuse_page(426, "a WebSocket upgrade is needed", request);
  if (!is_own_origin(request))
    return refuse_page(403, "only the console's own page may connect", request);
  if (!has_cookie(request))
    return refuse_page(401, "open the link that the server printed", request);
  admission in;
  in.answer.status = 101;
  in.answer.headers.emplace_back("sec-websocket-protocol", std::string{subprotocol});
  in.who = authority::reviewer;
  return in;
}

} // namespace gatehouse::actors
