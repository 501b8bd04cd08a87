#include "reactor/proxy_client_hello.hpp"

namespace gatehouse::reactor {
namespace {

constexpr char change_cipher_spec = 20, handshake_record = 22, application_data = 23,
               heartbeat = 24;
constexpr char hello_message = 1;
constexpr std::size_t server_name = 0, early_data = 42; // extensions
constexpr std::size_t record_head = 5, message_head = 4;
constexpr std::size_t longest_record = (std::size_t{1} << 14) + 256;
/// Some servers take every version below in the first record.
constexpr unsigned char no_version = 16;

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

bool is_record_type(char type) {
  return type >= change_cipher_spec && type <= heartbeat;
}

std::size_t message_size(std::string_view message) {
  return message_head + fields{message.substr(1, 3)}.number(3);
}

bool parse_server_names(std::string_view list, client_hello& hello) {
  fields outer{list};
  fields names{outer.counted(2)};
  if (!outer.ok() || !outer.empty() || names.empty()) return false;
  while (names.ok() && !names.empty()) {
    const auto type = names.number(1);
    const auto name = names.counted(2);
    if (!names.ok() || type != 0 || hello.server_name || name.empty()) return false;
    hello.server_name = std::string{name};
  }
  return names.ok();
}

/// @param message a whole ClientHello; unset: it breaks the rules
std::optional<client_hello> parse(std::string_view message) {
  client_hello hello;
  fields f{message.substr(message_head)};
  f.bytes(2);   // version
  f.bytes(32);  // random
  f.counted(1); // session
  f.counted(2); // cipher suites
  f.counted(1); // compression methods
  if (!f.ok()) return std::nullopt;
  if (f.empty()) return hello; // no extensions, as old clients have it
  fields extensions{f.counted(2)};
  if (!f.ok() || !f.empty()) return std::nullopt;
  bool seen = false;
  while (extensions.ok() && !extensions.empty()) {
    const auto type = extensions.number(2);
    const auto body = extensions.counted(2);
    if (!extensions.ok()) return std::nullopt;
    hello.early_data = hello.early_data || type == early_data;
    if (type != server_name) continue;
    if (seen || !parse_server_names(body, hello)) return std::nullopt;
    seen = true;
  }
  if (!extensions.ok()) return std::nullopt;
  return hello;
}

} // namespace

std::string tls_access_denied() {
  return {21, 3, 1, 0, 2, 2, 49};
}

client_hello_reader::state client_hello_reader::look(std::string_view bytes) {
  if (bytes.empty()) return state::more;
  if (!is_record_type(bytes[0])) return state::not_tls;
  if (bytes.size() == 1) return state::more;
  if (static_cast<unsigned char>(bytes[1]) >= no_version) return state::not_tls;
  std::string hello;
  std::size_t declared = 0;
  for (auto rest = bytes; rest.size() >= record_head;) {
    fields head{rest.substr(0, record_head)};
    const char type = head.bytes(1)[0];
    const char major = head.bytes(2)[0];
    const auto length = head.number(2);
    if (type != handshake_record || major != 3 || length == 0 || length > longest_record)
      return state::bad;
    declared += length;
    hello += rest.substr(record_head, length);
    if (!hello.empty() && hello[0] != hello_message) return state::bad;
    if (hello.size() >= message_head) {
      const auto wanted = message_size(hello);
      // A hello ends with its record: what follows it there would be read as another one.
      if (wanted > most_bytes || declared > wanted) return state::bad;
      if (hello.size() == wanted) {
        auto parsed = parse(hello);
        if (!parsed) return state::bad;
        hello_ = *std::move(parsed);
        taken_ = bytes.size() - rest.size() + record_head + length;
        return state::done;
      }
    }
    if (rest.size() < record_head + length) break;
    rest.remove_prefix(record_head + length);
  }
  if (bytes[0] != handshake_record || bytes[1] != 3) return state::bad;
  return bytes.size() >= most_bytes ? state::bad : state::more;
}

later_hello_reader::state later_hello_reader::look(std::string_view bytes, std::size_t& taken) {
  taken = 0;
  while (bytes.size() - taken >= record_head) {
    const auto rest = bytes.substr(taken);
    fields head{rest.substr(0, record_head)};
    const char type = head.bytes(1)[0];
    const char major = head.bytes(2)[0];
    const auto length = head.number(2);
    if (!is_record_type(type) || major != 3 || length > longest_record) return state::bad;
    if (rest.size() < record_head + length) break;
    const auto reached = take(type, rest.substr(record_head, length));
    if (reached == state::more || reached == state::hello) taken += record_head + length;
    if (reached != state::more) return reached;
  }
  return state::more;
}

/// Only a hello that is whole decides: with a resumed session the first handshake record behind the
/// change of ciphers is encrypted, and may begin with any byte.
later_hello_reader::state later_hello_reader::take(char type, std::string_view fragment) {
  if (type == application_data) return early_data_ ? state::more : state::over;
  if (type != handshake_record) return state::more;
  message_ += fragment;
  if (message_.empty()) return state::more;
  if (message_[0] != hello_message) return state::over;
  if (message_.size() < message_head) return state::more;
  const auto wanted = message_size(message_);
  if (wanted > most_bytes) return state::over;
  if (message_.size() < wanted) return state::more;
  auto parsed = message_.size() == wanted ? parse(message_) : std::nullopt;
  if (!parsed) return state::bad;
  hello_ = *std::move(parsed);
  early_data_ = early_data_ || hello_.early_data;
  message_.clear();
  return state::hello;
}

} // namespace gatehouse::reactor
