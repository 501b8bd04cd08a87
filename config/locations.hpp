#pragma once

#include <string>

namespace gatehouse::config {

/// Where configuration and state live. Values, so that tests can put them anywhere.
struct locations {
  std::string user_home; ///< $HOME; unset: of the user database, else "/"
  std::string
      gatehouse_home; ///< $GATEHOUSE_HOME, default ~/.gatehouse: config.toml, rules/, trust.toml
  std::string system; ///< /etc/gatehouse: config.toml, rules/, requirements.toml
  std::string state;  ///< $XDG_STATE_HOME/gatehouse: audit, tokens, sockets, locks
};

/// From the process environment; a variable that is empty or not absolute counts as unset.
locations locations_from_environment();

} // namespace gatehouse::config
