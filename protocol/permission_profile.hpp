#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gatehouse {

/// What may be done with a path. Ordered: on the same path the greater one wins (§62).
enum class access : std::uint8_t { read = 0, write = 1, deny = 2 };

/// "read", "write" or "deny".
std::string_view to_string(access a) noexcept;

/// Paths that mean something only on the host and for the call at hand (§61).
enum class special_kind : std::uint8_t {
  root,          ///< `:root`, the whole file system
  minimal,       ///< `:minimal`, what a program needs to start (system libraries, /etc, …)
  project_roots, ///< `:project_roots` (also `:workspace_roots`), each root of the workspace
  tmpdir,        ///< `:tmpdir`, the value of $TMPDIR when absolute
  slash_tmp,     ///< `:slash_tmp`, /tmp when it is a directory
  unknown,       ///< any other `:name`; matches nothing, kept for output
};

struct literal_path {
  std::string path; ///< absolute
  bool operator==(const literal_path&) const = default;
};
struct glob_path {
  std::string pattern; ///< `*` and `?` do not cross `/`, `**` does; may only deny (§14)
  bool operator==(const glob_path&) const = default;
};
struct special_path {
  special_kind kind = special_kind::unknown;
  std::string subpath; ///< relative; only with project_roots and unknown
  std::string name;    ///< ":name", only with unknown
  bool operator==(const special_path&) const = default;
};
using profile_path = std::variant<literal_path, glob_path, special_path>;

/// One line of a profile. `skip_missing` mirrors `missing_path_behavior: "skip"`.
struct profile_entry {
  profile_path path;
  gatehouse::access access = gatehouse::access::read;
  bool skip_missing = false;

  bool operator==(const profile_entry&) const = default;
};

/// File-system authority (§2a). Unrestricted ignores `entries`; restricted grants only them.
struct file_system_policy {
  bool restricted = true;
  std::vector<profile_entry> entries;
  std::optional<std::uint32_t> glob_scan_max_depth; ///< folder levels, at least 1

  bool operator==(const file_system_policy&) const = default;
};

/// Network authority (§2a, §66).
enum class network_policy : std::uint8_t { restricted, enabled };

/// Who enforces (§60): we (`managed`), nobody (`disabled`), or a sandbox around us (`external`).
enum class profile_kind : std::uint8_t { managed, disabled, external };

/// What a process may touch. Says nothing about whether a command may run (§2).
struct permission_profile {
  profile_kind kind = profile_kind::managed;
  file_system_policy file_system{};                    ///< managed only
  network_policy network = network_policy::restricted; ///< managed and external

  bool operator==(const permission_profile&) const = default;
};

/// `:root` readable, nothing writable, no network.
permission_profile read_only_profile();
/// read_only plus `:project_roots`, `:tmpdir` and `:slash_tmp` writable. Which names below a
/// writable root stay protected (§63, §D14) is decided by policy/access, not by entries here.
permission_profile workspace_write_profile();
/// Disabled: an exit for disposable machines (§130a).
permission_profile danger_full_access_profile();

/// What the preset `git` adds to a profile: the git folder of every project root is writable, but
/// not what makes git execute or obey something (configuration, hooks, attributes, pointers to
/// other folders, submodules, half-done rebases). A project root whose `.git` is a file gets
/// nothing by it: see git_preset_entries_at().
std::vector<profile_entry> git_preset_entries();
/// The same for the git folder at an absolute path.
std::vector<profile_entry> git_preset_entries_at(const std::string& git_folder);

/// The built-in profile called `name` ("read-only", ":read-only", "workspace-write", ":workspace",
/// "danger-full-access", ":danger-full-access"), or nothing.
std::optional<permission_profile> built_in_profile(std::string_view name);

/// True when the profile has any deny entry: such a command never runs unsandboxed (§58).
bool has_denied_reads(const permission_profile& profile) noexcept;

/// "`:project_roots`", "`/srv/x`", "`**/*.env`": how an entry's path is shown to people.
std::string describe(const profile_path& path);

} // namespace gatehouse
