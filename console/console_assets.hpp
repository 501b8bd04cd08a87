#pragma once

#include "actors/endpoint/console_door.hpp"

#include <span>

namespace gatehouse::console {

/// The files of the page. They live as long as the program.
std::span<const actors::console_asset> assets();

} // namespace gatehouse::console
