#pragma once

#include "config/locations.hpp"
#include "config/settings.hpp"
#include "protocol/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace gatehouse::config {

/// A machine that calls may run on beside this one (§7): `[environments.<name>]`.
struct named_environment {
  std::string name;
  std::string exec_server; ///< the address as written
  std::string cwd;         ///< the folder to work in where none is named: absolute, of that machine
  std::string token_file;  ///< absolute path here; empty: its server wants no token
  origin from;
};

struct named_environments {
  std::map<std::string, named_environment, std::less<>> by_name;
  std::vector<std::string> warnings; ///< "file:line:col: …": unknown keys
};

/// Those of the system's and the user's config.toml, the user's in the place of the system's of the
/// same name. Nothing else may name one (§7, §43): where commands run is no project's choice.
/// Errors name file, line and value.
result<named_environments> load_environments(const locations& where);

} // namespace gatehouse::config
