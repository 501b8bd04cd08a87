#pragma once

#include "protocol/patch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse {

/// What a patch does to one file.
enum class change_kind : std::uint8_t { add, update, remove, move };
/// "add", "update", "delete", "move".
std::string_view to_string(change_kind k) noexcept;

/// One operation of a patch on the files of this host.
struct file_change {
  change_kind what = change_kind::add;
  std::string path;  ///< absolute, links followed: what is written or, with remove, goes
  std::string from;  ///< move only: what goes
  std::string shown; ///< as the patch spells it; of a move the destination

  bool operator==(const file_change&) const = default;
};

/// A patch as a tool call proposes it (§11): exactly this is shown, approved and applied.
struct patch_call {
  std::string text;                 ///< the patch itself, of whatever shell form it came in
  std::string cwd;                  ///< absolute: base of its relative paths
  std::vector<file_change> changes; ///< one for each operation, in patch order

  bool operator==(const patch_call&) const = default;
};

/// How much of a patch has been carried out (§107): where a retry goes on.
struct patch_progress {
  std::size_t operations = 0;  ///< the first so many are done
  bool source_is_left = false; ///< of the next one, a move: the destination stands, its source too

  bool operator==(const patch_progress&) const = default;
};

/// The largest patch that is read at all, and the most files that it may touch.
inline constexpr std::size_t largest_patch_bytes = 10'000'000;
inline constexpr std::size_t most_patch_files = 10'000;

/// Every absolute path that the changes touch, once each, in patch order: the keys of an approval
/// (§56). A move touches two.
std::vector<std::string> touched_paths(std::span<const file_change> changes);

/// The changes that are done, for the report; a move whose source is left counts as an update of
/// its destination.
std::vector<file_change> committed_changes(const patch_call& call, const patch_progress& progress);

/// "add /a, move /b to /c": each file, quoted where a terminal needs it; beyond a hundred their
/// number.
std::string describe(std::span<const file_change> changes);

/// "Success. Updated the following files:" and a line for each change, grouped A, M, D.
std::string success_summary(std::span<const file_change> changes);

} // namespace gatehouse
