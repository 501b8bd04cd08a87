#include "reactor/proxy_http_head.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace gatehouse::reactor {
namespace {

bool is_token_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

bool equal_caseless(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && text.front() != '-' && text.front() != '+' && failed == std::errc{} &&
         end == text.data() + text.size();
}

/// Between this client and its proxy only (RFC 9110 §7.6.1, and what old clients send).
bool is_hop_by_hop(std::string_view name) {
  constexpr std::string_view names[] = {
      "connection", "keep-alive", "proxy-connection",   "proxy-authorization",
      "te",         "upgrade",    "proxy-authenticate", "http2-settings"};
  return std::ranges::any_of(names, [&](auto known) { return equal_caseless(name, known); });
}

} // namespace

http_head_reader::state http_head_reader::refuse(int status, std::string why) {
  status_ = status;
  why_ = std::move(why);
  return state::bad;
}

http_head_reader::state http_head_reader::feed(std::string_view bytes, std::size_t& taken) {
  constexpr std::string_view end_mark = "\r\n\r\n";
  const std::size_t before = bytes_.size();
  const auto room = bytes.substr(0, most_bytes - before);
  bytes_ += room;
  // The mark may have begun in what came before.
  const auto end = bytes_.find(end_mark, before >= 3 ? before - 3 : 0);
  taken = room.size();
  if (end == std::string::npos) {
    if (bytes_.size() >= most_bytes)
      return refuse(431,
                    "the request's head is longer than " + std::to_string(most_bytes) + " bytes");
    // Caught here, a client that speaks another protocol gets its answer at once.
    if (const auto line = bytes_.find('\n', before);
        line != std::string::npos && (line == 0 || bytes_[line - 1] != '\r'))
      return refuse(400, "a line of the head ends without a carriage return");
    return state::more;
  }
  taken = end + end_mark.size() - before;
  bytes_.resize(end + 2);
  const auto read = parse();
  bytes_.clear();
  bytes_.shrink_to_fit();
  return read;
}

http_head_reader::state http_head_reader::parse() {
  std::string_view rest = bytes_;
  bool first = true;
  while (!rest.empty()) {
    const auto end = rest.find("\r\n");
    const auto line = rest.substr(0, end);
    rest.remove_prefix(end + 2);
    for (const char c : line)
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
        return refuse(400, "the head holds a control character");
    const auto read = first ? parse_request_line(line) : parse_header(line);
    if (read == state::bad) {
      if (head_.host.empty()) name_host_in(rest);
      return read;
    }
    first = false;
  }
  if (head_.host_headers.empty() && version_ == "HTTP/1.1")
    return refuse(400, "the Host header is missing");
  if (head_.chunked && head_.content_length)
    return refuse(400, "the request has two kinds of length");
  if (head_.chunked && version_ != "HTTP/1.1") return refuse(400, "chunks need HTTP/1.1");
  if (head_.connect && (head_.chunked || head_.content_length.value_or(0) != 0))
    return refuse(400, "CONNECT has no body");
  return state::done;
}

http_head_reader::state http_head_reader::parse_request_line(std::string_view line) {
  const auto blank = line.find(' ');
  const auto last = line.rfind(' ');
  if (blank == std::string_view::npos || blank == last || line.find(' ', blank + 1) != last)
    return refuse(400, "the request line is not `METHOD target HTTP/1.1`");
  const auto method = line.substr(0, blank);
  const auto target = line.substr(blank + 1, last - blank - 1);
  version_ = std::string{line.substr(last + 1)};
  if (!is_token(method) || method.size() > 32) return refuse(400, "the method is no token");
  if (version_ != "HTTP/1.1" && version_ != "HTTP/1.0")
    return refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken to this proxy");
  for (const char c : target)
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      return refuse(400, "the target holds a character that no URL has");
  head_.method = std::string{method};
  if (equal_caseless(method, "CONNECT")) {
    if (method != "CONNECT") return refuse(400, "methods are written in capital letters");
    head_.connect = true;
    return parse_authority(target, 443);
  }
  constexpr std::string_view scheme = "http://";
  if (target.starts_with('/') || target == "*")
    return refuse(400, "this is a proxy: the target must be a whole URL, http://host/path");
  if (target.size() < scheme.size() || !equal_caseless(target.substr(0, scheme.size()), scheme)) {
    name_host_of(target);
    if (target.find("://") != std::string_view::npos) reason_ = network_refusal::not_carried;
    return refuse(400, "only http:// URLs are forwarded; ask for others with CONNECT host:port");
  }
  auto rest = target.substr(scheme.size());
  const auto slash = std::min(rest.find_first_of("/?#"), rest.size());
  head_.path = std::string{rest.substr(slash)};
  if (head_.path.find('#') != std::string::npos) return refuse(400, "the target holds a fragment");
  if (head_.path.empty() || head_.path.front() != '/') head_.path.insert(0, 1, '/');
  return parse_authority(rest.substr(0, slash), 80);
}

/// Of a URL that is not forwarded: for the record. Whoever logs in there is left out.
void http_head_reader::name_host_of(std::string_view url) {
  constexpr std::pair<std::string_view, std::uint16_t> ports[] = {
      {"ftp", 21}, {"https", 443}, {"ws", 80}, {"wss", 443}};
  const auto mark = url.find("://");
  if (mark == std::string_view::npos) return;
  const auto* known = std::ranges::find_if(
      ports, [&](const auto& one) { return equal_caseless(one.first, url.substr(0, mark)); });
  auto authority = url.substr(mark + 3);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  authority.remove_prefix(authority.rfind('@') + 1); // 0 where there is none
  parse_authority(authority, known == std::end(ports) ? std::uint16_t{0} : known->second);
}

/// For the record: what a client that takes the proxy for the server itself asks for.
void http_head_reader::name_host_in(std::string_view headers) {
  constexpr std::string_view name = "host:";
  const auto [status, why] = std::pair{status_, why_};
  while (!headers.empty() && head_.host.empty()) {
    const auto line = headers.substr(0, headers.find("\r\n"));
    headers.remove_prefix(std::min(line.size() + 2, headers.size()));
    if (equal_caseless(line.substr(0, name.size()), name))
      parse_authority(trimmed(line.substr(name.size())), 80);
  }
  refuse(status, why);
}

http_head_reader::state http_head_reader::parse_authority(std::string_view authority,
                                                          std::uint16_t default_port) {
  head_.port = default_port;
  if (authority.find_first_of("@\\%") != std::string_view::npos)
    return refuse(400, "the target's host holds one of @ \\ %");
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return refuse(400, "the target's host has no ']'");
    head_.host = std::string{authority.substr(1, close - 1)};
    port = authority.substr(close + 1);
    has_port = port.starts_with(':');
    if (!port.empty() && !has_port) return refuse(400, "the target's port is no number");
    // What stands in brackets is an address: a name there would be read differently elsewhere.
    if (head_.host.find(':') == std::string::npos)
      return refuse(400, "only an IPv6 address stands in brackets");
  } else {
    const auto colon = authority.find(':');
    head_.host = std::string{authority.substr(0, colon)};
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon);
  }
  if (has_port && (!read_number(port.substr(1), head_.port) || head_.port == 0))
    return refuse(400, "the target's port is no number from 1 to 65535");
  if (head_.host.empty()) return refuse(400, "the target has no host");
  return state::more;
}

http_head_reader::state http_head_reader::parse_header(std::string_view line) {
  if (head_.headers.size() >= most_headers) return refuse(431, "the request has too many headers");
  const auto colon = line.find(':');
  const auto name = line.substr(0, colon);
  // Covers folded lines and blanks before the colon.
  if (colon == std::string_view::npos || !is_token(name))
    return refuse(400, "a header is not `Name: value`");
  const auto value = trimmed(line.substr(colon + 1));
  if (equal_caseless(name, "host")) {
    if (!head_.host_headers.empty()) return refuse(400, "the Host header is repeated");
    head_.host_headers.emplace_back(value);
  } else if (equal_caseless(name, "content-length")) {
    std::uint64_t length = 0;
    if (head_.content_length || !read_number(value, length))
      return refuse(400, "Content-Length is repeated or no number");
    head_.content_length = length;
  } else if (equal_caseless(name, "transfer-encoding")) {
    if (head_.chunked || !equal_caseless(value, "chunked"))
      return refuse(501, "the only transfer coding here is chunked, once");
    head_.chunked = true;
  } else if (equal_caseless(name, "expect")) {
    if (!equal_caseless(value, "100-continue")) return refuse(417, "this expectation is unknown");
  }
  head_.headers.emplace_back(name, value);
  return state::more;
}

std::string head_for_server(const http_request_head& head, std::string_view host_and_port) {
  // What Connection names is between client and proxy too.
  std::vector<std::string_view> named;
  for (const auto& [name, value] : head.headers)
    if (equal_caseless(name, "connection"))
      for (std::string_view rest = value; !rest.empty();) {
        const auto comma = std::min(rest.find(','), rest.size());
        named.push_back(trimmed(rest.substr(0, comma)));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
      }
  std::string text = head.method + " " + head.path + " HTTP/1.1\r\nHost: ";
  text.append(host_and_port).append("\r\n");
  for (const auto& [name, value] : head.headers) {
    // What says how long the body is stays, whatever Connection names.
    const bool framing =
        equal_caseless(name, "content-length") || equal_caseless(name, "transfer-encoding");
    const bool dropped = equal_caseless(name, "host") || is_hop_by_hop(name) ||
                         std::ranges::any_of(named, [&name = name](auto other) {
                           return equal_caseless(name, other);
                         });
    if (framing || !dropped) text.append(name).append(": ").append(value).append("\r\n");
  }
  return text + "Connection: close\r\n\r\n";
}

http_body_reader::http_body_reader(const http_request_head& head) {
  left_ = head.content_length.value_or(0);
  if (head.chunked)
    part_ = part::size;
  else if (left_ > 0)
    part_ = part::counted;
}

std::size_t http_body_reader::feed(std::string_view bytes) {
  std::size_t used = 0;
  while (used < bytes.size() && part_ != part::done && part_ != part::bad) {
    if (part_ == part::counted || part_ == part::data) {
      const auto step =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - used));
      used += step;
      left_ -= step;
      if (left_ == 0) part_ = part_ == part::counted ? part::done : part::data_end;
      continue;
    }
    if (!take(bytes[used])) {
      part_ = part::bad;
      return used;
    }
    ++used;
  }
  return used;
}

bool http_body_reader::take(char c) {
  constexpr std::size_t longest_line = 1024, most_trailers = 8192;
  if (cr_ && c != '\n') return false;
  switch (part_) {
  case part::size: {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit >= 0) {
      // 15 digits cannot overflow.
      if (++digits_ > 15) return false;
      left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
      return true;
    }
    if (digits_ == 0) return false;
    part_ = part::extension;
    line_ = 0;
    return take(c);
  }
  case part::extension:
    if (c == '\n') {
      if (!cr_) return false;
      cr_ = false;
      digits_ = 0;
      line_ = 0;
      part_ = left_ == 0 ? part::trailer : part::data;
      return true;
    }
    if (c == '\r') return cr_ = true;
    // An extension begins with a semicolon; anything else is a size that others read differently.
    if (line_ == 0 && c != ';') return false;
    return ++line_ <= longest_line && (static_cast<unsigned char>(c) >= 0x20 || c == '\t');
  case part::data_end:
    if (!cr_) return c == '\r' && (cr_ = true);
    cr_ = false;
    part_ = part::size;
    return true;
  case part::trailer:
    if (++trailers_ > most_trailers) return false;
    if (c == '\n') {
      if (!cr_) return false;
      cr_ = false;
      if (line_ == 0) part_ = part::done;
      line_ = 0;
      return true;
    }
    if (c == '\r') return cr_ = true;
    ++line_;
    return static_cast<unsigned char>(c) >= 0x20 || c == '\t';
  default: return false;
  }
}

} // namespace gatehouse::reactor
