#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// An absolute path of Windows as a value: which file it means, whatever its spelling. Nothing here
/// asks a file system. What Windows reads in more than one way, or as no file at all, is refused.
struct windows_path {
  enum class root_kind : std::uint8_t { drive, share };
  root_kind kind = root_kind::drive;
  std::string root;               ///< "C:" or "\\server\share"
  std::vector<std::string> names; ///< below the root; none is empty, `.` or `..`
  bool has_short_name = false;    ///< a name like `PROGRA~1`, which may mean another one

  /// "C:\Users\me", "\\server\share\a".
  [[nodiscard]] std::string native() const;
  /// For policy/access, which knows one kind of path: "/c:/users/me", "/unc:/server/share/a". ASCII
  /// letters in lower case, because names that differ in case only are one name.
  [[nodiscard]] std::string policy_form() const;

  bool operator==(const windows_path&) const = default;
};

/// Reads a drive path, a share, or either behind `\\?\`; `/` separates like `\` where Windows has
/// it so. Errors (errc::invalid_profile, with the reason): a relative path, also one of a drive
/// (`C:a`) or without one (`\a`); a device (`\\.\`, reserved names such as NUL, CON.txt and COM1);
/// a stream (`file:stream`); a character that no name may have; and behind `\\?\` a name with a
/// trailing dot or space, which the same text without the prefix does not mean.
result<windows_path> parse_windows_path(std::string_view text);

/// True for CON, PRN, AUX, NUL, CONIN$, CONOUT$, COM0–9 and LPT0–9 (also with ¹ ² ³), whatever
/// their case and ending.
bool is_reserved_windows_name(std::string_view name);

} // namespace gatehouse::sandbox
