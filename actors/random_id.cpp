#include "actors/random_id.hpp"

#include "protocol/hex.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <sys/random.h>

namespace gatehouse::actors {

std::string random_id() {
  std::array<unsigned char, 16> bytes{}; // up to 256 come whole, or not at all
  while (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    if (errno != EINTR)
      throw std::system_error{errno, std::generic_category(), "no random numbers"};
  return to_hex(bytes);
}

} // namespace gatehouse::actors
