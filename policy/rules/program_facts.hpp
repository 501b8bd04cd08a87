#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gatehouse::policy {

/// What the host knows about a program word of one command (§D3, §D22). Gathered before the
/// decision, against the command's cwd, by code that may look at files; policy only reads it.
struct program_fact {
  std::string absolute;  ///< where the word leads, lexically absolute; empty: nowhere
  std::string real_path; ///< after following every link; empty: does not exist
  bool in_writable_root =
      false; ///< the word, or anything its links lead to, is below a writable root
  /// A bare word that the trusted PATH finds; or a path to the very file (same real path) that the
  /// trusted PATH finds under the path's last component.
  bool on_trusted_path = false;
  /// Of git: the repository it would work in has a configuration that commands can write.
  bool in_writable_repository = false;
  /// Device and inode of the real file: the same for each of its hard links. Zeros: none.
  std::pair<std::uint64_t, std::uint64_t> file{};
  /// Other absolute paths under which the trusted PATH leads to the same file (`python3` and
  /// `python3.11`). Only prompt and forbidden rules look at them.
  std::vector<std::string> other_paths{};
};

/// True when both are known to be one file.
inline bool is_same_file(const program_fact& a, const program_fact& b) noexcept {
  if (!a.absolute.empty() && a.absolute == b.absolute) return true;
  if (!a.real_path.empty() && a.real_path == b.real_path) return true;
  return a.file.second != 0 && a.file == b.file;
}

/// Keyed by the word as the command spells it.
using program_facts = std::map<std::string, program_fact, std::less<>>;

} // namespace gatehouse::policy
