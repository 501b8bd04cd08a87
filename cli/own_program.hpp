#pragma once

#include <string>
#include <vector>

namespace gatehouse::cli {

/// The path of a program that lies beside this one, links resolved; empty when this program's own
/// path cannot be read.
std::string beside_me(const char* name);

/// The programs of this installation: who could write one would run outside of every boundary.
std::vector<std::string> own_programs();

} // namespace gatehouse::cli
