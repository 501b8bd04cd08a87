#pragma once

#include "protocol/audit.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gatehouse::actors {

/// Of one entry: what a command chooses must not push older entries out.
inline constexpr std::size_t most_body_bytes = std::size_t{64} << 10U;
inline constexpr std::size_t most_name_bytes = 1024; ///< session, turn and call, each
/// Of all denials of one attempt: connections that it tries.
inline constexpr std::size_t most_denial_bytes = std::size_t{256} << 10U;

/// Cuts what is longer: of its body long texts in their middle and long lists at their end, as
/// little as there must be, and "left_out_bytes" says how much went. A decision that is cut is
/// none to replay.
void bound_entry(audit_record& entry);

/// Counts what the denials of each attempt take. One thread at a time.
class denial_bounds {
public:
  /// `entry` is about to be written, bounded.
  /// @return it is to be left out
  bool leave_out(const audit_record& entry);
  /// Before the end of an attempt: the entry that counts what was left out, if anything was.
  std::optional<audit_record> count_before(const audit_record& end);

private:
  struct so_far {
    std::size_t bytes = 0;
    std::int64_t left_out = 0;
  };
  std::map<std::string, so_far> attempts_;
};

} // namespace gatehouse::actors
