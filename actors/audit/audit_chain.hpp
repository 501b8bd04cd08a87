#pragma once

#include "actors/audit/audit_store.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse::actors {

/// SHA-256.
using chain_hash = std::array<std::uint8_t, 32>;

/// The hash of `entry` behind the entry whose hash is `before`: over that hash and all fields of
/// this one but its own hash. Injective, since each field comes with its length.
chain_hash hash_of(const chain_hash& before, const audit_entry& entry);

/// Of a text.
chain_hash hash_of(std::string_view text);

/// The same as others compute it: of the bytes alone, where those above hash their lengths, too.
chain_hash sha256_of(std::string_view bytes);

/// 64 hexadecimal digits.
std::string hex(const chain_hash& hash);

} // namespace gatehouse::actors
