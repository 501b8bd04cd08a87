#include "actors/random_id.hpp"

#include <random>

namespace gatehouse::actors {

std::string random_id() {
  std::random_device source; // the kernel's
  constexpr char digits[] = "0123456789abcdef";
  std::string id;
  for (int i = 0; i < 32; ++i) // 128 bits
    id += digits[source() % 16];
  return id;
}

} // namespace gatehouse::actors
