#include "protocol/base64.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace gatehouse {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xff;

constexpr std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    digits[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return digits;
}
constexpr auto digits = make_digits();

using digit_pair = std::array<char, 2>;
constexpr std::array<digit_pair, 4096> make_pairs() {
  std::array<digit_pair, 4096> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = {alphabet[i >> 6], alphabet[i & 63]};
  return pairs;
}
/// Two digits at once: output of commands is sent so, byte by byte it would be the bottleneck.
constexpr auto pairs = make_pairs();

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
}

void put_pair(char* to, std::uint32_t twelve_bits) {
  std::memcpy(to, pairs[twelve_bits].data(), sizeof(digit_pair));
}

} // namespace

void append_base64(std::string& text, std::string_view bytes) {
  const auto before = text.size();
  text.resize(before + (bytes.size() + 2) / 3 * 4);
  char* to = text.data() + before;
  for (std::size_t i = 0; i < bytes.size(); i += 3, to += 4) {
    const std::uint32_t group =
        i + 3 <= bytes.size()
            ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << 16 |
                  static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + 1])) << 8 |
                  static_cast<unsigned char>(bytes[i + 2])
            : byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8;
    put_pair(to, group >> 12);
    put_pair(to + 2, group & 4095u);
  }
  for (std::size_t missing = (3 - bytes.size() % 3) % 3; missing > 0; --missing)
    text[text.size() - missing] = '=';
}

std::string encode_base64(std::string_view bytes) {
  std::string text;
  append_base64(text, bytes);
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
    ++padding;
  std::string bytes(text.size() / 4 * 3, '\0');
  char* to = bytes.data();
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::uint32_t group = 0;
    std::uint32_t seen = 0;
    for (std::size_t k = i; k < i + 4; ++k) {
      const std::uint32_t digit =
          k >= text.size() - padding ? 0u : digits[static_cast<unsigned char>(text[k])];
      seen |= digit;
      group = group << 6 | (digit & 63u);
    }
    if (seen > 63u) return std::nullopt;
    *to++ = static_cast<char>(group >> 16 & 255u);
    *to++ = static_cast<char>(group >> 8 & 255u);
    *to++ = static_cast<char>(group & 255u);
  }
  // Bits that the padding cuts off must be zero, so that each text has one meaning.
  for (std::size_t i = 0; i < padding; ++i) {
    if (bytes.back() != 0) return std::nullopt;
    bytes.pop_back();
  }
  return bytes;
}

} // namespace gatehouse
