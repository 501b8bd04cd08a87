#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse::policy::shell {

/// Whose grammar a script is written in. Ours is bash's with the POSIX differences; zsh shares most
/// of it, fish, csh and the like only simple commands.
enum class shell_grammar : std::uint8_t { posix, zsh, foreign };

/// Of a shell by its base name; posix for every other name.
shell_grammar grammar_of(std::string_view name) noexcept;

/// Why a script may run what our reading of it does not show; empty when every shell of that
/// grammar reads it as we do.
/// @param plain the script is a list of plain commands (`plain_commands`)
/// @param error the syntax error of our own reading; empty: none
std::string unread_grammar(shell_grammar grammar, std::string_view script, bool plain,
                           std::string_view error);

} // namespace gatehouse::policy::shell
