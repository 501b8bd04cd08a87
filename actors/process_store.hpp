#pragma once

#include "protocol/result.hpp"
#include "reactor/clock.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace gatehouse::actors {

struct process_store_limits {
  std::size_t processes = 64;       ///< stored at once (§126)
  std::size_t protected_recent = 8; ///< of the most recently used, never evicted
};

/// The table of terminal sessions (§9, §121, §126): a value that starts and ends nothing. An id is
/// reserved first (before approval), then either admitted with a live process or released.
class process_store {
public:
  using time_point = reactor::clock::time_point;
  /// Gives candidates for ids; what is out of range or taken is asked for again.
  using id_source = std::function<int()>;

  static constexpr int first_id = 1000;
  static constexpr int last_id = 99'999;

  explicit process_store(id_source ids, process_store_limits limits = {});

  /// Uniformly random ids (§9).
  static id_source random_ids();
  /// 1000, 1001, …: for tests.
  static id_source increasing_ids();

  /// An id that is nobody's. Error: `too_large` all are taken.
  result<int> reserve();
  /// Gives a reserved id back; nothing to do for any other.
  void release(int id);
  /// The process of a reserved id runs now. Returns the session that must make room, already out of
  /// the table: the caller ends its process. None when the table is not full or every entry is
  /// protected, held or new (then it grows beyond its cap for a while).
  std::optional<int> admit(int id, time_point now);
  /// Out of the table; the id is free again.
  void remove(int id);
  /// Out of the table, and reserved again for the call that goes on.
  void take_back(int id);

  void used(int id, time_point now);
  void exited(int id);
  /// A caller waits on it: it is not evicted under his hands. Counts.
  void hold(int id);
  void unhold(int id);

  [[nodiscard]] bool contains(int id) const { return entries_.contains(id); }
  [[nodiscard]] std::vector<int> ids() const; ///< stored ones, ascending
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t reserved() const noexcept { return reserved_.size(); }

private:
  struct entry {
    time_point used{};
    bool exited = false;
    int holders = 0;
  };

  [[nodiscard]] std::optional<int> choose_victim() const;

  id_source ids_;
  process_store_limits limits_;
  std::set<int> reserved_;
  std::map<int, entry> entries_;
};

} // namespace gatehouse::actors
