#include "reactor/proxy_socks5.hpp"

#include "protocol/ip_address.hpp"

#include <algorithm>

namespace gatehouse::reactor {
namespace {

constexpr char version = 5;
constexpr char no_authentication = 0;
constexpr char command_connect = 1, command_udp = 3;
constexpr std::string_view malformed = "SOCKS5: the request breaks the protocol's rules";
constexpr char type_ipv4 = 1, type_name = 3, type_ipv6 = 4;

std::size_t number(char c) {
  return static_cast<unsigned char>(c);
}

} // namespace

std::string socks5_greeting_answer() {
  return {version, no_authentication};
}

std::string socks5_answer(socks5_reply code) {
  return {version, static_cast<char>(code), 0, type_ipv4, 0, 0, 0, 0, 0, 0};
}

socks5_reader::state socks5_reader::refuse(socks5_reply code, std::string_view why) {
  refusal_ = socks5_answer(code);
  why_ = why;
  return state::bad;
}

socks5_reader::state socks5_reader::feed(std::string_view bytes, std::size_t& taken) {
  taken = 0;
  // By single bytes, since the length of each part stands inside of it; none is long.
  while (taken < bytes.size()) {
    bytes_ += bytes[taken++];
    if (const auto reached = step(); reached != state::more) return reached;
  }
  return state::more;
}

socks5_reader::state socks5_reader::step() {
  const auto size = bytes_.size();
  if (bytes_[0] != version) {
    const bool socks4 = !greeted_ && bytes_[0] == 4;
    refusal_ = socks4 ? std::string{"\0\x5b\0\0\0\0\0\0", 8} : std::string{version, '\xff'};
    why_ = socks4 ? "SOCKS4 is not carried: use SOCKS5 (socks5h://)"
                  : "SOCKS: a request of another version than 5";
    return state::bad;
  }
  if (!greeted_) {
    if (size < 2) return state::more;
    const std::size_t methods = number(bytes_[1]);
    if (methods != 0 && size < 2 + methods) return state::more;
    if (bytes_.find(no_authentication, 2) == std::string::npos) {
      refusal_ = std::string{version, '\xff'};
      why_ = "SOCKS5: only clients without user name and password are served";
      return state::bad;
    }
    greeted_ = true;
    bytes_.clear();
    return state::greeted;
  }
  if (size < 5) return state::more;
  const char type = bytes_[3];
  if (bytes_[2] != 0) return refuse(socks5_reply::general_failure, malformed);
  const std::size_t length = type == type_ipv4   ? 4
                             : type == type_ipv6 ? 16
                             : type == type_name ? 1 + number(bytes_[4])
                                                 : 0;
  if (length == 0) return refuse(socks5_reply::address_type_not_supported, malformed);
  if (bytes_[1] != command_connect)
    return refuse(socks5_reply::command_not_supported, bytes_[1] == command_udp
                                                           ? "SOCKS5: UDP is not carried"
                                                           : "SOCKS5: only CONNECT is carried");
  if (size < 4 + length + 2) return state::more;
  if (type == type_name) {
    host_ = bytes_.substr(5, length - 1);
  } else {
    ip_address address;
    address.v6 = type == type_ipv6;
    std::copy_n(bytes_.begin() + 4, length, address.bytes.begin());
    host_ = to_string(address);
  }
  port_ = static_cast<std::uint16_t>(number(bytes_[size - 2]) << 8 | number(bytes_[size - 1]));
  if (host_.empty() || port_ == 0) return refuse(socks5_reply::general_failure, malformed);
  return state::done;
}

} // namespace gatehouse::reactor
