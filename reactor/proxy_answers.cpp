#include "reactor/proxy_answers.hpp"

namespace gatehouse::reactor {
namespace {

std::string_view phrase_of(int status) {
  switch (status) {
  case 400: return "Bad Request";
  case 403: return "Blocked by Gatehouse";
  case 408: return "Request Timeout";
  case 431: return "Request Header Fields Too Large";
  case 501: return "Not Implemented";
  case 502: return "Bad Gateway";
  case 504: return "Gateway Timeout";
  case 505: return "HTTP Version Not Supported";
  default: return "Refused";
  }
}

/// The first line of a text, as far as a status line can hold it.
std::string_view short_of(std::string_view text) {
  constexpr std::size_t longest = 160;
  std::size_t size = 0;
  while (size < text.size() && size < longest && text[size] >= 0x20 && text[size] <= 0x7e)
    ++size;
  return text.substr(0, size);
}

} // namespace

std::string proxy_answer(int status, std::string_view decision, std::string_view body) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " ";
  text += phrase_of(status);
  if (!decision.empty() || status >= 500)
    text.append(" (").append(decision.empty() ? short_of(body) : decision).append(")");
  text += "\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n"
          "Connection: close\r\n";
  if (!decision.empty()) text.append("X-Gatehouse-Decision: ").append(decision).append("\r\n");
  text += "Content-Length: " + std::to_string(body.size() + 1) + "\r\n\r\n";
  return text.append(body).append("\n");
}

std::string tunnel_established() {
  return "HTTP/1.1 200 Connection established\r\n\r\n";
}

std::string host_and_port(std::string_view host, unsigned port, bool always_port) {
  std::string text =
      host.find(':') == std::string_view::npos ? std::string{host} : "[" + std::string{host} + "]";
  if (always_port || port != 80) text += ":" + std::to_string(port);
  return text;
}

} // namespace gatehouse::reactor
