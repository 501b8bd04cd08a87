#pragma once

#include "sandbox/init_protocol.hpp"

namespace gatehouse::sandbox {

/// The specification, mapped: pointers into it live as long as the process.
struct init_spec {
  const init::spec_header* head = nullptr;
  char** arguments = nullptr;
  char** environment = nullptr;
  char** write_paths = nullptr;
  char** step_paths = nullptr; ///< target, source, target, …
  char** folder = nullptr;     ///< with complete_view: the working folder

  bool has(init::spec_flag flag) const { return (head->flags & flag) != 0; }
  /// Process 1 of a namespace of ours, which ends with us.
  bool in_namespace() const { return has(init::confine) && !has(init::on_host); }
};

/// Maps the specification in `fd`. Without a C library.
/// @return 0 or a negative errno; EPROTO: it is not one of this version
long read_spec(int fd, init_spec& s);

} // namespace gatehouse::sandbox
