#pragma once

#include <string>

namespace gatehouse::actors {

/// 96 bits that nobody can guess, as 24 hexadecimal digits.
std::string random_id();

} // namespace gatehouse::actors
