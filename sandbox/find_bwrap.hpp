#pragma once

#include "protocol/result.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gatehouse::sandbox {

/// A bubblewrap that may be trusted to build the boundary.
struct bwrap_program {
  std::string path; ///< canonical
  bool setuid = false;
};

/// The first `bwrap` of the system's usual folders, then of the absolute ones in `path_variable`,
/// that nobody but root can change: it and every folder above it belong to root and are not
/// writable by others. One inside `writable_roots` (canonical paths a command may write) is passed
/// over: a command must not choose the program that confines the next one.
/// @return errc::boundary_unavailable that names what was passed over and how to install it
result<bwrap_program> find_bwrap(std::string_view path_variable,
                                 std::span<const std::string> writable_roots);

} // namespace gatehouse::sandbox
