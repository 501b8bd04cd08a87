#pragma once

#include "protocol/approval_policy.hpp"
#include "protocol/permission_profile.hpp"
#include "protocol/tool_call.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gatehouse {

/// A script that is more than one plain command: remembered by its exact text.
struct shell_script {
  std::string shell; ///< base name
  std::string flag;  ///< "-c" or "-lc"
  std::string text;

  bool operator==(const shell_script&) const = default;
};

/// A command as approvals know it (§55): the words of one plain command, or a script.
using canonical_command = std::variant<std::vector<std::string>, shell_script>;

/// What a session approval of a command covers: exactly this and nothing else (§53, §54).
struct command_key {
  std::string environment_id;
  canonical_command command;
  std::string cwd;
  std::string folder; ///< what really stands at `cwd`; empty: on another machine
  bool login = false; ///< start-up files are read
  gatehouse::sandbox_permissions sandbox_permissions = gatehouse::sandbox_permissions::use_default;
  std::optional<gatehouse::additional_permissions> additional_permissions; ///< normalised
  std::optional<bool> tty;      ///< set for terminal sessions only (§54)
  bool without_sandbox = false; ///< the question said that it leaves the sandbox (§D5)
  std::string policy;           ///< a policy_stamp
};

/// What a session approval of a patch covers: one file each (§56).
struct patch_file_key {
  std::string environment_id;
  std::string path; ///< absolute, normal
  bool without_sandbox = false;
  std::string policy; ///< a policy_stamp
};

/// The exact serialised key (§52): equal texts mean equal actions. Nothing when a part is no UTF-8:
/// such an action is never remembered.
std::optional<std::string> encode_approval_key(const command_key& key);
std::optional<std::string> encode_approval_key(const patch_file_key& key);

/// What an approval was given under. A key made under another policy never matches, so that a
/// change of rules, profile or approval policy asks again.
/// @param rules_generation grows with every change of the rules other than an approved amendment
std::string policy_stamp(const permission_profile& profile, const approval_policy& approval,
                         std::uint64_t rules_generation);

} // namespace gatehouse
