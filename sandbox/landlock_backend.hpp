#pragma once

#include "protocol/result.hpp"
#include "sandbox/plan.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gatehouse::sandbox {

/// The legacy backend (§83): no namespace, no mount; everything can be read, writing is limited.
/// Landlock cannot take a part out of what it grants, so that a writable folder with a read-only
/// part is granted by its other children, and what such a grant leaves out (new names beside the
/// part) is performed by the supervisor, who sees every opening for writing. Only ever used when
/// asked for.
struct landlock_plan {
  /// For the kernel: files may be changed at or below these. Never more than the profile grants.
  std::vector<std::string> grants;
  /// For the supervisor: writable, read-only, and what may not come to be or move.
  std::vector<std::string> write_paths;
  std::vector<std::string> read_only_paths;
  std::vector<creation_guard> guards;
  std::vector<std::string> warnings;

  bool operator==(const landlock_plan&) const = default;
};

/// The children of a folder, as absolute paths, symbolic links left out.
using list_children = std::function<std::vector<std::string>(const std::string& folder)>;

/// Lists a folder of this host; one that cannot be read has no children.
std::vector<std::string> children_on_host(const std::string& folder);

/// The same view as `view`, without mounts. A step that Landlock cannot stand for (a denial, an
/// empty root, a device) is an error that names it.
result<landlock_plan> make_landlock_plan(const mount_plan& view, const list_children& children);

} // namespace gatehouse::sandbox
