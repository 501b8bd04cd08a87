#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::policy {

/// The words of a command.
using words = std::span<const std::string>;

/// The file name of a program word: what the lists go by. `/bin/rm` and `rm` are both `rm`; case
/// counts.
std::string_view program_name(std::string_view word) noexcept;

/// True when `text` is one of `list`.
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) noexcept;

/// True when `list`, words with a blank between them, holds `word`.
bool lists_word(std::string_view list, std::string_view word) noexcept;

/// True when `arg` is the long option `--name`, any abbreviation of it that GNU-style parsers take
/// (at least one letter), or either of them with `=value`.
bool abbreviates(std::string_view arg, std::string_view name) noexcept;
bool any_abbreviates(words args, std::string_view name) noexcept;

/// True when `arg` is a cluster of short options (`-rf`) that contains `letter`.
bool has_short(std::string_view arg, char letter) noexcept;
bool any_has_short(words args, char letter) noexcept;

/// The arguments before the first `--`: those that may be options.
words before_double_dash(words args) noexcept;

/// Words that are no options: everything after `--`, before it those that do not start with `-`.
std::vector<std::string_view> operands(words args);

/// True for the device files of whole disks, partitions and memory: writing there bypasses every
/// file system.
bool is_raw_device(std::string_view path);

/// True when `path` names so much that removing or changing all below it is never routine: `/`, a
/// folder directly below it, a home folder, `.`, `..`, `*`, and the same with `/`, `/.` or `/*`
/// at the end.
bool is_broad_path(std::string_view path);

} // namespace gatehouse::policy
