#pragma once

#include <string>

namespace gatehouse::actors {

/// 128 bits of the kernel's that nobody can guess, as 32 hexadecimal digits.
std::string random_id();

} // namespace gatehouse::actors
