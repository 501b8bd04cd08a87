#include "policy/rules/caseless.hpp"

#include "protocol/ascii_text.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <unicase.h>
#include <uninorm.h>

namespace gatehouse::policy {

std::string caseless_key(std::string_view word) {
  if (std::ranges::all_of(word, [](unsigned char c) { return c < 0x80; }))
    return to_lower_ascii(word);
  std::size_t size = 0;
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> folded{
      u8_casefold(reinterpret_cast<const std::uint8_t*>(word.data()), word.size(), "", UNINORM_NFD,
                  nullptr, &size),
      &std::free};
  if (!folded) return to_lower_ascii(word);
  return {reinterpret_cast<const char*>(folded.get()), size};
}

} // namespace gatehouse::policy
