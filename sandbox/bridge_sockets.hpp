#pragma once

#include <cstdint>

namespace gatehouse::sandbox {

/// A listening TCP socket on the loopback of the network namespace that the caller is in; the
/// kernel's file, so that nothing in the view leads to it. Without a C library: the inner stage
/// makes it before the filter is loaded, and gives it away.
/// @return a descriptor (close-on-exec) or a negative errno
long listen_on_loopback(std::uint16_t port, bool v6);

} // namespace gatehouse::sandbox
