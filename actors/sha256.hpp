#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gatehouse::actors {

using sha256_hash = std::array<std::uint8_t, 32>;

/// As others compute it: of the bytes alone.
sha256_hash sha256_of(std::string_view bytes);

} // namespace gatehouse::actors
