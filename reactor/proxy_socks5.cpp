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

std::uint16_t port_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(number(bytes[at]) << 8 | number(bytes[at + 1]));
}

/// Of a request of five bytes or more, as its fourth and fifth say; 0: of no known type.
std::size_t address_length(std::string_view request) {
  switch (request[3]) {
  case type_ipv4: return 4;
  case type_ipv6: return 16;
  case type_name: return 1 + number(request[4]);
  default: return 0;
  }
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
    const auto reached = step();
    if (reached == state::bad) name_refused(bytes.substr(taken));
    if (reached != state::more) return reached;
  }
  return state::more;
}

bool socks5_reader::udp() const noexcept {
  return greeted_ && bytes_.size() > 1 && bytes_[1] == command_udp;
}

/// Sets host and port, where both are there. At least five bytes.
void socks5_reader::read_address(std::string_view request) {
  const char type = request[3];
  const auto length = address_length(request);
  if (length == 0 || request.size() < 4 + length + 2) return;
  if (type == type_name) {
    host_ = request.substr(5, length - 1);
  } else {
    ip_address address;
    address.v6 = type == type_ipv6;
    std::copy_n(request.begin() + 4, length, address.bytes.begin());
    host_ = to_string(address);
  }
  port_ = port_at(request, 4 + length);
}

/// Version, command, port, address, user, NUL; with 0.0.0.x for an address a name and NUL follow.
void socks5_reader::read_socks4(std::string_view request) {
  constexpr std::size_t user = 8;
  if (request.size() < user) return;
  port_ = port_at(request, 2);
  if (request[4] != 0 || request[5] != 0 || request[6] != 0) {
    ip_address address;
    std::copy_n(request.begin() + 4, 4, address.bytes.begin());
    host_ = to_string(address);
    return;
  }
  const auto name = request.find('\0', user);
  const auto end = name == std::string_view::npos ? name : request.find('\0', name + 1);
  if (end != std::string_view::npos) host_ = request.substr(name + 1, end - name - 1);
}

/// For the record. Clients send a request in one piece, so that nothing is waited for.
void socks5_reader::name_refused(std::string_view rest) {
  constexpr std::size_t most = 512; // a request of SOCKS5 has 262 at most
  const auto request = bytes_ + std::string{rest.substr(0, most)};
  if (!greeted_ && request[0] == 4) return read_socks4(request);
  if (!greeted_ || request.size() < 5) return;
  read_address(request);
  // Of datagrams it is where the client sends from, mostly not known yet.
  if (udp() && port_ == 0) host_.clear();
}

socks5_reader::state socks5_reader::step() {
  const auto size = bytes_.size();
  if (bytes_[0] != version) {
    const bool socks4 = !greeted_ && bytes_[0] == 4;
    refusal_ = socks4 ? std::string{"\0\x5b\0\0\0\0\0\0", 8} : std::string{version, '\xff'};
    why_ = socks4 ? "SOCKS4 is not carried: use SOCKS5 (socks5h://)"
                  : "SOCKS: a request of another version than 5";
    if (socks4) reason_ = network_refusal::not_carried;
    return state::bad;
  }
  if (!greeted_) {
    if (size < 2) return state::more;
    const std::size_t methods = number(bytes_[1]);
    if (methods != 0 && size < 2 + methods) return state::more;
    if (bytes_.find(no_authentication, 2) == std::string::npos) {
      refusal_ = std::string{version, '\xff'};
      why_ = "SOCKS5: only clients without user name and password are served";
      reason_ = network_refusal::not_carried;
      return state::bad;
    }
    greeted_ = true;
    bytes_.clear();
    return state::greeted;
  }
  if (size < 5) return state::more;
  if (bytes_[2] != 0) return refuse(socks5_reply::general_failure, malformed);
  const auto length = address_length(bytes_);
  if (length == 0) return refuse(socks5_reply::address_type_not_supported, malformed);
  if (bytes_[1] != command_connect) {
    reason_ = network_refusal::not_carried;
    return refuse(socks5_reply::command_not_supported, bytes_[1] == command_udp
                                                           ? "SOCKS5: UDP is not carried"
                                                           : "SOCKS5: only CONNECT is carried");
  }
  if (size < 4 + length + 2) return state::more;
  read_address(bytes_);
  if (host_.empty() || port_ == 0) return refuse(socks5_reply::general_failure, malformed);
  return state::done;
}

} // namespace gatehouse::reactor
