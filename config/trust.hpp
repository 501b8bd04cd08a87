#pragma once

#include "config/locations.hpp"
#include "protocol/result.hpp"

#include <string>
#include <vector>

namespace gatehouse::config {

/// The project that a folder belongs to.
struct project {
  std::string root;        ///< real path; the nearest folder up with `.git` or `.gatehouse`, or cwd
  std::string folder;      ///< `<root>/.gatehouse`
  bool has_folder = false; ///< whether `folder` exists
  bool trusted = false;    ///< `root` is listed in trust.toml
  std::vector<std::string> warnings; ///< of trust.toml
};

/// Finds the project of `cwd` and whether the user trusts it. Nothing below `.gatehouse` is opened.
/// The user's own `gatehouse_home` does not make the home folder a project.
/// trust.toml holds `trusted = ["/absolute/root", …]`; a root counts by its real path, and only
/// itself, not the folders below it.
result<project> find_project(const locations& where, const std::string& cwd);

} // namespace gatehouse::config
