#include "reactor/proxy_client_hello.hpp"

namespace gatehouse::reactor {
namespace {

constexpr char handshake_record = 22;
constexpr char client_hello = 1;
constexpr std::size_t record_head = 5, message_head = 4;
constexpr std::size_t longest_record = (std::size_t{1} << 14) + 256;

/// Big-endian fields from the front; `ok` turns false at the first that is not there.
class fields {
public:
  explicit fields(std::string_view bytes) : rest_{bytes} {}

  std::size_t number(std::size_t size) {
    std::size_t value = 0;
    for (const char c : bytes(size))
      value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view bytes(std::size_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const auto out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  /// A field that says its own length in `size` bytes.
  std::string_view counted(std::size_t size) {
    const auto length = number(size);
    return bytes(length);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

private:
  std::string_view rest_;
  bool ok_ = true;
};

} // namespace

std::string tls_access_denied() {
  return {21, 3, 1, 0, 2, 2, 49};
}

client_hello_reader::state client_hello_reader::look(std::string_view bytes) {
  if (bytes.empty()) return state::more;
  if (bytes[0] != handshake_record) return state::not_tls;
  if (bytes.size() > 1 && bytes[1] != 3) return state::not_tls;
  std::string hello;
  std::size_t wanted = 0;
  for (auto rest = bytes; rest.size() >= record_head;) {
    fields head{rest.substr(0, record_head)};
    const char type = head.bytes(1)[0];
    const char major = head.bytes(2)[0];
    const auto length = head.number(2);
    if (type != handshake_record || major != 3 || length == 0 || length > longest_record)
      return state::bad;
    hello += rest.substr(record_head, length);
    if (!hello.empty() && hello[0] != client_hello) return state::bad;
    if (hello.size() >= message_head) {
      wanted = message_head + fields{std::string_view{hello}.substr(1, 3)}.number(3);
      if (wanted > most_bytes) return state::bad;
      if (hello.size() >= wanted)
        return parse(std::string_view{hello}.substr(message_head, wanted - message_head));
    }
    if (rest.size() < record_head + length) break;
    rest.remove_prefix(record_head + length);
  }
  return bytes.size() >= most_bytes ? state::bad : state::more;
}

client_hello_reader::state client_hello_reader::parse(std::string_view hello) {
  fields f{hello};
  f.bytes(2);   // version
  f.bytes(32);  // random
  f.counted(1); // session
  f.counted(2); // cipher suites
  f.counted(1); // compression methods
  if (!f.ok()) return state::bad;
  if (f.empty()) return state::done; // no extensions, as old clients have it
  fields extensions{f.counted(2)};
  if (!f.ok() || !f.empty()) return state::bad;
  bool seen = false;
  while (extensions.ok() && !extensions.empty()) {
    const auto type = extensions.number(2);
    const auto body = extensions.counted(2);
    if (!extensions.ok()) return state::bad;
    if (type != 0) continue;
    if (seen || !parse_server_names(body)) return state::bad;
    seen = true;
  }
  return extensions.ok() ? state::done : state::bad;
}

bool client_hello_reader::parse_server_names(std::string_view list) {
  fields outer{list};
  fields names{outer.counted(2)};
  if (!outer.ok() || !outer.empty() || names.empty()) return false;
  while (names.ok() && !names.empty()) {
    const auto type = names.number(1);
    const auto name = names.counted(2);
    if (!names.ok() || type != 0 || name_ || name.empty()) return false;
    name_ = std::string{name};
  }
  return names.ok();
}

} // namespace gatehouse::reactor
