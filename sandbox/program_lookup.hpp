#pragma once

#include "policy/access.hpp"
#include "policy/rules/program_facts.hpp"
#include "protocol/permission_profile.hpp"
#include "sandbox/path_names.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gatehouse::sandbox {

/// Where a command would find its programs (§D3). All paths absolute, except entries of `path`.
struct program_search {
  std::string cwd;                         ///< of the command
  std::string home;                        ///< meaning of `~`; empty: unknown
  std::string path;                        ///< $PATH of the command, as it will see it
  std::vector<std::string> writable_roots; ///< see writable_roots_of()
  /// Where other names of a program are looked up; copies share what it has read. Null: nobody
  /// asks for them, for no rule is restrictive.
  std::shared_ptr<path_names> names = std::make_shared<path_names>();
};

/// Looks every word up as the shell would, in the order of PATH, and follows every link on the way
/// (stat, readlink; nothing is run). A bare word that a relative or empty entry of PATH finds first
/// is not on the trusted PATH, since the working folder must not decide which program is trusted.
policy::program_facts look_up_programs(std::span<const std::string> words,
                                       const program_search& search);

/// What commands of this profile can change: its write entries, symbolic paths resolved. Where we
/// do not enforce (disabled, external) these are the project roots and the temporary folders, for a
/// program found there is the agent's own all the same.
std::vector<std::string> writable_roots_of(const permission_profile& profile,
                                           const policy::access_context& context);

} // namespace gatehouse::sandbox
