#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gatehouse {

/// Two digits a byte, with small letters.
std::string to_hex(std::span<const std::uint8_t> bytes);

} // namespace gatehouse
