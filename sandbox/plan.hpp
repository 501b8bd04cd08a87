#pragma once

#include "policy/access.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "sandbox/host_paths.hpp"
#include "sandbox/mount_kind.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

struct mount_step {
  mount_kind kind = mount_kind::read_only_bind;
  std::string target;
  std::string source;
  unsigned perms = 0755; ///< of an empty_folder or folder

  bool operator==(const mount_step&) const = default;
};

/// What a guard forbids while the command runs. Guards stand in for mounts where there is nothing
/// to mount over: no placeholder is ever made on the host (§D12). They also stand behind mounts,
/// which are gone when another program of the host replaces what they cover.
enum class guard_kind : std::uint8_t {
  closed, ///< `path` (or what the glob matches) and what is below must not come to be, be changed
          ///< or be removed, but below what `opened` names
  nested, ///< the last names of `path` must not come to be anywhere below `directory` (a root), nor
          ///< be changed or removed where no mount stands over them, but in folders that the
          ///< command has made itself, and below what `opened` names
  keep,   ///< `path` exists and cannot be a mount point (a symbolic link): it must stay as it is
  made, ///< `path` and the folders above it may be made where they are missing, but nothing may be
        ///< placed there: a link would widen what the next command is granted
};

struct creation_guard {
  std::string directory; ///< canonical, exists: the deepest existing folder at or above `path`
  std::string path;      ///< absolute; below `directory`; a glob when `is_glob`
  guard_kind kind = guard_kind::closed;
  bool is_glob = false;
  std::string why;                   ///< as `access_answer::decided_by`: "protected name `.git`"
  std::vector<std::string> opened{}; ///< nested, closed: what entries open again

  bool operator==(const creation_guard&) const = default;
};

/// What a program is about to do with a path, as the supervisor sees it.
enum class guarded_operation : std::uint8_t {
  create_file, ///< open with O_CREAT of a name that does not exist; mknod, bind a socket, a hard
               ///< link to a file: what can be neither a link nor a folder with content
  make_directory,
  change, ///< open for writing, with O_CREAT, what exists
  place,  ///< rename to this path, or make a link there (also both of an exchange)
  remove, ///< unlink, rmdir, rename away from this path (also both of an exchange)
};

/// The guard that forbids `operation` on `path`, or null. `path`: absolute; the parent folder
/// resolved to what it really is, the last name as given. Folders above a guarded path may be made
/// but not placed; folders above a kept path may be neither placed nor moved away.
/// `in_own_folder`: the parent folder was made by the command, so that nested guards do not count.
const creation_guard* find_guard(std::span<const creation_guard> guards, std::string_view path,
                                 guarded_operation operation, bool in_own_folder = false);

/// Everything the Linux backend needs to know about the file system of one attempt.
struct mount_plan {
  std::vector<mount_step> mounts;
  std::vector<creation_guard> guards;
  /// Canonical paths below which writing is granted: the second wall (Landlock), so that /proc/sys,
  /// /proc/PID/mem, /sys and whatever a mount forgot cannot be written even by uid 0. Contains
  /// /dev.
  std::vector<std::string> write_paths;
  std::vector<std::string> warnings; ///< for people; never a relaxation

  bool operator==(const mount_plan&) const = default;
};

/// How many `denied_file` steps there are: each needs a descriptor of its own (bwrap_options).
std::size_t denied_file_count(std::span<const mount_step> mounts) noexcept;

/// An unrestricted file system as the entries that a plan is made of: all of it writable, nothing
/// protected. What is restricted stays as it is.
void spell_out(permission_profile& profile, policy::access_context& context);

/// Denies `paths`, where they exist, whatever the profile grants: our own credentials. What is
/// unrestricted is spelled out for it, and `protected_paths` hold in it too, since whoever changes
/// our programs or our state sees everything in the end. No paths: as it was.
/// @pre the profile is managed
void hide(permission_profile& profile, policy::access_context& context,
          std::span<const std::string> paths);

/// Turns a profile into mounts and guards (§78, §79, §63, §D12, §D14). Pure: `facts` must be those
/// that gather_host_facts() made for the same profile and context. An entry that this backend
/// cannot express is an error that names it; the plan is never weaker than the profile (§69).
/// @pre the profile is managed and its file system restricted, see spell_out()
result<mount_plan> make_mount_plan(const permission_profile& profile,
                                   const policy::access_context& context, const host_facts& facts);

} // namespace gatehouse::sandbox
