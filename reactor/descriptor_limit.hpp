#pragma once

#include <cstddef>
#include <optional>

#include <sys/resource.h>

namespace gatehouse::reactor {

/// Lets this process open as many descriptors as the system permits it; children that it starts
/// still get the limit from before, which their programs were made for. Once, before any thread.
void raise_descriptor_limit();

/// The limit that children get; unset: their parent's.
const std::optional<rlimit>& descriptor_limit_of_children() noexcept;

/// The descriptors that this process may have at all.
std::size_t descriptor_limit() noexcept;

} // namespace gatehouse::reactor
