#include "reactor/proxy_tunnel_request.hpp"

#include <algorithm>

namespace gatehouse::reactor {
namespace {

constexpr std::size_t longest_kept = 1024, longest_tail = 32;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_method_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view{"!#$%&'*+-.^_`|~"}.find(c) != std::string_view::npos;
}

std::string_view trimmed_value(std::string_view text) {
  while (!text.empty() && is_blank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// @param lower in small letters
bool begins(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower, {}, [](char c) {
           return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
         });
}

} // namespace

tunnel_request_reader::state tunnel_request_reader::feed(std::string_view bytes) {
  for (const char c : bytes)
    if (const auto reached = take(c); reached != state::more) return reached;
  return state::more;
}

tunnel_request_reader::state tunnel_request_reader::take(char c) {
  if (part_ != part::headers) return take_first_line(c);
  if (c == '\n') return end_header();
  // Some readers end a line there.
  if (cr_) return state::bad;
  if (c == '\r') {
    cr_ = true;
  } else if (line_.size() < longest_kept) {
    line_ += c;
  } else {
    cut_ = true;
  }
  return state::more;
}

tunnel_request_reader::state tunnel_request_reader::take_first_line(char c) {
  if (line_.empty() && (c == '\r' || c == '\n')) return state::more; // as servers do
  if (c == '\n') return end_first_line();
  if (part_ == part::method && is_blank(c) && !line_.empty())
    part_ = part::target;
  else if (part_ == part::method ? !is_method_char(c)
                                 : static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r')
    return state::not_http;
  if (line_.size() < longest_kept)
    line_ += c;
  else
    cut_ = true;
  const char kept = is_blank(c) || c == '\r' ? ' ' : c;
  if (kept == ' ' && tail_.ends_with(' ')) return state::more;
  if (tail_.size() == longest_tail) tail_.erase(0, 1);
  tail_ += kept;
  return state::more;
}

tunnel_request_reader::state tunnel_request_reader::end_first_line() {
  const auto tail = trimmed_value(tail_);
  const auto blank = tail.rfind(' ');
  if (blank == std::string_view::npos || !begins(tail.substr(blank + 1), "http/"))
    return state::not_http;
  const std::string_view line = line_;
  if (line.starts_with("PRI * HTTP/2")) return state::not_http;
  const auto method_end = std::ranges::find_if(line, is_blank) - line.begin();
  const auto rest = trimmed_value(line.substr(static_cast<std::size_t>(method_end)));
  const auto target_size =
      static_cast<std::size_t>(std::ranges::find_if(rest, is_blank) - rest.begin());
  const auto target = rest.substr(0, target_size);
  if (const auto scheme = target.find("://");
      scheme != std::string_view::npos && scheme < target.find_first_of("/?#")) {
    const auto authority = target.substr(scheme + 3);
    const auto end = authority.find_first_of("/?#\\");
    if (end == std::string_view::npos && cut_) return state::bad;
    named_.emplace_back(authority.substr(0, end));
  }
  part_ = part::headers;
  line_.clear();
  cut_ = false;
  return state::more;
}

tunnel_request_reader::state tunnel_request_reader::end_header() {
  cr_ = false;
  if (line_.empty()) return state::done;
  // A folded line belongs to the header before it; other readers take it for one of its own.
  if (is_blank(line_.front()) && after_host_) return state::bad;
  const std::string_view line = line_;
  const auto colon = line.find(':');
  const auto name = trimmed_value(line.substr(0, colon));
  after_host_ = name.size() == 4 && begins(name, "host");
  if (after_host_) {
    if (cut_ || colon == std::string_view::npos || named_.size() == most_names) return state::bad;
    named_.emplace_back(trimmed_value(line.substr(colon + 1)));
  }
  line_.clear();
  cut_ = false;
  return state::more;
}

} // namespace gatehouse::reactor
