#include "actors/sha256.hpp"

#include <nettle/sha2.h>

namespace gatehouse::actors {

static_assert(SHA256_DIGEST_SIZE == std::tuple_size_v<sha256_hash>);

sha256_hash sha256_of(std::string_view bytes) {
  sha256_ctx state;
  sha256_init(&state);
  sha256_update(&state, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  sha256_hash hash{};
  sha256_digest(&state, hash.size(), hash.data());
  return hash;
}

} // namespace gatehouse::actors
