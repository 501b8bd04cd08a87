#pragma once

#include "protocol/permission_profile.hpp"
#include "protocol/result.hpp"
#include "protocol/tool_call.hpp"

#include <string>
#include <string_view>

namespace gatehouse {

/// A permission profile from JSON: `{"type":"managed","file_system":…,"network":…}`,
/// `{"type":"disabled"}`, `{"type":"external","network":…}`, or the older form without `type`
/// (`{"network"?:{"enabled"?},"file_system"?}`, always managed and restricted).
/// Whatever is not understood (field, word, kind, relative path) is errc::invalid_profile with the
/// JSON pointer, or the byte offset where the text is no JSON; nothing is guessed.
/// A path of another platform (`C:\repo`) is kept as it is (§8).
result<permission_profile> decode_profile(std::string_view json);

/// The canonical form: one line, optional fields left out when empty.
std::string encode_profile(const permission_profile& profile);

/// An overlay (§12): `{"network"?:{"enabled"?:bool},"file_system"?:FS}` where FS is
/// `{"entries":[…],"glob_scan_max_depth"?}` or (and `"presets"?:["git"]`, see git_preset_entries())
/// `{"read"?:[…],"write"?:[…]}` (reads first). Errors as above.
result<additional_permissions> decode_additional_permissions(std::string_view json);

/// The read/write form where it can say everything, else the one with entries.
std::string encode_additional_permissions(const additional_permissions& overlay);

} // namespace gatehouse
