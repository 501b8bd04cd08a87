#pragma once

#include "policy/shell/script.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy::shell {

/// `pwsh` or `powershell`, with or without `.exe` and folders of either convention.
bool is_powershell_name(std::string_view program);

/// The script among the words of a PowerShell command (§20).
struct powershell_call {
  bool has_script = false;
  word script{};
  bool exact = false; ///< only -NoLogo, -NoProfile, -Command SCRIPT: nothing else was given
  std::string why;    ///< why it is not exact
};
powershell_call find_powershell_script(std::span<const word> words);

struct powershell_reading {
  std::vector<std::vector<word>> commands;
  /// Every command is words that PowerShell takes as they are; then `commands` is the whole script.
  bool plain = true;
  std::string why; ///< why not
};

/// Lowers a PowerShell script into commands. What is not understood clears `plain`; commands inside
/// blocks, parentheses and `iex` of a static string are still found.
powershell_reading read_powershell(std::string_view script);

} // namespace gatehouse::policy::shell
