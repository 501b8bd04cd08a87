#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

/// process/output as a binary WebSocket message: ours, not the reference's, and sent only to a
/// client that has asked for it by `binaryOutput` of its `initialize` (docs/remote.md has the
/// layout).
namespace gatehouse::exec_server {

/// What `binaryOutput` says, and the first byte of every such message.
inline constexpr unsigned binary_output_version = 1;

struct binary_output {
  std::string_view process_id;
  std::uint64_t seq = 0;
  std::string_view stream; ///< "stdout", "stderr" or "pty"
  std::string_view bytes;
};

/// What stands before the bytes. @pre `seq` is not 0, `stream` one of the three
std::string encode_output_head(std::string_view process_id, std::uint64_t seq,
                               std::string_view stream);

/// Views into `message`. Error: `invalid_request` it is no such message, or of a version that is
/// not known; what it holds cannot be told.
result<binary_output> decode_binary_output(std::string_view message);

} // namespace gatehouse::exec_server
