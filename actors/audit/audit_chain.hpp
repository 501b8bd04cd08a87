#pragma once

#include "actors/audit/audit_store.hpp"
#include "actors/sha256.hpp"

namespace gatehouse::actors {

/// Of an entry and all before it.
using chain_hash = sha256_hash;

/// The hash of `entry` behind the entry whose hash is `before`: over that hash and all fields of
/// this one but its own hash. Injective, since each field comes with its length.
chain_hash hash_of(const chain_hash& before, const audit_entry& entry);

} // namespace gatehouse::actors
