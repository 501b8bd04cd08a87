#pragma once

#include <cstdint>

namespace gatehouse::sandbox {

/// One step of building the view; the steps are carried out in order (§78). The inner stage reads
/// the numbers (sandbox/init_protocol.hpp).
enum class mount_kind : std::uint8_t {
  read_only_bind, ///< `source` of the host, read-only at `target`
  writable_bind,  ///< `source` of the host, writable at `target`
  device_bind,    ///< as writable_bind, device nodes usable
  devices,        ///< a private /dev at `target`; `source`: what is mounted there goes
  processes,      ///< a fresh /proc at `target`
  empty_folder,   ///< an empty private folder with mode `perms`; closed later by `seal`
  folder,         ///< a folder with mode `perms` inside an empty_folder
  link,           ///< a symbolic link at `target` with the text `source`, inside an empty_folder
  denied_file,    ///< an empty file of mode 000 over the file `target`: reads as EACCES
  seal,           ///< makes what is mounted at `target` read-only
};

} // namespace gatehouse::sandbox
