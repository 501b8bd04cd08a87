#pragma once

#include "sandbox/init_spec.hpp"

namespace gatehouse::sandbox {

/// Becomes the command of `s`, looked up in the PATH of its own environment; what is no program of
/// the kernel's is a script of /bin/sh, as shells do it. Without a C library.
/// @return a negative errno
long find_and_execute(const init_spec& s);

} // namespace gatehouse::sandbox
