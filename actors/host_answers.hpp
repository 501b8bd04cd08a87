#pragma once

#include "protocol/network.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gatehouse::actors {

/// What a person has answered about hosts for the session (§111): of a host the last answer only. A
/// value of one session; it ends with it. Used on the loop only; the host may list and revoke.
class host_answers {
public:
  struct entry {
    std::uint64_t id = 0; ///< for `revoke`; never reused
    host_key host;
    bool allowed = false;
    bool kept = false; ///< a rule file has it, too
  };

  /// A later answer about the same host replaces this one, under an id of its own.
  void remember(const host_key& host, bool allowed);
  /// Unset: nothing was answered.
  [[nodiscard]] std::optional<bool> find(const host_key& host) const;
  /// The answer about this host stands in a rule file now: it is no answer of the session any more,
  /// and counts only until the rules have been read again.
  void keep(const host_key& host);
  void forget_kept();
  /// Oldest first, without those that are kept.
  [[nodiscard]] std::vector<entry> list() const;
  /// False when there is no such entry (any more), or it is kept. The next connection asks again;
  /// one that stands is not touched.
  bool revoke(std::uint64_t id);

private:
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, entry> by_id_;
  std::map<host_key, std::uint64_t> id_of_;
};

} // namespace gatehouse::actors
