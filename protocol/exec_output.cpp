#include "protocol/exec_output.hpp"

#include <array>

namespace gatehouse::exec_server {
namespace {

constexpr std::array<std::string_view, 3> streams{"stdout", "stderr", "pty"};
constexpr std::size_t fixed_bytes = 16; // version, stream, two of flags, length of the id, seq

void append_number(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 0xffu);
}

std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value = value << 8 | static_cast<unsigned char>(text[at + i]);
  return value;
}

error bad(std::string why) {
  return {errc::invalid_request, "a binary message " + std::move(why), {}};
}

} // namespace

std::string encode_output_head(std::string_view process_id, std::uint64_t seq,
                               std::string_view stream) {
  std::string out;
  out.reserve(fixed_bytes + process_id.size());
  append_number(out, binary_output_version, 1);
  std::size_t number = 0;
  while (number + 1 < streams.size() && streams[number] != stream)
    ++number;
  append_number(out, number, 1);
  append_number(out, 0, 2);
  append_number(out, process_id.size(), 4);
  append_number(out, seq, 8);
  return out.append(process_id);
}

result<binary_output> decode_binary_output(std::string_view message) {
  if (message.empty()) return bad("is empty");
  // The version first: what follows it may be another's.
  if (const auto version = number_at(message, 0, 1); version != binary_output_version)
    return bad("has version " + std::to_string(version) + ", and only " +
               std::to_string(binary_output_version) + " is known");
  if (message.size() < fixed_bytes)
    return bad("has " + std::to_string(message.size()) + " bytes, fewer than its head");
  const auto stream = number_at(message, 1, 1);
  if (stream >= streams.size()) return bad("names stream " + std::to_string(stream));
  if (const auto flags = number_at(message, 2, 2); flags != 0)
    return bad("has flags that are not known: " + std::to_string(flags));
  const auto id = number_at(message, 4, 4);
  const auto rest = message.substr(fixed_bytes);
  if (id > rest.size()) return bad("ends before its process id does");
  binary_output out;
  out.seq = number_at(message, 8, 8);
  if (out.seq == 0) return bad("has number 0, and numbers begin with 1");
  out.process_id = rest.substr(0, id);
  out.stream = streams[stream];
  out.bytes = rest.substr(id);
  if (out.bytes.empty()) return bad("holds no output");
  return out;
}

} // namespace gatehouse::exec_server
