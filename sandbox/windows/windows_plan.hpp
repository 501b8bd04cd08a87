#pragma once

#include "policy/access.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/sandbox_choice.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// One path as a Windows host sees it. Gathered before planning.
struct windows_object {
  bool exists = false;
  bool is_folder = false;
  std::string canonical; ///< native, long names, reparse points followed; existing objects only
};

/// A folder that groups which every account belongs to (Everyone, Users) may use beyond reading its
/// name: what such a group may do, no plan of ours takes away.
struct shared_folder {
  std::string path; ///< native, canonical
  bool readable = false;
  bool writable = false;
};

struct windows_facts {
  std::map<std::string, windows_object> objects; ///< by native path as written in the profile
  std::vector<shared_folder> shared;
  std::vector<std::string> drives;         ///< "C:\\"
  std::vector<std::string> system_folders; ///< what `:minimal` means: C:\Windows, …
  bool accounts_ready = false;             ///< the set-up has made the two accounts
  std::string random_name;                 ///< 128 bits in hex, for names of this attempt
};

/// For whom an entry or a filter is meant; made a number at the execution edge.
struct windows_identity {
  enum class kind_t : std::uint8_t {
    user,
    logon, ///< the session of the user
    everyone,
    capability, ///< made for one writable root, or for reading only (`root` empty)
    offline_account,
    online_account,
  };
  kind_t kind = kind_t::user;
  std::string root; ///< capability: policy form of its root

  bool operator==(const windows_identity&) const = default;
};

enum class acl_kind : std::uint8_t { deny_all, deny_write, allow_write, allow_read };

/// One entry put on an object and inherited by everything below it.
struct acl_entry {
  acl_kind kind = acl_kind::allow_read;
  windows_identity who;
  std::string lexical;   ///< as the profile names it
  std::string canonical; ///< the object that gets the entry
  bool make_folder_first = false;

  bool operator==(const acl_entry&) const = default;
};

struct windows_token {
  bool write_restricted = false;  ///< only writing is checked against `restricting` as well
  bool privileges_dropped = true; ///< all but the right to pass through folders
  windows_identity account;
  std::vector<windows_identity> restricting; ///< in this order

  bool operator==(const windows_token&) const = default;
};

/// A rule of the Windows Filtering Platform for everything that an account sends or receives.
struct wfp_filter {
  enum class layer_t : std::uint8_t { connect, accept, bind };
  layer_t layer = layer_t::connect;
  windows_identity who;
  bool permit = false;
  std::uint16_t loopback_port = 0; ///< permit: only this port of the loopback; else everything
  std::uint8_t weight = 0;         ///< the heaviest that matches decides

  bool operator==(const wfp_filter&) const = default;
};

struct job_limits {
  bool kill_on_close = true;
  bool breakaway_refused = true;
  bool die_on_unhandled_exception = true;
  bool no_clipboard = true, no_global_atoms = true, no_foreign_handles = true;
  bool no_desktop_switch = true, no_logoff = true, no_system_parameters = true;

  bool operator==(const job_limits&) const = default;
};

/// Everything that one attempt on Windows would need, as a value (§85–§91). Never carried out by
/// this project; see docs/platforms.md.
struct windows_plan {
  windows_token token;
  /// Applied in this order (what refuses comes first); taken back in the opposite one, whatever
  /// step failed, with the folders that were made for it when they are still empty.
  std::vector<acl_entry> entries;
  std::vector<wfp_filter> filters;
  job_limits job;
  std::string desktop; ///< a private one
  bool pseudo_console = false;

  bool operator==(const windows_plan&) const = default;
};

/// What to take back after `applied` entries, and in which order.
std::vector<acl_entry> rollback_of(const windows_plan& plan, std::size_t applied);

struct windows_request {
  sandbox_backend backend = sandbox_backend::windows; ///< or windows_elevated
  network_mode network = network_mode::isolated;
  std::vector<std::uint16_t> proxy_ports; ///< proxy_only
  bool tty = false;
};

/// The same profile and context with every path in policy form (windows_path.hpp), so that
/// policy/access answers for Windows as well. Errors: a path that is none of Windows.
struct policy_view {
  permission_profile profile;
  policy::access_context context;
};
result<policy_view> view_for_policy(const permission_profile& profile,
                                    const policy::access_context& context,
                                    const windows_facts& facts);

/// Turns a profile into a plan, or refuses to run unsandboxed and names what is missing. `context`
/// has native paths. Pure.
/// @pre the profile is managed
result<windows_plan> make_windows_plan(const permission_profile& profile,
                                       const policy::access_context& context,
                                       const windows_facts& facts, const windows_request& request);

} // namespace gatehouse::sandbox
