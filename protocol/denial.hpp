#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse {

/// What the boundary refused (§92b, §D10).
enum class denial_kind : std::uint8_t { file_read, file_write, network, system_call };
/// "file_read", "file_write", "network", "system_call".
std::string_view to_string(denial_kind k) noexcept;

/// A refusal by the sandbox, attributed: not a user's denial (§2) and not a failure of the command.
struct denial {
  denial_kind kind = denial_kind::file_write;
  std::string path;   ///< absolute path for file kinds; empty when it could not be attributed
  std::string host;   ///< network: host or host:port when known, else empty
  std::string entry;  ///< the profile entry or protection that refused it, as people read it
  std::string remedy; ///< which request would allow it (§48b)

  bool operator==(const denial&) const = default;
};

} // namespace gatehouse
