#pragma once

#include <string>

namespace gatehouse::cli {

/// The path of a program that lies beside this one, links resolved; empty when this program's own
/// path cannot be read.
std::string beside_me(const char* name);

} // namespace gatehouse::cli
