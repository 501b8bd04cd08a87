#include "actors/audit/audit_chain.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include <nettle/sha2.h>

namespace gatehouse::actors {
namespace {

class hasher {
public:
  explicit hasher(const chain_hash& before) {
    sha256_init(&state_);
    sha256_update(&state_, before.size(), before.data());
  }
  /// The length comes first, so that no two lists of fields are written alike.
  hasher& field(std::string_view text) {
    const auto length = std::to_string(text.size()) + ":";
    sha256_update(&state_, length.size(), reinterpret_cast<const std::uint8_t*>(length.data()));
    sha256_update(&state_, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
    return *this;
  }
  hasher& field(std::int64_t number) { return field(std::to_string(number)); }
  chain_hash take() {
    chain_hash out{};
    sha256_digest(&state_, out.size(), out.data());
    return out;
  }

private:
  sha256_ctx state_{};
};

} // namespace

chain_hash hash_of(const chain_hash& before, const audit_entry& entry) {
  return hasher{before}
      .field(entry.seq)
      .field(entry.time.time_since_epoch().count())
      .field(entry.kind)
      .field(entry.session)
      .field(entry.turn)
      .field(entry.call)
      .field(entry.attempt)
      .field(entry.body)
      .take();
}

} // namespace gatehouse::actors
