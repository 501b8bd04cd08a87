#pragma once

#include "protocol/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace gatehouse {

enum class path_convention : std::uint8_t { posix, windows };

/// A path on some machine, with that machine's convention (§8): `file:///srv/repo`,
/// `file:///C:/repo`. Never re-read as a path of this machine: `native_path` refuses a foreign one.
struct path_uri {
  path_convention convention = path_convention::posix;
  std::string path; ///< absolute: "/srv/repo", "C:/repo"; as written, not normalised

  bool operator==(const path_uri&) const = default;
};

/// Errors: `invalid_request` no file URI, another machine's, a bad escape, a NUL, a query or
/// fragment, no absolute path.
result<path_uri> parse_path_uri(std::string_view text);

/// A path as people and programs write it, of either convention: `/srv/repo`, `C:\repo`, `C:/repo`,
/// or a URI. invalid_request: it is relative, or a URI that cannot be read.
result<path_uri> read_path(std::string_view text);
/// Is it written as a URI or with a drive? Then it is no relative path of this machine.
bool names_its_convention(std::string_view text) noexcept;

/// The path from `/` on, which is how a session holds the paths of its machine: "/srv/repo",
/// "/C:/repo".
std::string rooted_path(const path_uri& uri);
/// The other way. A path without a drive is one of posix whatever `convention` says.
path_uri from_rooted_path(path_convention convention, std::string_view path);

/// Everything but letters, digits and `-._~/` escaped; the colon of a drive stays.
std::string to_string(const path_uri& uri);
/// Of an absolute path of this machine.
std::string file_uri(std::string_view path);

/// The path of this machine. Error: `invalid_request` it follows another convention.
result<std::string> native_path(const path_uri& uri);

} // namespace gatehouse
