#include "protocol/abridged.hpp"

namespace gatehouse {

std::string abridged(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string{text};
  const auto starts = [&](std::size_t at) {
    return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xC0u) != 0x80;
  };
  // What stands at the end of a message is what to do next.
  std::size_t head = most - most / 3;
  std::size_t tail = text.size() - most / 3;
  while (head > 0 && !starts(head))
    --head;
  while (!starts(tail))
    ++tail;
  return std::string{text.substr(0, head)} + "\xE2\x80\xA6" + std::string{text.substr(tail)};
}

} // namespace gatehouse
