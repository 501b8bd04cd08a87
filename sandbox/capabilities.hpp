#pragma once

#include "policy/access.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/sandbox_choice.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// What a profile may ask of a backend (§92).
enum class capability : std::uint8_t {
  limited_write,      ///< everything readable, writing only below granted folders
  whole_disk_write,   ///< a boundary that limits the network alone
  restricted_read,    ///< what is not granted cannot be read
  denied_paths,       ///< a path that cannot even be read
  denied_globs,       ///< … a pattern of them, also for files that come later
  reopened_reads,     ///< a grant below a denied folder
  read_only_parts,    ///< a read-only part of a writable folder
  reopened_writes,    ///< a writable part of such a part
  protected_names,    ///< names below writable folders that must not come to be either
  device_grants,      ///< device nodes by path
  network_off,        ///< no network, and no socket of the host
  network_proxy_only, ///< only the ports of the managed proxy
  network_on,
  unix_socket_grants, ///< sockets of the host by path; no profile can say it yet
};
inline constexpr std::size_t capability_count = 14;

/// The columns, in this order.
inline constexpr std::array backends{sandbox_backend::linux_bubblewrap, sandbox_backend::landlock,
                                     sandbox_backend::seatbelt, sandbox_backend::windows,
                                     sandbox_backend::windows_elevated};

struct capability_cell {
  bool expressed = false;
  std::string_view note; ///< by what, or why not
};

/// One row of the table that selection, refusals and docs/platforms.md read.
struct capability_row {
  capability what;
  std::string_view name; ///< as refusals and the documentation say it
  std::array<capability_cell, backends.size()> cells;
};
std::span<const capability_row> capability_table() noexcept;

/// @pre backend is not none
const capability_cell& find_cell(sandbox_backend backend, capability what) noexcept;

/// The table as it stands in docs/platforms.md.
std::string capability_table_text();

/// One thing that a profile asks for.
struct capability_need {
  capability what;
  std::string because; ///< "`/srv/x` deny", "no entry grants `:root`"

  bool operator==(const capability_need&) const = default;
};

/// What `profile` asks for in its context; each capability once, the first reason. Pure. Empty for
/// profiles that nobody here enforces.
std::vector<capability_need> needs_of(const permission_profile& profile,
                                      const policy::access_context& context, network_mode network);

/// Success when `backend` expresses every need; else an error that names each missing capability
/// and the entry that asks for it. Nothing may run then (§68, §91).
result<void> check_expressible(sandbox_backend backend, std::span<const capability_need> needs);

} // namespace gatehouse::sandbox
