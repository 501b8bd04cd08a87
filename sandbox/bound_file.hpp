#pragma once

#include "sandbox/caller.hpp"
#include "sandbox/file_descriptor.hpp"

namespace gatehouse::sandbox {

/// The file that a unix socket of `who` is bound to, opened without rights; empty when it has none
/// or the kernel does not tell. Asked of the socket itself, because a path may have been given to
/// another socket meanwhile.
file_descriptor bound_file(int socket, const caller& who);

} // namespace gatehouse::sandbox
