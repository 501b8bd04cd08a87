#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gatehouse::policy {

/// The patch that a command is (§11).
struct patch_words {
  std::string text;
  std::string folder; ///< of `cd FOLDER && …`, as written; empty: none
};

/// What a command has to do with apply_patch, which no program on this host is.
struct patch_reading {
  std::optional<patch_words> patch; ///< the command is exactly one patch
  std::string refusal; ///< it names apply_patch in a form that is not understood, or is a bare
                       ///< patch: what is wrong and how it is written. Nothing may run.
};

/// True for the names under which agents know the tool.
bool is_patch_tool(std::string_view program) noexcept;

/// Reads `argv`. A patch is: `apply_patch TEXT` (also `applypatch`, `apply-patch`) as an argv, or a
/// script of `bash|sh|zsh -c|-lc` that is nothing but `[NAME=value…] [cd FOLDER &&] apply_patch`
/// with either one quoted word or a here-document. A here-document is taken literally, also where
/// the shell would expand it. The bare name is an ordinary command, that no host knows.
patch_reading read_patch_command(std::span<const std::string> argv);

} // namespace gatehouse::policy
