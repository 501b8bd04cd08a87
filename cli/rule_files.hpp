#pragma once

#include "policy/rules/rule_file.hpp"
#include "protocol/error.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gatehouse::cli {

/// Reads rule files as one layer, in order; what is wrong stands in each file's problems.
std::vector<policy::rule_file> read_rule_files(const std::vector<std::string>& paths);

/// Every problem, a line each; nothing when there is none.
std::optional<error> faults_of(const std::vector<policy::rule_file>& files);

/// Prints every problem to standard error; false when there was none.
bool complain_about(const std::vector<policy::rule_file>& files);

/// The process's working folder; "/" when it cannot be read.
std::string current_folder();

} // namespace gatehouse::cli
