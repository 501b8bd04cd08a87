#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gatehouse::reactor {

/// Bytes that one read of a child's output takes at most.
inline constexpr std::size_t read_block = std::size_t{64} * 1024;

/// Where all children's output of this thread is read into: at least `read_block` bytes. Valid
/// until `take_read`.
std::string& read_memory();

/// Inside of process_listener::on_output: its bytes, to be kept. When they are most of a block it
/// is the very memory that they were read into, and nothing is copied; `bytes` then looks into the
/// result. Else a copy.
std::string take_read(std::string_view bytes);

/// Memory of `take_read` that is of no use any more: the newest of it is read into again, so that
/// the kernel need not find pages for each block. Any other memory is freed.
void give_back(std::string memory);

} // namespace gatehouse::reactor
