#pragma once

#include "policy/shell/script.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gatehouse::policy::shell {

/// A word for arguments that come from elsewhere (the input of xargs): none, one or several.
word unknown_words();

/// Marks `placeholder` inside `w` as a part that is only known when it runs.
void put_unknown(word& w, std::string_view placeholder);

/// The same for each place that parallel or rush fills: `{}`, `{.}`, `{2}`, and `replaced`; false
/// when there is none.
bool put_unknown_places(word& w, std::string_view replaced);

/// The value of option `all[i]` when it is one of `shorts` (letters; the value is attached or the
/// next word) or `longs` (words with a blank between them, with one dash or two, or abbreviated);
/// `i` moves on to the word that held it. Generous: what follows an unknown letter may be one.
std::optional<word> option_value(std::span<const word> all, std::size_t& i, std::string_view shorts,
                                 std::string_view longs);

/// The commands that `text`, a makefile, certainly names: recipes and `$(shell …)`.
std::string makefile_commands(std::string_view text);

/// True when a setting of cmake (a cache entry or a variable) names a program that it starts.
bool names_cmake_program(std::string_view setting) noexcept;

/// True for the names of standard input among the files.
bool is_input_path(std::string_view path) noexcept;

/// True for a shell that reads `[[`, `((`, `$'…'` and `&>` as bash does.
bool is_like_bash(std::string_view name) noexcept;

/// True for the base name of a shell.
bool is_shell_name(std::string_view name) noexcept;

} // namespace gatehouse::policy::shell
